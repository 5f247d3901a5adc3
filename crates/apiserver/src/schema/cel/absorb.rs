//! Errors that do not matter: what is true whatever a part of it gives is true even if that part gives an error.
//!
//! The evaluator ends at the first error. These functions take expressions, not values, and go on.

use std::cell::RefCell;

use kube_cel::cel::{Context, ExecutionError, FunctionContext, Value};

use super::environment::TOO_MANY_STEPS;

/// `a || b`
pub(super) const OR: &str = "@or";
/// `a && b`
pub(super) const AND: &str = "@and";
/// A loop that looks for something true.
pub(super) const ANY: &str = "@any";
/// A step of such a loop.
pub(super) const ANY_STEP: &str = "@anyStep";
/// A loop that looks for something false.
pub(super) const ALL: &str = "@all";
/// A step of such a loop.
pub(super) const ALL_STEP: &str = "@allStep";

type Answer = Result<Value, ExecutionError>;

thread_local! {
    /// The first error of each loop that runs, the innermost last.
    static ERRORS: RefCell<Vec<Option<ExecutionError>>> = const { RefCell::new(Vec::new()) };
}

/// Makes the functions known.
pub(super) fn register(context: &mut Context<'_>) {
    context.add_function(OR, |call: &FunctionContext<'_, '_>| either(call, true));
    context.add_function(AND, |call: &FunctionContext<'_, '_>| either(call, false));
    context.add_function(ANY, |call: &FunctionContext<'_, '_>| whole(call, true));
    context.add_function(ALL, |call: &FunctionContext<'_, '_>| whole(call, false));
    context.add_function(ANY_STEP, |call: &FunctionContext<'_, '_>| step(call, true));
    context.add_function(ALL_STEP, |call: &FunctionContext<'_, '_>| step(call, false));
}

fn evaluate(call: &FunctionContext<'_, '_>, index: usize) -> Answer {
    let expr = call.args.get(index).ok_or(ExecutionError::MissingArgumentOrTarget)?;
    match call.ptx.resolve(expr)? {
        value @ Value::Bool(_) => Ok(value),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// The value that decides, if either part has it; otherwise the first error, if there is one.
fn either(call: &FunctionContext<'_, '_>, deciding: bool) -> Answer {
    let left = evaluate(call, 0);
    if left == Ok(Value::Bool(deciding)) || left.as_ref().is_err_and(ends_all) {
        return left;
    }
    let right = evaluate(call, 1);
    if right == Ok(Value::Bool(deciding)) {
        return right;
    }
    left.and(right)
}

/// The value of a loop, unless it did not find what decides and there was an error on the way.
fn whole(call: &FunctionContext<'_, '_>, deciding: bool) -> Answer {
    ERRORS.with_borrow_mut(|errors| errors.push(None));
    let value = evaluate(call, 0);
    let error = ERRORS.with_borrow_mut(Vec::pop).flatten();
    match (value, error) {
        (Ok(value), Some(error)) if value != Value::Bool(deciding) => Err(error),
        (value, _) => value,
    }
}

/// The value of a step, or what decides nothing.
fn step(call: &FunctionContext<'_, '_>, deciding: bool) -> Answer {
    match evaluate(call, 0) {
        Err(error) if !ends_all(&error) => {
            ERRORS.with_borrow_mut(|errors| {
                if let Some(first) = errors.last_mut() {
                    first.get_or_insert(error);
                }
            });
            Ok(Value::Bool(!deciding))
        }
        value => value,
    }
}

fn ends_all(error: &ExecutionError) -> bool {
    matches!(error, ExecutionError::FunctionError { message, .. } if message == TOO_MANY_STEPS)
}
