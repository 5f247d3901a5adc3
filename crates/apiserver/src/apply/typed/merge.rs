//! An applied value laid over a live one. Nothing is removed; lists keep the live order where the applied one allows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::{NO_TYPE, Problems, scalar_problem};
use crate::apply::fields::PathElement;
use crate::apply::typing::{Form, ListView, MapView, View};

/// What stands for items that the live list has more than once: they are not merged with what is applied.
static REPEATED: Value = Value::Null;

/// Merges the applied value into the live one.
pub(crate) fn merge(view: View<'_>, live: &Value, applied: &Value) -> Result<Value, Problems> {
    let mut problems = Problems::default();
    let merged = walk(view, Some(live), Some(applied), &mut problems);
    if problems.is_empty() { Ok(merged.unwrap_or(Value::Null)) } else { Err(problems) }
}

type Side<'v> = Option<&'v Value>;

fn walk(view: View<'_>, live: Side<'_>, applied: Side<'_>, problems: &mut Problems) -> Option<Value> {
    let (before, after) = (view.narrowed(live), view.narrowed(applied));
    if applied.is_none() {
        return form(before, live, applied, problems);
    }
    if live.is_some() && !before.same(&after) {
        form(before, live, applied, problems);
    }
    form(after, live, applied, problems)
}

fn form(view: View<'_>, live: Side<'_>, applied: Side<'_>, problems: &mut Problems) -> Option<Value> {
    let leaf = || applied.or(live).cloned();
    match view.form() {
        None => {
            problems.add(Problems::one(NO_TYPE));
            None
        }
        Some(Form::Scalar(scalar)) => {
            let problem = |side: Side<'_>| side.and_then(|value| scalar_problem(scalar, value));
            if let (Some(left), Some(right)) = (problem(live), problem(applied)) {
                problems.add(Problems::one(format!("lhs: {left}")));
                problems.add(Problems::one(format!("rhs: {right}")));
                return None;
            }
            leaf()
        }
        Some(Form::Map(map)) => {
            let none = Map::new();
            let old = live.and_then(Value::as_object).unwrap_or(&none);
            let new = applied.and_then(Value::as_object).unwrap_or(&none);
            if map.atomic || (old.is_empty() && new.is_empty()) {
                leaf()
            } else {
                fields_of(map, old, new, problems)
            }
        }
        Some(Form::List(list)) => {
            let none = Vec::new();
            let old = live.and_then(Value::as_array).unwrap_or(&none);
            let new = applied.and_then(Value::as_array).unwrap_or(&none);
            if list.atomic() || (old.is_empty() && new.is_empty()) {
                leaf()
            } else {
                Items::merge(list, old, new, problems)
            }
        }
    }
}

fn fields_of(
    map: MapView<'_>,
    live: &Map<String, Value>,
    applied: &Map<String, Value>,
    problems: &mut Problems,
) -> Option<Value> {
    let names: BTreeSet<_> = live.keys().chain(applied.keys()).collect();
    let mut merged = Map::new();
    for name in names {
        let mut inner = Problems::default();
        let value = walk(map.field(name), live.get(name), applied.get(name), &mut inner);
        problems.add(inner.under(&PathElement::field(name)));
        merged.extend(value.map(|value| (name.clone(), value)));
    }
    (!merged.is_empty()).then_some(Value::Object(merged))
}

/// The items of a live and of an applied list on their way into one.
struct Items<'v> {
    list: ListView<'v>,
    live: Vec<(PathElement, &'v Value)>,
    applied: Vec<(PathElement, &'v Value)>,
    /// One live item for each identity.
    live_by: BTreeMap<PathElement, &'v Value>,
    applied_by: BTreeMap<PathElement, &'v Value>,
    merged: Vec<Value>,
}

impl<'v> Items<'v> {
    fn merge(
        list: ListView<'v>,
        live: &'v [Value],
        applied: &'v [Value],
        problems: &mut Problems,
    ) -> Option<Value> {
        let mut found = Problems::default();
        let applied = identify(list, applied, &mut found);
        let live = identify(list, live, &mut found);
        let mut live_by = BTreeMap::new();
        for (element, item) in &live {
            live_by.entry(element.clone()).and_modify(|item| *item = &REPEATED).or_insert(*item);
        }
        let mut applied_by = BTreeMap::new();
        for (element, item) in &applied {
            if applied_by.insert(element.clone(), *item).is_some() {
                found.add(Problems::one(format!("duplicate entries for key {element}")));
            }
        }
        if !found.is_empty() {
            problems.add(found);
            return None;
        }
        let mut items = Self { list, live, applied, live_by, applied_by, merged: Vec::new() };
        items.run();
        (!items.merged.is_empty()).then_some(Value::Array(items.merged))
    }

    /// Goes through both lists at once. Items of both come in the applied order, live items keep their neighbours.
    fn run(&mut self) {
        let order = self.applied.iter().map(|(element, _)| element);
        let mut shared: VecDeque<_> =
            order.filter(|element| self.live_by.contains_key(*element)).cloned().collect();
        let mut done = BTreeSet::new();
        let (mut l, mut a) = (0, 0);
        while l < self.live.len() || a < self.applied.len() {
            if let Some((element, item)) = self.live.get(l).cloned() {
                let in_applied = self.applied_by.contains_key(&element);
                if let Some((wanted, _)) = self.applied.get(a) {
                    let elsewhere = shared.front().is_some_and(|next| *next != element);
                    if element != *wanted && in_applied && elsewhere {
                        l += 1; // comes later, where the applied list has it
                        continue;
                    }
                }
                if !in_applied {
                    self.push(Some(item), None);
                    l += 1;
                    continue;
                }
                let met = self.applied.get(a).is_some_and(|(wanted, _)| *wanted == element);
                if met || done.contains(&element) {
                    l += 1;
                }
            }
            if let Some((element, _)) = self.applied.get(a).cloned() {
                let (live, applied) = (self.live_by.get(&element), self.applied_by.get(&element));
                self.push(live.copied(), applied.copied());
                if shared.front() == Some(&element) {
                    shared.pop_front();
                }
                done.insert(element);
                a += 1;
            }
        }
    }

    fn push(&mut self, live: Side<'v>, applied: Side<'v>) {
        // What is wrong inside of an item does not stop a merge: both lists were checked before.
        let merged = walk(self.list.element(), live, applied, &mut Problems::default());
        self.merged.extend(merged);
    }
}

fn identify<'v>(
    list: ListView<'_>,
    items: &'v [Value],
    problems: &mut Problems,
) -> Vec<(PathElement, &'v Value)> {
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match list.identify(item) {
            Ok(element) => found.push((element, item)),
            Err(reason) => problems.add(Problems::one(format!("element {index}: {reason}"))),
        }
    }
    found
}
