//! The outcome of checks: what is wrong, and how many checks there were.

use super::super::field_error::FieldError;
use super::super::path::Path;

/// Something wrong. The server takes two problems for one if their messages are equal, so the message is kept even
/// where the error does not show it.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) error: FieldError,
}

impl Problem {
    /// A problem whose message is its detail.
    pub(super) fn invalid(path: &str, value: impl Into<serde_json::Value>, message: String) -> Self {
        Self { error: FieldError::invalid(&field(path), value, message.clone()), message }
    }

    /// A value of another type than `wanted`.
    pub(super) fn wrong_type(path: &str, wanted: &str, got: &str) -> Self {
        let message = format!("{path} in body must be of type {wanted}: {}", super::super::go::quote(got));
        Self { error: FieldError::type_invalid(&field(path), got, message.clone()), message }
    }

    /// A problem that the server reports without a field.
    pub(super) fn of_the_whole(message: String) -> Self {
        Self { error: FieldError::invalid(&Path::root(), "", message.clone()), message }
    }
}

/// The field that a path of the validator names.
pub(super) fn field(path: &str) -> Path {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => Path::root(),
        path => Path::new(path),
    }
}

/// Problems, and the number of checks.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    problems: Vec<Problem>,
    pub(super) passed: usize,
}

impl From<Problem> for Outcome {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem], passed: 0 }
    }
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Forgets what is wrong, not how much was checked.
    pub(super) fn forgive(&mut self) {
        self.problems.clear();
    }

    pub(super) fn add(&mut self, problem: Problem) {
        if self.problems.iter().all(|known| known.message != problem.message) {
            self.problems.push(problem);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        other.problems.into_iter().for_each(|problem| self.add(problem));
        self.passed += other.passed;
    }

    pub(super) fn merge_passed(&mut self, other: Self) {
        self.merge(other);
        self.pass();
    }

    pub(super) fn pass(&mut self) {
        self.passed += 1;
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.problems.into_iter().map(|problem| problem.error).collect()
    }
}
