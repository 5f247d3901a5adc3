//! A rule, compiled.

use std::fmt::Write as _;

use kube_cel::cel::parser::Parser;
use kube_cel::cel::{IdedExpr, parser::ParseError};

use super::rewrite;

/// An expression, or why it is none.
pub(super) type Expression = Result<IdedExpr, String>;

/// A rule that can be evaluated, or why it cannot.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The rule; nothing if it is empty.
    pub(super) rule: Option<Expression>,
    /// The expression that gives the message.
    pub(super) message: Option<Expression>,
    /// Whether the rule looks at what was before.
    pub(super) uses_old_self: bool,
}

impl Compiled {
    /// Compiles a rule and its message.
    pub(crate) fn new(rule: &str, message: &str, optional_old_self: bool) -> Self {
        let compile = |text: &str| (!text.trim().is_empty()).then(|| compile(text, optional_old_self));
        let rule = compile(rule);
        let uses_old_self = matches!(&rule, Some(Ok(rule)) if rule.references().has_variable("oldSelf"));
        Self { rule, message: compile(message), uses_old_self }
    }
}

fn compile(text: &str, optional_old_self: bool) -> Expression {
    let parsed = Parser::default().enable_optional_syntax(true).parse(text).map_err(|errors| {
        let texts: Vec<_> = errors.errors.iter().map(|error| describe(text, error)).collect();
        texts.join("\n")
    })?;
    rewrite::rewrite(parsed, optional_old_self)
}

/// An error with the line that it is in, and a mark under the place.
fn describe(text: &str, error: &ParseError) -> String {
    let (line, column) = error.pos;
    let mut out = format!("ERROR: <input>:{line}:{column}: {}", error.msg);
    let index = usize::try_from(line - 1).unwrap_or_default();
    if let Some(source) = text.lines().nth(index) {
        let width = usize::try_from(column).unwrap_or_default();
        _ = write!(out, "\n | {source}\n | {:.>width$}", "^");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_cannot_be_read_says_where() {
        let compiled = Compiled::new("self ==", "", false);
        let error = compiled.rule.unwrap().unwrap_err();
        assert!(error.starts_with("ERROR: <input>:1:"), "{error}");
    }

    #[test]
    fn what_would_be_answered_wrongly_is_refused() {
        for text in [
            "self.getHours('Europe/Berlin') == 1",
            "self.all(x, x.getDate('+02:00') == 1)",
            "format.named('a').hasValue()",
        ] {
            let error = Compiled::new(text, "", false).rule.unwrap().unwrap_err();
            assert!(error.ends_with("is not supported"), "{text}: {error}");
        }
        assert!(Compiled::new("self.getHours() == 1", "", false).rule.unwrap().is_ok());
    }

    #[test]
    fn rules_about_changes_are_known() {
        assert!(Compiled::new("self == oldSelf", "", false).uses_old_self);
        assert!(!Compiled::new("self == 1", "", false).uses_old_self);
        assert!(Compiled::new(" ", "", false).rule.is_none());
    }
}
