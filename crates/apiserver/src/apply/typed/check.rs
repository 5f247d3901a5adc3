//! Whether a value fits its type, as far as ownership needs it to.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{NO_TYPE, Problems, scalar_problem};
use crate::apply::fields::PathElement;
use crate::apply::literal::go_print;
use crate::apply::typing::{Form, ListView, MapView, View};

/// Whether lists may hold the same item twice: what is stored may, what is applied may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Allowed,
    Refused,
}

/// What is wrong with the value, if anything is.
pub(crate) fn check(view: View<'_>, value: &Value, duplicates: Duplicates) -> Problems {
    match view.narrowed(Some(value)).form() {
        None => Problems::one(NO_TYPE),
        Some(Form::Scalar(scalar)) => scalar_problem(scalar, value).map(Problems::one).unwrap_or_default(),
        Some(Form::Map(map)) => match value {
            Value::Object(fields) => check_fields(map, fields, duplicates),
            Value::Null => Problems::default(),
            other => Problems::one(format!("expected map, got &{{{}}}", go_print(other))),
        },
        Some(Form::List(list)) => match value {
            Value::Array(items) => check_items(list, items, duplicates),
            Value::Null => Problems::default(),
            other => Problems::one(format!("expected list, got &{{{}}}", go_print(other))),
        },
    }
}

fn check_fields(
    map: MapView<'_>,
    fields: &serde_json::Map<String, Value>,
    duplicates: Duplicates,
) -> Problems {
    let mut problems = Problems::default();
    for (name, value) in fields {
        if !map.declares(name) && !map.open() {
            problems.add(Problems::one("field not declared in schema").under(&PathElement::field(name)));
            break;
        }
        let found = check(map.field(name), value, duplicates);
        if !found.is_empty() {
            problems.add(found.under(&PathElement::field(name)));
        }
    }
    problems
}

fn check_items(list: ListView<'_>, items: &[Value], duplicates: Duplicates) -> Problems {
    let mut problems = Problems::default();
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let element = if list.atomic() {
            PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX))
        } else {
            match list.identify(item) {
                Ok(element) => element,
                Err(reason) => {
                    problems.add(Problems::one(format!("element {index}: {reason}")));
                    return problems;
                }
            }
        };
        if !list.atomic() && !seen.insert(element.clone()) && duplicates == Duplicates::Refused {
            problems.add(Problems::one(format!("duplicate entries for key {element}")));
        }
        problems.add(check(list.element(), item, duplicates).under(&element));
    }
    problems
}
