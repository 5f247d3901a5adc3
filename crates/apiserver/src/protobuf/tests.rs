//! Objects from hand-made bytes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

fn int(field: u64, value: i64) -> Vec<u8> {
    [number(field << 3), number(value.cast_unsigned())].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [number(field << 3 | 2), number(content.len() as u64), content.to_vec()].concat()
}

fn group(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

fn object(api_version: &str, kind: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let of = group(1, &[bytes(1, api_version.as_bytes()), bytes(2, kind.as_bytes())]);
    [PREFIX.to_vec(), of, group(2, parts), bytes(3, b""), bytes(4, b"")].concat()
}

/// What is inside of an object of this kind.
fn read(api_version: &str, kind: &str, parts: &[Vec<u8>]) -> Result<Value, String> {
    let mut object = decode(&object(api_version, kind, parts)).map_err(|error| error.to_string())?;
    let fields = object.as_object_mut().unwrap();
    assert_eq!(fields.remove("apiVersion"), Some(api_version.into()));
    assert_eq!(fields.remove("kind"), Some(kind.into()));
    Ok(object)
}

#[test]
fn texts_maps_and_bytes() {
    let parts = [
        group(1, &[bytes(1, b"one"), bytes(2, b"")]),
        group(2, &[bytes(1, b"a"), bytes(2, b"b")]),
        group(2, &[bytes(1, b"c"), bytes(2, "ü".as_bytes())]),
        group(3, &[bytes(1, b"x"), bytes(2, b"\x00\xff")]),
        int(4, 1),
        int(99, 7),
    ];
    let wanted = json!({
        "metadata": {"name": "one", "generateName": ""}, "data": {"a": "b", "c": "ü"}, "binaryData": {"x": "AP8="},
        "immutable": true,
    });
    assert_eq!(read("v1", "ConfigMap", &parts).unwrap(), wanted);
}

#[test]
fn numbers_alone_and_side_by_side() {
    let context = |groups: &[Vec<u8>]| read("v1", "Pod", &[group(2, &[group(14, groups)])]).unwrap();
    let wanted = json!({"spec": {"securityContext": {"runAsUser": -1, "supplementalGroups": [1, 300, -2]}}});
    assert_eq!(context(&[int(2, -1), int(4, 1), int(4, 300), int(4, -2)]), wanted);
    let packed = [number(300), number((-2_i64).cast_unsigned())].concat();
    assert_eq!(context(&[int(2, -1), int(4, 1), bytes(4, &packed)]), wanted);
}

#[test]
fn structs_that_json_embeds() {
    let host = group(2, &[group(1, &[bytes(1, b"/a")])]);
    let volume = group(1, &[bytes(1, b"v"), host]);
    let wanted = json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/a"}}]}});
    assert_eq!(read("v1", "Pod", &[group(2, &[volume])]).unwrap(), wanted);
}

#[test]
fn times() {
    let spec = |field, parts: &[Vec<u8>]| {
        read("coordination.k8s.io/v1", "Lease", &[group(2, &[group(field, parts)])])
    };
    let time = spec(4, &[int(1, 1_704_067_200), int(2, 123_456_789)]).unwrap();
    assert_eq!(time, json!({"spec": {"renewTime": "2024-01-01T00:00:00.123456Z"}}));
    assert_eq!(spec(4, &[]).unwrap(), json!({"spec": {"renewTime": null}}));
    let refused = spec(4, &[int(1, i64::MAX)]).unwrap_err();
    assert_eq!(refused, "spec.renewTime: a time is out of range");
    assert!(spec(4, &[int(1, 1), int(2, -1)]).is_err());
    let created = group(1, &[group(8, &[int(1, 1_704_067_200), int(2, 5)])]);
    let wanted = json!({"metadata": {"creationTimestamp": "2024-01-01T00:00:00Z"}});
    assert_eq!(read("v1", "Secret", &[created]).unwrap(), wanted);
}

#[test]
fn quantities_and_what_is_number_or_text() {
    let claim = group(2, &[group(2, &[group(2, &[bytes(1, b"storage"), group(2, &[bytes(1, b"1Gi")])])])]);
    let wanted = json!({"spec": {"resources": {"requests": {"storage": "1Gi"}}}});
    assert_eq!(read("v1", "PersistentVolumeClaim", &[claim]).unwrap(), wanted);
    let budget = |parts: &[Vec<u8>]| {
        read("policy/v1", "PodDisruptionBudget", &[group(2, &[group(1, parts)])]).unwrap()["spec"]
            ["minAvailable"]
            .take()
    };
    assert_eq!(budget(&[int(1, 0), int(2, 3), bytes(3, b"")]), json!(3));
    assert_eq!(budget(&[int(1, 1), int(2, 0), bytes(3, b"50%")]), json!("50%"));
}

#[test]
fn lists_that_are_messages() {
    let extra = group(5, &[bytes(1, b"k"), group(2, &[bytes(1, b"a"), bytes(1, b"b")])]);
    let review =
        read("authorization.k8s.io/v1", "SubjectAccessReview", &[group(2, &[extra, bytes(3, b"u")])]);
    assert_eq!(review.unwrap(), json!({"spec": {"extra": {"k": ["a", "b"]}, "user": "u"}}));
}

#[test]
fn schemas_and_raw_json() {
    let text = || bytes(5, b"string");
    let schema = group(
        1,
        &[
            group(8, &[bytes(1, br#"{"a": 1.0}"#)]),
            [number(9 << 3 | 1), 2.5_f64.to_le_bytes().to_vec()].concat(),
            group(24, &[group(1, &[text()])]),
            group(29, &[bytes(1, b"p"), group(2, &[group(30, &[int(1, 1)])])]),
            group(29, &[bytes(1, b"q"), group(2, &[group(30, &[int(1, 0), group(2, &[text()])])])]),
        ],
    );
    let version = group(7, &[bytes(1, b"v1"), group(4, &[schema])]);
    let wanted = json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
        "default": {"a": 1.0}, "maximum": 2.5, "items": {"type": "string"}, "properties": {
            "p": {"additionalProperties": true}, "q": {"additionalProperties": {"type": "string"}}},
    }}}]}});
    let read = read("apiextensions.k8s.io/v1", "CustomResourceDefinition", &[group(2, &[version])]);
    assert_eq!(read.unwrap(), wanted);
}

#[test]
fn a_field_that_comes_twice_adds_to_what_is_there() {
    let parts = [group(1, &[bytes(1, b"one")]), group(1, &[bytes(3, b"space"), bytes(1, b"two")])];
    assert_eq!(
        read("v1", "Secret", &parts).unwrap(),
        json!({"metadata": {"name": "two", "namespace": "space"}})
    );
}

#[test]
fn options_of_deletions_are_in_every_group() {
    let options = [int(1, 0), group(2, &[bytes(1, b"u")]), bytes(4, b"Orphan"), bytes(5, b"All")];
    let wanted = json!({
        "gracePeriodSeconds": 0, "preconditions": {"uid": "u"}, "propagationPolicy": "Orphan", "dryRun": ["All"],
    });
    assert_eq!(read("apps/v1", "DeleteOptions", &options).unwrap(), wanted);
}

#[test]
fn what_does_not_say_what_it_is_is_what_is_expected() {
    let bare = [PREFIX.to_vec(), group(2, &[group(1, &[bytes(1, b"one")])])].concat();
    let wanted = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}});
    assert_eq!(decode_as(&bare, "v1", "Secret").unwrap(), wanted);
    assert!(matches!(decode(&bare), Err(Error::Object { fault: Fault::Kind { .. }, .. })));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let prefix =
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".to_owned();
    let said = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    assert_eq!(said(b"{}"), prefix);
    assert_eq!(said(b""), "empty data");
    assert_eq!(said(PREFIX), "empty body");
    assert_eq!(said(b"k8s\0\x0a\x20"), "unexpected EOF");
    let refused = |parts: &[Vec<u8>]| read("v1", "ConfigMap", parts).unwrap_err();
    assert_eq!(refused(&[int(1, 1)]), "metadata: proto: wrong wire type for a field of type v1.ObjectMeta");
    assert_eq!(refused(&[b"\x0a\x20a".to_vec()]), "unexpected EOF");
    assert_eq!(refused(&[group(1, &[bytes(1, b"\xff")])]), "metadata.name: proto: a text is not valid UTF-8");
    assert_eq!(read("v1", "Widget", &[]).unwrap_err(), "no kind \"Widget\" is registered for version \"v1\"");
    let revision = read("apps/v1", "ControllerRevision", &[group(2, &[bytes(1, b"{")])]);
    assert!(revision.unwrap_err().starts_with("data: a field that holds JSON cannot be read"));
}

#[test]
fn nothing_is_nested_too_deeply() {
    let nested = |levels: usize| {
        let schema = (0..levels).fold(bytes(5, b"object"), |inner, _| group(28, &[inner]));
        let version = group(7, &[group(4, &[group(1, &[schema])])]);
        read("apiextensions.k8s.io/v1", "CustomResourceDefinition", &[group(2, &[version])])
    };
    assert!(nested(20).is_ok());
    for levels in [1_000, 20_000] {
        assert!(nested(levels).unwrap_err().ends_with("the object is nested too deeply"));
    }
    let raw = [vec![b'['; 126], vec![b']'; 126]].concat();
    let revision = read("apps/v1", "ControllerRevision", &[group(2, &[bytes(1, &raw)])]);
    assert!(revision.is_ok());
    let raw = [vec![b'['; 127], vec![b']'; 127]].concat();
    let revision = read("apps/v1", "ControllerRevision", &[group(2, &[bytes(1, &raw)])]);
    assert_eq!(revision.unwrap_err(), "the object is nested too deeply");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
        let _ = decode(&[PREFIX.to_vec(), bytes.clone()].concat());
        for kind in ["Pod", "Service", "Node", "Event"] {
            let _ = decode(&object("v1", kind, std::slice::from_ref(&bytes)));
        }
        let _ = decode(&object("apiextensions.k8s.io/v1", "CustomResourceDefinition", &[bytes]));
    }

    #[test]
    fn no_change_of_a_byte_makes_it_panic(at in 0_usize..1000, byte in any::<u8>(), cut in 0_usize..1000) {
        let host = group(2, &[group(1, &[bytes(1, b"/a")])]);
        let time = group(1, &[bytes(1, b"n"), group(8, &[int(1, 5), int(2, 7)])]);
        let limits = group(8, &[group(1, &[bytes(1, b"cpu"), group(2, &[bytes(1, b"1")])])]);
        let container = group(2, &[bytes(1, b"c"), limits]);
        let mut pod = object("v1", "Pod", &[time, group(2, &[group(1, &[bytes(1, b"v"), host]), container])]);
        let at = at % pod.len();
        pod[at] = byte;
        let _ = decode(&pod);
        let _ = decode(&pod[..cut % pod.len()]);
    }
}
