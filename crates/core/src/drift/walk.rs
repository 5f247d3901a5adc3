//! The walk through what is wanted, what is there and what is ours, side by side.

use serde_json::{Map, Value};

use super::Difference;
use super::owned::{self, Tree};
use super::shapes::Kinds;
use super::values;

/// What the API server never counts as owned, because it is the object's identity.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];

/// Where an object's metadata is.
const METADATA: &str = "metadata";

type Verdict = Result<(), Difference>;

/// A text as a value.
pub(super) fn said(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// One walk.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    kinds: Kinds,
}

/// The same place in what is wanted, and in the live object where it is there.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    /// The field, or the list that this is an item of.
    name: &'a str,
    wanted: &'a Value,
    found: Option<&'a Value>,
    /// Whether a quantity stands here, or below.
    quantity: bool,
}

impl Place<'_> {
    fn difference(self) -> Difference {
        Difference {
            path: self.path.to_owned(),
            wanted: Some(self.wanted.clone()),
            found: self.found.cloned(),
        }
    }

    /// Compared as a whole. What the API server leaves out because it is nothing is there all the same.
    fn whole(self) -> Verdict {
        let same = match self.found {
            Some(found) if self.quantity => values::same_quantity(self.wanted, found),
            Some(found) => self.wanted == found,
            None => values::is_nothing(self.wanted),
        };
        if same { Ok(()) } else { Err(self.difference()) }
    }
}

impl Walk {
    pub(super) fn of(desired: &Value) -> Self {
        Self { kinds: Kinds::of(desired["apiVersion"].as_str().unwrap_or_default()) }
    }

    pub(super) fn root(self, wanted: &Value, found: &Value, owned: &Tree) -> Verdict {
        let at = Place { path: "", name: "", wanted, found: Some(found), quantity: false };
        self.value(at, Some(owned))
    }

    fn value(self, at: Place<'_>, owned: Option<&Tree>) -> Verdict {
        let Some(owned) = owned else {
            return if self.owns_nothing(at.name, at.wanted) { Ok(()) } else { Err(at.difference()) };
        };
        match at.wanted {
            Value::Object(wanted) => {
                if wanted.is_empty() || self.kinds.is_whole_object(at.name) {
                    at.whole()?;
                } else {
                    self.fields(at, wanted, owned)?;
                }
                Self::nothing_else(at, wanted, owned)
            }
            Value::Array(wanted) if self.kinds.is_merged_list(at.name) => {
                if wanted.iter().all(Value::is_object) {
                    self.items(at, wanted, owned)
                } else {
                    set(at, wanted, owned)
                }
            }
            _ => at.whole(),
        }
    }

    /// Whether a value adds nothing to what its manager owns: a merged list without items.
    fn owns_nothing(self, name: &str, value: &Value) -> bool {
        match value {
            Value::Array(list) => list.is_empty() && self.kinds.is_merged_list(name),
            Value::Object(map) => {
                !map.is_empty() && map.iter().all(|(name, value)| self.owns_nothing(name, value))
            }
            _ => false,
        }
    }

    fn fields(self, at: Place<'_>, wanted: &Map<String, Value>, owned: &Tree) -> Verdict {
        for (name, value) in wanted {
            let path = join(at.path, name);
            if IDENTITY.contains(&path.as_str()) {
                continue;
            }
            let quantity = at.quantity || (self.kinds.knows_quantities() && values::holds_quantities(name));
            let found = at.found.and_then(|found| found.get(name));
            let here = Place { path: &path, name, wanted: value, found, quantity };
            match owned::field(owned, name) {
                // Nobody owns the metadata as such.
                None if path == METADATA => self.value(here, Some(&Tree::new()))?,
                subtree => self.value(here, subtree)?,
            }
        }
        Ok(())
    }

    /// Nothing is ours that is not wanted.
    fn nothing_else(at: Place<'_>, wanted: &Map<String, Value>, owned: &Tree) -> Verdict {
        match owned::field_names(owned).find(|name| !wanted.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(Difference {
                path: join(at.path, name),
                wanted: None,
                found: at.found.and_then(|found| found.get(name)).cloned(),
            }),
        }
    }

    /// A list that is merged by key: each wanted item is there and ours, in the wanted order, and no other is ours.
    fn items(self, at: Place<'_>, wanted: &[Value], owned: &Tree) -> Verdict {
        let mut left = owned::items(owned);
        let empty = Vec::new();
        let list = at.found.and_then(Value::as_array).unwrap_or(&empty);
        let mut before = None;
        for item in wanted {
            let ours = left.iter().position(|(keys, _)| matches(item, keys, true));
            let Some((keys, subtree)) = ours.map(|index| left.swap_remove(index)) else {
                let path = format!("{}[]", at.path);
                return Err(Difference { path, wanted: Some(item.clone()), found: None });
            };
            let path = format!("{}[{}]", at.path, describe(&keys));
            let position = list.iter().position(|live| matches(live, &keys, false));
            let found = position.and_then(|index| list.get(index));
            let here = Place { path: &path, name: "", wanted: item, found, quantity: at.quantity };
            if owned::is_whole_item(subtree) {
                here.whole()?;
            } else {
                self.value(here, Some(subtree))?;
            }
            if position < before {
                return Err(at.difference()); // an apply puts ours into the wanted order
            }
            before = position;
        }
        match left.first() {
            None => Ok(()),
            Some((keys, _)) => Err(Difference {
                path: format!("{}[{}]", at.path, describe(keys)),
                wanted: None,
                found: list.iter().find(|live| matches(live, keys, false)).cloned(),
            }),
        }
    }
}

/// A list that is a set: each wanted value is there and ours, in the wanted order, and no other is ours.
fn set(at: Place<'_>, wanted: &[Value], owned: &Tree) -> Verdict {
    let ours = owned::set(owned);
    let empty = Vec::new();
    let list = at.found.and_then(Value::as_array).unwrap_or(&empty);
    let positions: Vec<_> = wanted.iter().map(|value| list.iter().position(|live| live == value)).collect();
    let there = positions.iter().all(Option::is_some) && positions.is_sorted();
    let all_ours = wanted.iter().all(|value| ours.contains(value));
    let none_else = ours.iter().all(|value| wanted.contains(value));
    if there && all_ours && none_else { Ok(()) } else { Err(at.difference()) }
}

/// Whether an item has these keys. A key that is wanted without being said has its default, whatever that is.
fn matches(item: &Value, keys: &Tree, defaults: bool) -> bool {
    keys.iter().all(|(name, key)| item.get(name).map_or(defaults, |value| value == key))
}

fn describe(keys: &Tree) -> String {
    let pair = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    keys.iter().map(pair).collect::<Vec<_>>().join(",")
}

fn join(path: &str, name: &str) -> String {
    match (path, name.contains(['.', '/'])) {
        ("", _) => name.to_owned(),
        (_, true) => format!("{path}[{name}]"),
        (_, false) => format!("{path}.{name}"),
    }
}
