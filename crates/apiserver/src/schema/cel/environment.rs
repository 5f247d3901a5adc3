//! The functions and types that rules may use, and the bound on what they may do.

use std::cell::Cell;
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::objects::{Key, Opaque, OptionalValue, TryIntoValue as _};
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};
use muster_quantity::Quantity;

use super::absorb;
use super::rewrite::{AS_TEXT, CHECK_QUANTITY, IN_UTC, IS_QUANTITY, SELECT_OPTIONAL, TICK};

/// Steps of loops that one rule may take. The server allows a rule a million units of cost; a step takes four or more.
pub(super) const MAX_STEPS_OF_A_RULE: u64 = 250_000;
/// Steps of loops that all rules may take for one object, in the same measure.
pub(super) const MAX_STEPS_OF_AN_OBJECT: u64 = 2_500_000;

/// The text by which an expression that took too many steps is known.
pub(super) const TOO_MANY_STEPS: &str = "operation cancelled: actual cost limit exceeded";

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static CONTEXT: Context<'static> = context();
}

/// The type of a value, as a value.
#[derive(Debug, PartialEq, Eq)]
struct TypeName(&'static str);

impl Opaque for TypeName {
    fn runtime_type_name(&self) -> &'static str {
        "type"
    }
}

/// The values of variables, for as many expressions as see the same: to set one takes a copy.
pub(super) struct Scope<'a>(Context<'a>);

impl Scope<'_> {
    /// The same values, and one more.
    pub(super) fn with(&self, name: &str, value: Value) -> Scope<'_> {
        let mut inner = self.0.new_inner_scope();
        inner.add_variable_from_value(name, value);
        Scope(inner)
    }

    /// Evaluates an expression; also says how many steps it took.
    pub(super) fn evaluate(&self, expr: &IdedExpr) -> (Result<Value, ExecutionError>, u64) {
        STEPS.set(0);
        let result = Value::resolve(expr, &self.0);
        (result, STEPS.get() + 1)
    }
}

/// Does something in a scope without variables.
pub(super) fn within<R>(run: impl FnOnce(&Scope<'_>) -> R) -> R {
    CONTEXT.with(|context| run(&Scope(context.new_inner_scope())))
}

/// A value that may be absent.
pub(super) fn optional(value: Option<Value>) -> Value {
    Value::Opaque(Arc::new(value.map_or_else(OptionalValue::none, OptionalValue::of)))
}

fn context() -> Context<'static> {
    let mut context = Context::default().with_all();
    absorb::register(&mut context);
    context.add_function(TICK, tick);
    context.add_function(SELECT_OPTIONAL, select_optional);
    context.add_function(CHECK_QUANTITY, |text: Arc<String>| match text.parse::<Quantity>() {
        Ok(_) => Ok(Value::String(text)),
        Err(error) => Err(ExecutionError::function_error("quantity", error)),
    });
    context.add_function(IS_QUANTITY, |text: Arc<String>| text.parse::<Quantity>().is_ok());
    context.add_function(AS_TEXT, |value: Value| -> Result<Value, ExecutionError> {
        Ok(if let Value::Bool(value) = value { Value::String(Arc::new(value.to_string())) } else { value })
    });
    context.add_function(IN_UTC, |value: Value| -> Result<Value, ExecutionError> {
        Ok(if let Value::String(text) = &value { Value::String(Arc::new(in_utc(text))) } else { value })
    });
    context.add_function("bool", to_bool);
    context.add_function("dyn", |value: Value| -> Result<Value, ExecutionError> { Ok(value) });
    context.add_function("type", |value: Value| -> Result<Value, ExecutionError> {
        Ok(type_value(type_name(&value)))
    });
    for name in ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type"] {
        context.add_variable_from_value(name, type_value(name));
    }
    context.add_variable_from_value("google.protobuf.Timestamp", type_value("google.protobuf.Timestamp"));
    context
}

/// A time in UTC; what is none stays, and is refused by whoever reads it.
pub(super) fn in_utc(text: &str) -> String {
    text.parse::<jiff::Timestamp>().map_or_else(|_| text.to_owned(), |time| time.to_string())
}

fn to_bool(value: Value) -> Result<Value, ExecutionError> {
    let Value::String(text) = &value else {
        return if matches!(value, Value::Bool(_)) { Ok(value) } else { Err(ExecutionError::NoSuchOverload) };
    };
    match text.as_str() {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
        _ => Err(ExecutionError::function_error("bool", "type conversion error from 'string' to 'bool'")),
    }
}

fn tick(goes_on: Value) -> Result<Value, ExecutionError> {
    STEPS.set(STEPS.get() + 1);
    if STEPS.get() > MAX_STEPS_OF_A_RULE {
        return Err(ExecutionError::function_error(TICK, TOO_MANY_STEPS));
    }
    Ok(goes_on)
}

fn select_optional(from: Value, field: Value) -> Result<Value, ExecutionError> {
    let Value::String(field) = field else { return Err(ExecutionError::NoSuchOverload) };
    let from = match &from {
        Value::Opaque(_) => match <&OptionalValue>::try_from(&from)?.value() {
            None => return Ok(optional(None)),
            Some(value) => value.clone(),
        },
        _ => from,
    };
    let Value::Map(map) = from else { return Err(ExecutionError::NoSuchOverload) };
    Ok(optional(map.map.get(&Key::String(field)).cloned()))
}

fn type_value(name: &'static str) -> Value {
    Value::Opaque(Arc::new(TypeName(name)))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Null => "null_type",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Duration(_) => "google.protobuf.Duration",
        _ => "type",
    }
}

/// Calls a function of one argument: the way to values that only functions make.
pub(super) fn call(function: &'static str, argument: &str) -> Option<Value> {
    use kube_cel::cel::common::ast::{CallExpr, Expr, LiteralValue};
    let argument = IdedExpr { id: 1, expr: Expr::Literal(LiteralValue::String(argument.into())) };
    let (target, func_name) = match function.split_once('.') {
        None => (None, function),
        Some((target, name)) => {
            (Some(Box::new(IdedExpr { id: 2, expr: Expr::Ident(target.to_owned()) })), name)
        }
    };
    let call = CallExpr { func_name: func_name.to_owned(), target, args: vec![argument] };
    let expr = IdedExpr { id: 3, expr: Expr::Call(call) };
    CONTEXT.with(|context| Value::resolve(&expr, context)).ok()?.try_into_value().ok()
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::parser::Parser;

    use super::super::names;
    use super::*;

    /// Every function that a rule may name is there, alone or in one of the groups.
    #[test]
    fn every_function_is_there() {
        let missing: Vec<_> = names::all()
            .filter(|name| {
                let calls = [format!("{name}()"), format!("sets.{name}()"), format!("lists.{name}()")]
                    .into_iter()
                    .chain(["strings", "optional", "format", "ip"].map(|group| format!("{group}.{name}()")));
                calls.into_iter().all(|call| {
                    let expr = Parser::default().parse(&call).unwrap();
                    let (result, _) = within(|scope| scope.evaluate(&expr));
                    matches!(result, Err(ExecutionError::UndeclaredReference(_)))
                })
            })
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
