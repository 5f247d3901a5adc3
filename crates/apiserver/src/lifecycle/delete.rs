//! Deletion: at once, or by way of finalizers.

use jiff::{SignedDuration, Timestamp};
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
    /// For how many more seconds it goes on living.
    pub grace: i64,
    /// Whether it is marked even if it goes at once, as what may live on is.
    pub marks: bool,
    /// Whether what it owns stays when neither the policy nor a finalizer says anything.
    pub orphans: bool,
    /// Whether something besides its finalizers keeps it.
    pub held: bool,
}

/// What a deletion comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It goes now; this is its last state.
    Now(Value),
    /// It is marked, which others see, and then goes at once.
    MarkedNow(Value),
    /// It is marked, and goes when its finalizers are gone.
    Marked(Value),
    /// It is marked already, and nothing changes.
    Same,
}

/// Why it cannot be deleted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {what} in the precondition ({asked}) does not match the {what} in record ({stored}). The object might have been {so}"
)]
pub struct Precondition {
    so: &'static str,
    what: &'static str,
    asked: String,
    stored: String,
}

/// What the deletion of this object comes to.
pub fn delete(stored: &Value, deletion: &Deletion, source: &mut impl Source) -> Result<Ending, Precondition> {
    check(stored, "UID", "uid", deletion.uid.as_deref())?;
    check(stored, "ResourceVersion", "resourceVersion", deletion.resource_version.as_deref())?;
    let mut next = stored.clone();
    let is_said = metadata::finalizers(stored).iter().any(|name| [ORPHAN, FOREGROUND].contains(name));
    let unsaid = (deletion.orphans && !is_said).then_some(Policy::Orphan);
    set_policy(&mut next, deletion.policy.or(unsaid));
    let goes = metadata::finalizers(&next).is_empty() && deletion.grace == 0 && !deletion.held;
    if goes && !deletion.marks {
        return Ok(Ending::Now(next));
    }
    if metadata::is_ending(&next) {
        shorten(&mut next, deletion.grace);
    } else {
        let ends_at =
            source.now().checked_add(SignedDuration::from_secs(deletion.grace)).unwrap_or(Timestamp::MAX);
        metadata::set(&mut next, "deletionTimestamp", Some(metadata::time_text(ends_at).into()));
        metadata::set(&mut next, "deletionGracePeriodSeconds", Some(deletion.grace.into()));
        let generation = metadata::generation(stored);
        if generation > 0 {
            metadata::set(&mut next, "generation", Some((generation + 1).into()));
        }
    }
    Ok(match (goes, next == *stored) {
        (true, true) => Ending::Now(next),
        (true, false) => Ending::MarkedNow(next),
        (false, true) => Ending::Same,
        (false, false) => Ending::Marked(next),
    })
}

/// A second deletion can bring the end nearer, and never put it off.
fn shorten(ending: &mut Value, grace: i64) {
    let Some(left) = metadata::grace(ending) else {
        // Its kind marked it in a way of its own.
        return metadata::set(ending, "deletionGracePeriodSeconds", Some(0.into()));
    };
    if grace >= left {
        return;
    }
    let Ok(ends_at) = metadata::text(ending, "deletionTimestamp").parse::<Timestamp>() else { return };
    let sooner = ends_at.checked_sub(SignedDuration::from_secs(left - grace)).unwrap_or(ends_at);
    metadata::set(ending, "deletionTimestamp", Some(metadata::time_text(sooner).into()));
    metadata::set(ending, "deletionGracePeriodSeconds", Some(grace.into()));
}

/// Whether an update of an ending object took away the last that kept it: then it goes.
pub fn ends(object: &Value) -> bool {
    metadata::is_ending(object)
        && metadata::finalizers(object).is_empty()
        && metadata::grace(object).unwrap_or(0) == 0
}

fn check(stored: &Value, what: &'static str, field: &str, asked: Option<&str>) -> Result<(), Precondition> {
    let known = metadata::text(stored, field);
    match asked {
        Some(asked) if asked != known => {
            let so = if what == "UID" { "deleted and then recreated" } else { "modified" };
            Err(Precondition { so, what, asked: asked.to_owned(), stored: known.to_owned() })
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
    let (wishes, others): (Vec<&str>, Vec<&str>) =
        metadata::finalizers(object).into_iter().partition(|name| [ORPHAN, FOREGROUND].contains(name));
    // The same wish again changes nothing, not even where it stands.
    if wishes.iter().copied().eq(wanted) {
        return;
    }
    let finalizers: Vec<Value> = others.into_iter().chain(wanted).map(Value::from).collect();
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
        assert_eq!(finalizers_after(&object(&["orphan", "f"]), Policy::Orphan), json!(["orphan", "f"]));
    }

    #[test]
    fn with_a_grace_it_lives_on_and_the_end_comes_only_nearer() {
        let asks = |object: &Value, grace: i64| {
            delete(object, &Deletion { grace, ..Deletion::default() }, &mut Counting::default()).unwrap()
        };
        let Ending::Marked(marked) = asks(&object(&[]), 30) else { panic!("it is marked") };
        assert_eq!(marked["metadata"]["deletionTimestamp"], "2026-01-01T00:00:30Z");
        assert!(!ends(&marked), "no update takes it before its time");
        assert_eq!(asks(&marked, 60), Ending::Same);
        let Ending::Marked(sooner) = asks(&marked, 10) else { panic!("it ends sooner") };
        assert_eq!(sooner["metadata"]["deletionTimestamp"], "2026-01-01T00:00:10Z");
        assert_eq!(sooner["metadata"]["generation"], 4, "its end has been counted once");
        assert!(matches!(asks(&sooner, 0), Ending::Now(_)));
        let marks = Deletion { marks: true, ..Deletion::default() };
        let Ok(Ending::MarkedNow(last)) = delete(&object(&[]), &marks, &mut Counting::default()) else {
            panic!("it is marked and goes")
        };
        assert_eq!(last["metadata"]["deletionGracePeriodSeconds"], 0);
        assert_eq!(delete(&last, &marks, &mut Counting::default()), Ok(Ending::Now(last.clone())));
        let held = Deletion { held: true, ..Deletion::default() };
        assert!(matches!(delete(&object(&[]), &held, &mut Counting::default()), Ok(Ending::Marked(_))));
    }

    #[test]
    fn preconditions_are_kept() {
        let asks = |uid: Option<&str>, version: Option<&str>| {
            let (uid, resource_version) = (uid.map(str::to_owned), version.map(str::to_owned));
            let deletion = Deletion { uid, resource_version, ..Deletion::default() };
            delete(&object(&[]), &deletion, &mut Counting::default())
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert_eq!(asks(Some("u"), Some("7")), Ok(()));
        let uid = "the UID in the precondition (v) does not match the UID in record (u). The object might have been deleted \
            and then recreated";
        assert_eq!(asks(Some("v"), None), Err(uid.to_owned()));
        let version = "the ResourceVersion in the precondition (6) does not match the ResourceVersion in record (7). The object \
            might have been modified";
        assert_eq!(asks(None, Some("6")), Err(version.to_owned()));
    }
}
