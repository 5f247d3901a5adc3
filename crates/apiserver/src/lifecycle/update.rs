//! Updates: what a client may change, and what that does to the generation.

use serde_json::{Map, Value};

use super::{Traits, metadata};

/// Which part of an object a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All but status, where status has a path of its own.
    Whole,
    /// Status alone.
    Status,
    /// The finalizers of a namespace, which are part of its spec.
    Finalize,
}

/// What an update comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// Nothing would change: nothing is written.
    Same,
    /// This is to be stored.
    Changed(Value),
}

/// Why a body cannot replace what is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// The body is no object.
    #[error("the body of the request is not an object")]
    NotAnObject,
    /// It is meant for another object, which had this name before.
    #[error("Precondition failed: UID in precondition: {asked}, UID in object meta: {stored}")]
    OtherUid {
        /// The uid in the body.
        asked: String,
        /// The uid that is stored.
        stored: String,
    },
    /// It was made from an older state.
    #[error("the object has been modified; please apply your changes to the latest version and try again")]
    OlderVersion,
}

/// The fields of `metadata` that no client changes.
const KEPT: [&str; 8] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
];

/// The object that is to take the place of `stored`: what was sent, with what this part of it cannot change.
pub fn update(stored: &Value, mut sent: Value, part: Part, traits: Traits) -> Result<Value, UpdateError> {
    if !sent.is_object() || metadata::fields(&mut sent).is_none() {
        return Err(UpdateError::NotAnObject);
    }
    let (asked, known) = (metadata::text(&sent, "uid"), metadata::text(stored, "uid"));
    if !asked.is_empty() && asked != known {
        return Err(UpdateError::OtherUid { asked: asked.to_owned(), stored: known.to_owned() });
    }
    let version = metadata::text(&sent, "resourceVersion");
    if !version.is_empty() && version != metadata::text(stored, "resourceVersion") {
        return Err(UpdateError::OlderVersion);
    }
    let mut next = match part {
        Part::Whole | Part::Finalize => whole(stored, sent, traits),
        Part::Status => status_only(stored, &sent, traits),
    };
    metadata::keep(&mut next, stored, &KEPT);
    metadata::set(&mut next, "selfLink", None);
    Ok(next)
}

/// What an update comes to, once the object is what it is going to be: a new generation if something else is wanted.
pub fn settle(stored: &Value, mut next: Value, part: Part, traits: Traits) -> Updated {
    if traits.generation && part == Part::Whole && wants_something_else(stored, &next, traits) {
        metadata::set(&mut next, "generation", Some((metadata::generation(stored) + 1).into()));
    }
    if next == *stored { Updated::Same } else { Updated::Changed(next) }
}

fn whole(stored: &Value, mut sent: Value, traits: Traits) -> Value {
    if traits.status {
        replace(&mut sent, "status", stored.get("status"));
    }
    sent
}

/// Everything as it is stored, but for the status, for who manages it, and for built-in kinds the metadata.
fn status_only(stored: &Value, sent: &Value, traits: Traits) -> Value {
    let mut next = stored.clone();
    replace(&mut next, "status", sent.get("status"));
    if traits.status_writes_metadata {
        replace(&mut next, "metadata", sent.get("metadata"));
    } else {
        metadata::keep(&mut next, sent, &["managedFields"]);
    }
    next
}

fn replace(object: &mut Value, field: &str, value: Option<&Value>) {
    let Some(fields) = object.as_object_mut() else { return };
    match value {
        Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
        None => drop(fields.remove(field)),
    }
}

/// Whether anything but metadata, and status where it has a path of its own, is different.
fn wants_something_else(stored: &Value, next: &Value, traits: Traits) -> bool {
    let empty = Map::new();
    let ours = |name: &str| name == "metadata" || (traits.status && name == "status");
    let (stored, next) = (stored.as_object().unwrap_or(&empty), next.as_object().unwrap_or(&empty));
    let mut names = stored.keys().chain(next.keys()).filter(|name| !ours(name));
    names.any(|name| stored.get(name) != next.get(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn updated(stored: &Value, sent: Value, part: Part, traits: Traits) -> Result<Updated, UpdateError> {
        update(stored, sent, part, traits).map(|next| settle(stored, next, part, traits))
    }

    const WIDGETS: Traits = Traits {
        namespaced: true,
        status: true,
        generation: true,
        status_writes_metadata: false,
        first_status: false,
    };

    fn stored() -> Value {
        json!({
            "kind": "Widget",
            "metadata": {"name": "a", "uid": "u", "resourceVersion": "7", "generation": 3, "creationTimestamp": "t", "finalizers": ["f"]},
            "spec": {"n": 1}, "status": {"ready": true},
        })
    }

    fn changed(change: impl FnOnce(&mut Value), part: Part) -> Result<Updated, UpdateError> {
        let mut sent = stored();
        change(&mut sent);
        updated(&stored(), sent, part, WIDGETS)
    }

    fn result(change: impl FnOnce(&mut Value), part: Part) -> Value {
        match changed(change, part).unwrap() {
            Updated::Changed(value) => value,
            Updated::Same => panic!("nothing changed"),
        }
    }

    #[test]
    fn the_same_again_is_no_change() {
        assert_eq!(changed(|_| {}, Part::Whole), Ok(Updated::Same));
        assert_eq!(changed(|_| {}, Part::Status), Ok(Updated::Same));
    }

    #[test]
    fn the_generation_moves_with_what_is_wanted_only() {
        assert_eq!(result(|sent| sent["spec"]["n"] = 2.into(), Part::Whole)["metadata"]["generation"], 4);
        let labelled = result(|sent| sent["metadata"]["labels"] = json!({"l": "v"}), Part::Whole);
        assert_eq!(labelled["metadata"]["generation"], 3);
        assert_eq!(
            result(|sent| sent["status"] = json!({"ready": false}), Part::Status)["metadata"]["generation"],
            3
        );
        let plain = Traits { generation: false, ..WIDGETS };
        let mut sent = stored();
        sent["spec"]["n"] = 2.into();
        let Ok(Updated::Changed(next)) = updated(&stored(), sent, Part::Whole, plain) else {
            panic!("it changed")
        };
        assert_eq!(next["metadata"]["generation"], 3);
    }

    #[test]
    fn neither_part_writes_the_other() {
        assert_eq!(changed(|sent| sent["status"] = json!({"ready": false}), Part::Whole), Ok(Updated::Same));
        let next = result(
            |sent| {
                sent["spec"]["n"] = 2.into();
                sent["metadata"]["labels"] = json!({"l": "v"});
                sent["metadata"]["managedFields"] = json!([{}]);
                sent["status"] = json!({"ready": false});
            },
            Part::Status,
        );
        assert_eq!((&next["spec"]["n"], &next["status"]["ready"]), (&json!(1), &json!(false)));
        assert_eq!(next["metadata"].get("labels"), None);
        assert_eq!(next["metadata"]["managedFields"], json!([{}]));
    }

    #[test]
    fn what_the_server_keeps_is_kept() {
        let next = result(
            |sent| {
                sent["metadata"] = json!({"name": "b", "generation": 9, "creationTimestamp": "x", "selfLink": "y", "labels": {"l": "v"}});
            },
            Part::Whole,
        );
        let expected = json!({"name": "a", "uid": "u", "resourceVersion": "7", "generation": 3, "creationTimestamp": "t", "labels": {"l": "v"}});
        assert_eq!(next["metadata"], expected);
    }

    #[test]
    fn another_uid_or_an_older_version_is_refused() {
        let other = changed(|sent| sent["metadata"]["uid"] = "v".into(), Part::Whole);
        assert_eq!(other, Err(UpdateError::OtherUid { asked: "v".into(), stored: "u".into() }));
        let older = changed(|sent| sent["metadata"]["resourceVersion"] = "6".into(), Part::Whole);
        assert_eq!(older, Err(UpdateError::OlderVersion));
        assert_eq!(
            changed(|sent| sent["metadata"]["resourceVersion"] = "".into(), Part::Whole),
            Ok(Updated::Same)
        );
        assert_eq!(updated(&stored(), json!(3), Part::Whole, WIDGETS), Err(UpdateError::NotAnObject));
    }

    #[test]
    fn an_end_that_has_begun_is_not_taken_back() {
        let mut ending = stored();
        ending["metadata"]["deletionTimestamp"] = "t".into();
        let mut sent = stored();
        sent["metadata"].as_object_mut().unwrap().remove("finalizers");
        let Ok(Updated::Changed(next)) = updated(&ending, sent, Part::Whole, WIDGETS) else {
            panic!("it changed")
        };
        assert_eq!(next["metadata"].get("finalizers"), None);
        assert_eq!(next["metadata"]["deletionTimestamp"], "t");
    }
}
