//! Deletion: at once, or by way of finalizers.

use serde_json::Value;

use super::{Source, metadata};

/// The finalizer by which the garbage collector lets go of what the object owns.
const ORPHAN: &str = "orphan";
/// The finalizer by which the garbage collector deletes what the object owns first.
const FOREGROUND: &str = "foregroundDeletion";

/// What becomes of what the object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It is deleted afterwards.
    Background,
    /// It is deleted first.
    Foreground,
    /// It stays.
    Orphan,
}

/// How a deletion is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletion {
    /// What becomes of what it owns; none: as its finalizers say.
    pub policy: Option<Policy>,
    /// Only the object with this uid.
    pub uid: Option<String>,
    /// Only at this version.
    pub resource_version: Option<String>,
}

/// What a deletion comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It goes now; this is its last state.
    Now(Value),
    /// It is marked, and goes when its finalizers are gone.
    Marked(Value),
    /// It is marked already, and nothing changes.
    Same,
}

/// Why it cannot be deleted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Precondition failed: {what} in precondition: {asked}, {what} in object meta: {stored}")]
pub struct Precondition {
    what: &'static str,
    asked: String,
    stored: String,
}

/// What the deletion of this object comes to.
pub fn delete(stored: &Value, deletion: &Deletion, source: &mut impl Source) -> Result<Ending, Precondition> {
    check(stored, "UID", "uid", deletion.uid.as_deref())?;
    check(stored, "ResourceVersion", "resourceVersion", deletion.resource_version.as_deref())?;
    let mut next = stored.clone();
    set_policy(&mut next, deletion.policy);
    if metadata::finalizers(&next).is_empty() {
        return Ok(Ending::Now(next));
    }
    if !metadata::is_ending(&next) {
        metadata::set(&mut next, "deletionTimestamp", Some(source.now().into()));
        metadata::set(&mut next, "deletionGracePeriodSeconds", Some(0.into()));
        let generation = metadata::generation(stored);
        if generation > 0 {
            metadata::set(&mut next, "generation", Some((generation + 1).into()));
        }
    }
    Ok(if next == *stored { Ending::Same } else { Ending::Marked(next) })
}

/// Whether an update of an ending object took its last finalizer away: then it goes.
pub fn ends(object: &Value) -> bool {
    metadata::is_ending(object) && metadata::finalizers(object).is_empty()
}

fn check(stored: &Value, what: &'static str, field: &str, asked: Option<&str>) -> Result<(), Precondition> {
    let known = metadata::text(stored, field);
    match asked {
        Some(asked) if asked != known => {
            Err(Precondition { what, asked: asked.to_owned(), stored: known.to_owned() })
        }
        _ => Ok(()),
    }
}

/// The garbage collector learns by finalizers what is wanted of it; one wish takes the place of the other.
fn set_policy(object: &mut Value, policy: Option<Policy>) {
    let Some(policy) = policy else { return };
    let wanted = match policy {
        Policy::Background => None,
        Policy::Foreground => Some(FOREGROUND),
        Policy::Orphan => Some(ORPHAN),
    };
    let known = metadata::finalizers(object);
    let mut finalizers: Vec<Value> = known
        .iter()
        .filter(|name| ![ORPHAN, FOREGROUND].contains(name))
        .map(|name| Value::from(*name))
        .collect();
    finalizers.extend(wanted.map(Value::from));
    metadata::set(object, "finalizers", (!finalizers.is_empty()).then_some(Value::Array(finalizers)));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Counting;
    use super::*;

    fn object(finalizers: &[&str]) -> Value {
        let mut object =
            json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7", "generation": 3}});
        if !finalizers.is_empty() {
            object["metadata"]["finalizers"] = json!(finalizers);
        }
        object
    }

    fn deleted(object: &Value, policy: Option<Policy>) -> Ending {
        delete(object, &Deletion { policy, ..Deletion::default() }, &mut Counting::default()).unwrap()
    }

    fn finalizers_after(object: &Value, policy: Policy) -> Value {
        match deleted(object, Some(policy)) {
            Ending::Marked(next) => next["metadata"]["finalizers"].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn without_finalizers_it_goes_at_once() {
        assert_eq!(deleted(&object(&[]), None), Ending::Now(object(&[])));
        assert_eq!(deleted(&object(&["orphan"]), Some(Policy::Background)), Ending::Now(object(&[])));
    }

    #[test]
    fn with_finalizers_it_is_marked_and_then_waits() {
        let Ending::Marked(marked) = deleted(&object(&["f"]), None) else { panic!("it is marked") };
        assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-01-01T00:00:00Z");
        assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
        assert_eq!(marked["metadata"]["generation"], 4);
        assert_eq!(deleted(&marked, None), Ending::Same);
        assert!(!ends(&marked));
        let mut free = marked;
        free["metadata"]["finalizers"] = json!([]);
        assert!(ends(&free));
        assert!(!ends(&object(&[])), "its end has not begun");
    }

    #[test]
    fn a_policy_is_a_finalizer_and_one_replaces_the_other() {
        assert_eq!(finalizers_after(&object(&[]), Policy::Foreground), json!(["foregroundDeletion"]));
        assert_eq!(finalizers_after(&object(&["f"]), Policy::Orphan), json!(["f", "orphan"]));
        assert_eq!(
            finalizers_after(&object(&["orphan", "f"]), Policy::Foreground),
            json!(["f", "foregroundDeletion"])
        );
    }

    #[test]
    fn preconditions_are_kept() {
        let asks = |uid: Option<&str>, version: Option<&str>| {
            let (uid, resource_version) = (uid.map(str::to_owned), version.map(str::to_owned));
            let deletion = Deletion { policy: None, uid, resource_version };
            delete(&object(&[]), &deletion, &mut Counting::default())
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert_eq!(asks(Some("u"), Some("7")), Ok(()));
        let uid = "Precondition failed: UID in precondition: v, UID in object meta: u";
        assert_eq!(asks(Some("v"), None), Err(uid.to_owned()));
        let version =
            "Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 7";
        assert_eq!(asks(None, Some("6")), Err(version.to_owned()));
    }
}
