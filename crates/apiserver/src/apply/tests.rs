//! Whatever is sent, there is an answer: no input makes a write panic.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::apply::typed::tests::typing;

/// JSON in which the words that mean something to a patch or to ownership are common.
fn anything() -> impl Strategy<Value = Value> {
    let words = [
        "metadata",
        "spec",
        "managedFields",
        "annotations",
        "uid",
        "name",
        "set",
        "items",
        "map",
        "rgb",
        "any",
        "op",
        "path",
        "from",
        "value",
        "$patch",
        "$retainKeys",
        "$setElementOrder/items",
        "$deleteFromPrimitiveList/set",
        "operation",
        "apiVersion",
        "fieldsType",
        "fieldsV1",
        "f:spec",
        "k:{\"name\":1}",
        "v:1",
        "i:x",
        "kubectl.kubernetes.io/last-applied-configuration",
    ];
    let word = move || proptest::sample::select(words.to_vec()).prop_map(String::from);
    let texts = [
        "delete",
        "replace",
        "merge",
        "add",
        "move",
        "copy",
        "test",
        "/spec/items/-1",
        "/spec/set/-",
        "Apply",
        "v1",
        "FieldsV1",
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<i8>().prop_map(|number| json!(number)),
        Just(json!(1e300)),
        proptest::sample::select(texts.to_vec()).prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(5, 48, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map(word(), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn object(metadata: &Value, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "spec": spec})
}

proptest! {
    #[test]
    fn patches_are_applied_or_refused(document in anything(), patch in anything()) {
        let keys: MergeKeys = [
            ("spec.items", FieldMerge::new("merge", Some("name"))),
            ("spec.set", FieldMerge::new("merge", None)),
        ].into_iter().collect();
        for document in [document.clone(), object(&json!({}), &document)] {
            let _ = json_patch(&document, &patch);
            let _ = json_patch(&document, &json!([patch.clone()]));
            let _ = merge_patch(&document, &patch);
            let _ = strategic_merge_patch(&document, &patch, &keys);
            let _ = strategic_merge_patch(&document, &object(&json!({}), &patch), &keys);
        }
    }

    #[test]
    fn writes_are_tracked_or_refused(old in (anything(), anything()), new in (anything(), anything()), force: bool) {
        let typings = Typings::from([("v1".to_owned(), typing())]);
        let write = Write {
            typings: &typings,
            api_version: "v1",
            kind: "Thing",
            subresource: "",
            manager: "kubectl",
            reset: &reset_by_main(true),
            empty: &json!({}),
            now: Timestamp::UNIX_EPOCH,
        };
        let plain = old.1.clone();
        let (old, new) = (object(&old.0, &old.1), object(&new.0, &new.1));
        for live in [&old, &plain] {
            for new in [&new, &plain] {
                let _ = apply(Some(live), new, force, &write);
                let mut tracked = track_update(Some(live), new.clone(), &write);
                keep_times_of_equal(live, &mut tracked);
                prop_assert!(validate_managed_fields(&tracked).is_ok());
                let _ = scale_owners(live, &ReplicasPaths::new());
                let _ = owners_after_scale(live, new, "v1", &ReplicasPaths::new());
            }
        }
        let _ = Typing::of_custom_resource(&old);
        let _ = Typing::of_custom_resource(&plain);
    }
}
