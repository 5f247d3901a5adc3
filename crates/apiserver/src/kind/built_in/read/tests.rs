//! What comes of objects that are read.

use serde_json::{Value, json};

use super::read;

fn pod(spec: &Value) -> Result<(Value, Vec<String>), String> {
    let mut object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec});
    let unknown = read("io.k8s.api.core.v1.Pod", &mut object)?;
    Ok((object, unknown))
}

#[test]
fn unknown_fields_go_and_are_named() {
    let (object, unknown) =
        pod(&json!({"foo": 1, "containers": [{"name": "a", "bar": {}, "resources": {"limits": {"cpu": "1000m"}}}]})).unwrap();
    assert_eq!(unknown, ["spec.containers[0].bar", "spec.foo"]);
    let container = json!({"name": "a", "resources": {"limits": {"cpu": "1"}}});
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}, "status": {},
    });
    assert_eq!(object, expected);
}

#[test]
fn what_is_empty_goes_and_what_is_always_there_comes() {
    let (object, _) = pod(&json!({
        "containers": [], "volumes": null, "nodeName": "", "hostNetwork": false, "priority": 0, "securityContext": {},
        "automountServiceAccountToken": false, "nodeSelector": {},
    }))
    .unwrap();
    let expected = json!({
        "containers": null, "priority": 0, "securityContext": {}, "automountServiceAccountToken": false,
    });
    assert_eq!(object["spec"], expected);
}

#[test]
fn a_value_of_another_type_is_refused() {
    let error = |spec: Value| pod(&spec).unwrap_err();
    assert_eq!(
        error(json!({"containers": [{"name": 1}]})),
        "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string"
    );
    assert_eq!(
        error(json!({"containers": {}})),
        "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"
    );
    assert_eq!(
        error(json!({"priority": 1.5})),
        "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32"
    );
    assert_eq!(
        error(json!("x")),
        "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"
    );
    let mut text = json!("x");
    assert_eq!(
        read("io.k8s.api.core.v1.Pod", &mut text).unwrap_err(),
        "json: cannot unmarshal string into Go value of type v1.Pod"
    );
}

#[test]
fn times_are_in_utc() {
    let lease = |spec: Value| {
        let mut object =
            json!({"spec": spec, "metadata": {"creationTimestamp": "2024-01-01T01:00:00.5+01:00"}});
        read("io.k8s.api.coordination.v1.Lease", &mut object).map(|_| object)
    };
    let object = lease(json!({"renewTime": "2024-01-01T01:00:00.123456+01:00"})).unwrap();
    assert_eq!(object["spec"]["renewTime"], "2024-01-01T00:00:00.123456Z");
    assert_eq!(object["metadata"]["creationTimestamp"], "2024-01-01T00:00:00Z");
    assert_eq!(
        lease(json!({"renewTime": "2024-01-01T01:00:00Z"})).unwrap_err(),
        r#"parsing time "2024-01-01T01:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#
    );
}

#[test]
fn bytes_are_base64() {
    let secret = |data: Value| {
        let mut object = json!({"data": data});
        read("io.k8s.api.core.v1.Secret", &mut object).map(|_| object["data"].clone())
    };
    assert_eq!(
        secret(json!({"a": "YQ=\n=", "b": "", "c": null})),
        Ok(json!({"a": "YQ==", "b": "", "c": ""}))
    );
    assert_eq!(secret(json!({"a": "!"})).unwrap_err(), "illegal base64 data at input byte 0");
}

#[test]
fn an_event_shows_the_times_that_it_has_not() {
    let mut event = json!({"metadata": {"name": "a"}});
    read("io.k8s.api.core.v1.Event", &mut event).unwrap();
    let expected = json!({
        "metadata": {"name": "a"}, "involvedObject": {}, "source": {}, "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
        "reportingComponent": "", "reportingInstance": "",
    });
    assert_eq!(event, expected);
}

#[test]
fn schemas_inside_of_definitions_keep_their_shapes() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "items": {"type": "string", "foo": 1},
        "properties": {"a": {"default": {"b": null}, "enum": [null, 1], "nullable": false}},
    });
    let version =
        json!({"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": schema}});
    let mut object = json!({"spec": {"versions": [version]}});
    let definition = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition";
    assert_eq!(read(definition, &mut object), Ok(vec![]));
    let read = &object["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let expected = json!({
        "type": "object", "additionalProperties": false, "items": {"type": "string"},
        "properties": {"a": {"default": {"b": null}, "enum": [null, 1]}},
    });
    assert_eq!(read, &expected);
}
