//! Errors of evaluation, in the server's words.

use kube_cel::cel::{ExecutionError, Value};

use super::environment::TOO_MANY_STEPS;

/// Why a rule gave no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A function or operator does not know values of these types.
    NoSuchOverload,
    /// It took too many steps.
    TooManySteps,
    /// Anything else.
    Other(String),
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        use ExecutionError as E;
        match error {
            E::NoSuchKey(key) => Self::Other(format!("no such key: {key}")),
            E::IndexOutOfBounds(index) => Self::Other(format!("index out of bounds: {}", shown(&index))),
            E::DivisionByZero(_) => Self::Other("division by zero".to_owned()),
            E::RemainderByZero(_) => Self::Other("modulus by zero".to_owned()),
            E::Overflow(_, Value::UInt(_), _) => Self::Other("unsigned integer overflow".to_owned()),
            E::Overflow(..) => Self::Other("integer overflow".to_owned()),
            E::UndeclaredReference(name) => {
                Self::Other(format!("undeclared reference to '{name}' (in container '')"))
            }
            E::FunctionError { message, .. } if message == TOO_MANY_STEPS => Self::TooManySteps,
            E::FunctionError { function, message } => Self::Other(of_function(&function, message)),
            _ => Self::NoSuchOverload,
        }
    }
}

/// What a function says, where the server's says it differently.
fn of_function(function: &str, message: String) -> String {
    match function {
        "min" | "max" if message.ends_with("on empty list") => format!("{function} called on empty list"),
        "charAt" | "substring" => {
            let index = message.split_once("index ").and_then(|(_, rest)| rest.split(' ').next());
            index.map_or(message.clone(), |index| format!("index out of range: {index}"))
        }
        _ => message,
    }
}

fn shown(index: &Value) -> String {
    match index {
        Value::Int(index) => index.to_string(),
        Value::UInt(index) => index.to_string(),
        other => format!("{other:?}"),
    }
}
