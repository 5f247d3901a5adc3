//! The CEL rules of the CRDs, each with the message that a person reads when it refuses a manifest.

use kube::core::{Message, Rule};
use serde_json::{Value, json};

/// One CEL rule and its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CelRule {
    /// The expression; true accepts.
    pub rule: &'static str,
    /// What the person reads who is refused.
    pub message: &'static str,
}

impl CelRule {
    /// As it stands in a schema's `x-kubernetes-validations`.
    pub fn to_value(&self) -> Value {
        json!({"rule": self.rule, "message": self.message})
    }
}

impl From<CelRule> for Rule {
    fn from(rule: CelRule) -> Self {
        Self::new(rule.rule).message(Message::Message(rule.message.to_owned()))
    }
}

/// A quantity must be above zero.
pub const QUANTITY_POSITIVE: CelRule = CelRule {
    rule: "quantity(string(self)).isGreaterThan(quantity('0'))",
    message: "must be greater than zero",
};

/// A capacity only grows.
pub const CAPACITY_GROWS: CelRule = CelRule {
    rule: "!quantity(string(self)).isLessThan(quantity(string(oldSelf)))",
    message: "capacity can only grow",
};

/// A number of copies, or a majority.
pub const ACKNOWLEDGED_COPIES: CelRule = CelRule {
    rule: "type(self) == int ? self >= 1 && self <= 512 : self == 'Majority'",
    message: "must be a number from 1 to 512, or Majority",
};
