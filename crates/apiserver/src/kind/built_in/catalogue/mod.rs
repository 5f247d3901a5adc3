//! Every built-in resource that is served: its names, and what can be done with it.

mod entry;
mod promised;
mod unpromised;

use std::sync::Arc;

use self::entry::Entry;
use crate::kind::{Particular, Plain, objects, workloads};
use crate::registry::Resource;

/// Every built-in resource, with its versions.
pub fn resources() -> Vec<Resource> {
    promised::ENTRIES
        .iter()
        .chain(unpromised::ENTRIES)
        .map(|entry| entry.resource(particular(entry)))
        .collect()
}

/// What is particular to a kind.
fn particular(entry: &Entry) -> &'static dyn Particular {
    let api_version = entry.api_version();
    objects::particular(&api_version, entry.kind)
        .or_else(|| workloads::particular(&api_version, entry.kind))
        .unwrap_or(&Plain)
}

/// Under which the objects of a resource are kept. Events are kept once, though two groups serve them.
fn id(group: &str, plural: &str) -> Arc<str> {
    match (group, plural) {
        ("events.k8s.io", "events") => Arc::from("/events"),
        _ => Arc::from(format!("{group}/{plural}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::kind::built_in::definitions;
    use crate::kind::built_in::types::struct_of;

    #[test]
    fn every_resource_has_a_type_and_a_definition() {
        let mut seen = BTreeSet::new();
        for entry in promised::ENTRIES.iter().chain(unpromised::ENTRIES) {
            let name = entry.definition();
            assert!(definitions().contains_key(&name), "{name}");
            assert!(definitions().contains_key(&format!("{name}List")), "{name}List");
            assert!(struct_of(&name).is_some(), "{name}");
            assert!(seen.insert((entry.group, entry.version, entry.plural)), "{name} twice");
            let has_status = struct_of(&name).is_some_and(|fields| fields.contains_key("status"));
            assert!(has_status || !entry.status, "{name}");
        }
    }

    #[test]
    fn an_object_can_be_shared() {
        let resources = resources();
        let pods = resources.iter().find(|resource| resource.plural == "pods").unwrap();
        let sharing = pods.kind.sharing();
        assert_eq!(sharing.empty, json!({"metadata": {}, "spec": {"containers": null}, "status": {}}));
        assert!(sharing.typings.contains_key("v1") && sharing.merge_keys.is_some());
        let events: Vec<_> = resources.iter().filter(|resource| resource.plural == "events").collect();
        assert_eq!(events.len(), 2);
        assert!(
            events.iter().all(|events| &*events.id == "/events" && events.kind.sharing().typings.len() == 2)
        );
    }

    #[test]
    fn metadata_is_checked_by_the_rule_of_the_kind() {
        use crate::lifecycle::Part;
        let check = |plural: &str, name: &str| {
            let resource = resources().into_iter().find(|resource| resource.plural == plural).unwrap();
            let object = json!({"metadata": {"name": name, "namespace": "n"}});
            let errors = resource.kind.check(&object, None, Part::Whole);
            errors.iter().filter(|error| error.field.starts_with("metadata")).count()
        };
        assert_eq!((check("configmaps", "A"), check("roles", "A"), check("statefulsets", "a.b")), (1, 0, 1));
    }
}
