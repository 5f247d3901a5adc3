//! Following a path through an object.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Operand, Operator, Step};

/// All values that the steps lead to; none where a step does not fit what it meets.
pub(super) fn all<'a>(steps: &[Step], object: &'a Value) -> Option<Vec<&'a Value>> {
    let mut found = vec![object];
    for step in steps {
        let mut next = Vec::new();
        for value in found {
            follow(step, value, &mut next)?;
        }
        found = next;
    }
    Some(found)
}

fn follow<'a>(step: &Step, value: &'a Value, next: &mut Vec<&'a Value>) -> Option<()> {
    match (step, value) {
        (Step::Deep, value) => deep(value, next),
        (Step::Field(name), Value::Object(fields)) => next.extend(fields.get(name)),
        (Step::All, Value::Object(fields)) => next.extend(fields.values()),
        (Step::All, Value::Array(items)) => next.extend(items),
        // What asks for parts of something that has none finds nothing, and is no mistake.
        (Step::Field(_) | Step::All, _) | (Step::Index(_) | Step::Slice(..), Value::Null) => {}
        (Step::Index(index), Value::Array(items)) => {
            let place = if *index < 0 { index + length(items) } else { *index };
            next.push(items.get(usize::try_from(place).ok()?)?);
        }
        (Step::Slice(from, to, by), Value::Array(items)) => {
            next.extend(slice(items, *from, *to)?.iter().step_by(*by));
        }
        (Step::Exists(path), Value::Array(items)) => {
            next.extend(items.iter().filter(|item| path.first(item).is_some()));
        }
        (Step::Filter(left, operator, right), Value::Array(items)) => {
            for item in items {
                if passes(item, left, *operator, right)? {
                    next.push(item);
                }
            }
        }
        _ => return None,
    }
    Some(())
}

fn length(items: &[Value]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// A part of a list; none where it reaches beyond it.
fn slice(items: &[Value], from: Option<i64>, to: Option<i64>) -> Option<&[Value]> {
    let place = |place: i64| if place < 0 { place + length(items) } else { place };
    let from = from.map_or(0, place);
    let to = to.map_or(length(items), place);
    if from == to {
        return Some(&[]);
    }
    items.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)
}

fn deep<'a>(value: &'a Value, next: &mut Vec<&'a Value>) {
    next.push(value);
    match value {
        Value::Object(fields) => fields.values().for_each(|inner| deep(inner, next)),
        Value::Array(items) => items.iter().for_each(|inner| deep(inner, next)),
        _ => {}
    }
}

/// Whether an item passes; none where what is compared cannot be.
fn passes(item: &Value, left: &Operand, operator: Operator, right: &Operand) -> Option<bool> {
    let (Some(left), Some(right)) = (side(item, left), side(item, right)) else { return Some(false) };
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?)?,
        (Value::Bool(left), Value::Bool(right))
            if matches!(operator, Operator::Equal | Operator::NotEqual) =>
        {
            left.cmp(right)
        }
        _ => return None,
    };
    Some(match operator {
        Operator::Equal => order == Ordering::Equal,
        Operator::NotEqual => order != Ordering::Equal,
        Operator::Less => order == Ordering::Less,
        Operator::LessOrEqual => order != Ordering::Greater,
        Operator::Greater => order == Ordering::Greater,
        Operator::GreaterOrEqual => order != Ordering::Less,
    })
}

fn side<'a>(item: &'a Value, operand: &'a Operand) -> Option<&'a Value> {
    match operand {
        Operand::Value(value) => Some(value),
        Operand::Path(path) => path.first(item),
    }
}
