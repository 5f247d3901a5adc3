//! Whether a server-side apply would change an object: without asking, and without anything stored on the object.
//!
//! An apply changes nothing exactly when every field of what we want has that value in the live object and is owned by our
//! field manager, and our manager owns nothing else (it would be taken away, or no longer be ours). There is no schema here:
//! the keys of lists can be read off the fields that we own, and [`shapes`] says what is merged and what is one value. So
//! objects that are built for this leave out what is empty, and spell out what the API server would fill in within a value
//! that is owned as a whole.

mod owned;
pub mod shapes;
mod values;
mod walk;

use std::fmt;

use serde_json::Value;

use walk::{Walk, said};

/// Where a live object is not what an apply would make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field: `spec.template.spec.containers[name=main].image`.
    pub path: String,
    /// Its value after an apply; `None` if it would go, or no longer be ours.
    pub wanted: Option<Value>,
    /// Its value now; the same as `wanted` where only the owner would change.
    pub found: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, wanted, found } = self;
        match (wanted, found) {
            (Some(wanted), Some(found)) if wanted == found => write!(f, "{path}: {wanted} is not ours yet"),
            (Some(wanted), Some(found)) => write!(f, "{path}: {wanted} in place of {found}"),
            (Some(wanted), None) => write!(f, "{path}: {wanted}, which is not there"),
            (None, Some(found)) => write!(f, "{path}: without {found}"),
            (None, None) => write!(f, "{path}: no longer ours"),
        }
    }
}

/// The first difference between what an apply of `desired` by `manager` would make of an object and what it is, or `None`
/// if such an apply would write nothing. `live` is the object as the API server gives it, with `managedFields`.
///
/// Values in a Secret are not told.
pub fn differs(desired: &Value, live: &Value, manager: &str) -> Option<Difference> {
    let walk = Walk::of(desired);
    let result = match owned::fields(live, manager, desired["apiVersion"].as_str().unwrap_or_default()) {
        Some(owned) => walk.root(desired, live, owned),
        None => Err(Difference {
            path: "metadata.managedFields".to_owned(),
            wanted: Some(said(manager)),
            found: None,
        }),
    };
    let mut difference = result.err()?;
    if desired["kind"] == "Secret" && difference.path.starts_with("data") {
        let hidden = |value: Option<Value>, word: &str| value.map(|_| said(word));
        let same = difference.wanted == difference.found;
        difference.wanted = hidden(difference.wanted, "(a secret)");
        difference.found = hidden(difference.found, if same { "(a secret)" } else { "(another secret)" });
    }
    Some(difference)
}

#[cfg(test)]
mod tests;
