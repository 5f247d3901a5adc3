//! What changed from one value to another, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{NO_TYPE, Problems, scalar_problem};
use crate::apply::fields::{FieldSet, Path, PathElement};
use crate::apply::literal::equal;
use crate::apply::typing::{Form, ListView, MapView, View};

/// The fields that only the old value has, that differ, and that only the new value has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// The comparison without the trees of these fields.
    pub(crate) fn without(self, reset: &FieldSet) -> Self {
        Self {
            removed: self.removed.without_trees(reset),
            modified: self.modified.without_trees(reset),
            added: self.added.without_trees(reset),
        }
    }
}

/// Compares two values of one type.
pub(crate) fn compare(view: View<'_>, old: &Value, new: &Value) -> Result<Comparison, Problems> {
    run(Walker::default(), view, old, new)
}

/// The same of values of which the old one is known to fit the type: what is equal need not be looked into.
pub(crate) fn compare_fitting(view: View<'_>, old: &Value, new: &Value) -> Result<Comparison, Problems> {
    run(Walker { fits: true, ..Walker::default() }, view, old, new)
}

fn run(mut walker: Walker, view: View<'_>, old: &Value, new: &Value) -> Result<Comparison, Problems> {
    walker.walk(view, Some(old), Some(new));
    if walker.problems.is_empty() { Ok(walker.changes) } else { Err(walker.problems) }
}

#[derive(Default)]
struct Walker {
    /// Whether the old value is known to fit its type.
    fits: bool,
    path: Path,
    changes: Comparison,
    problems: Problems,
}

type Side<'v> = Option<&'v Value>;

impl Walker {
    fn walk(&mut self, view: View<'_>, old: Side<'_>, new: Side<'_>) {
        let (before, after) = (view.narrowed(old), view.narrowed(new));
        let leaf = if new.is_none() {
            self.form(before, old, new)
        } else {
            if old.is_some() && !before.same(&after) {
                self.form(before, old, new);
            }
            self.form(after, old, new)
        };
        if !leaf {
            self.presence(old, new);
        }
    }

    /// Records a field that only one side has; `false` if both have it.
    fn presence(&mut self, old: Side<'_>, new: Side<'_>) -> bool {
        match (old, new) {
            (None, _) => self.changes.added.insert(&self.path),
            (_, None) => self.changes.removed.insert(&self.path),
            _ => return false,
        }
        true
    }

    fn leaf(&mut self, old: Side<'_>, new: Side<'_>) -> bool {
        if !self.presence(old, new)
            && let (Some(old), Some(new)) = (old, new)
            && !equal(old, new)
        {
            self.changes.modified.insert(&self.path);
        }
        true
    }

    /// Walks one form of the values; whether that was a leaf.
    fn form(&mut self, view: View<'_>, old: Side<'_>, new: Side<'_>) -> bool {
        match view.form() {
            None => {
                self.problems.add(Problems::one(NO_TYPE));
                false
            }
            Some(Form::Scalar(scalar)) => {
                let problem = |side: Side<'_>| side.and_then(|value| scalar_problem(scalar, value));
                if let (Some(left), Some(right)) = (problem(old), problem(new)) {
                    self.problems.add(Problems::one(format!("lhs: {left}")));
                    self.problems.add(Problems::one(format!("rhs: {right}")));
                    return false;
                }
                self.leaf(old, new)
            }
            Some(Form::Map(map)) => {
                let fields =
                    |side: Side<'_>| side.and_then(Value::as_object).is_some_and(|map| !map.is_empty());
                if map.atomic || !(fields(old) || fields(new)) {
                    return self.leaf(old, new);
                }
                self.fields(map, old.and_then(Value::as_object), new.and_then(Value::as_object));
                false
            }
            Some(Form::List(list)) => {
                let items =
                    |side: Side<'_>| side.and_then(Value::as_array).is_some_and(|list| !list.is_empty());
                if list.atomic() || !(items(old) || items(new)) {
                    return self.leaf(old, new);
                }
                let none = Vec::new();
                let (old, new) = (old.and_then(Value::as_array), new.and_then(Value::as_array));
                self.items(list, old.unwrap_or(&none), new.unwrap_or(&none));
                false
            }
        }
    }

    /// Whether there is nothing to be found here.
    fn skips(&self, old: Side<'_>, new: Side<'_>) -> bool {
        self.fits && old.is_some() && old == new
    }

    fn step(&mut self, element: &PathElement, view: View<'_>, old: Side<'_>, new: Side<'_>) {
        if self.skips(old, new) {
            return;
        }
        self.path.push(element.clone());
        self.walk(view, old, new);
        self.path.pop();
    }

    fn fields(
        &mut self,
        map: MapView<'_>,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        let none = Map::new();
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (old, new) = (old.get(name), new.get(name));
            if !self.skips(old, new) {
                self.step(&PathElement::field(name), map.field(name), old, new);
            }
        }
    }

    fn items(&mut self, list: ListView<'_>, old: &[Value], new: &[Value]) {
        let mut pairs: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for (index, item) in old.iter().enumerate() {
            match list.identify(item) {
                Ok(element) => pairs.entry(element).or_default().0.push(item),
                Err(reason) => self.problems.add(Problems::one(format!("element {index}: {reason}"))),
            }
        }
        for (index, item) in new.iter().enumerate() {
            match list.identify(item) {
                Ok(element) => pairs.entry(element).or_default().1.push(item),
                Err(reason) => self.problems.add(Problems::one(format!("element {index}: {reason}"))),
            }
        }
        for (element, (old, new)) in pairs {
            self.repeated(list, &element, &old, &new);
        }
    }

    /// Compares the items of one identity. Where there are several, they count as one thing without fields.
    fn repeated(&mut self, list: ListView<'_>, element: &PathElement, old: &[&Value], new: &[&Value]) {
        let mut here = self.path.clone();
        here.push(element.clone());
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.step(element, list.element(), old.first().copied(), new.first().copied());
            }
            ([_, _, ..], [_, _, ..]) => {
                let same = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equal(old, new));
                if !same {
                    self.changes.modified.insert(&here);
                }
            }
            ([_, _, ..], _) => {
                if let Some(only) = new.first() {
                    self.step(element, list.element(), None, Some(only));
                }
                self.changes.removed.insert(&here);
            }
            (_, [_, _, ..]) => {
                if let Some(only) = old.first() {
                    self.step(element, list.element(), Some(only), None);
                }
                self.changes.added.insert(&here);
            }
        }
    }
}
