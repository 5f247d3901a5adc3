//! How a write is asked for: dry runs, unknown fields, and who the writer is.

use serde_json::Value;

use super::call::Call;
use crate::apply::manager_name;
use crate::error::{ApiError, Cause, Subject};
use crate::request::query::FieldValidation;
use crate::schema::{FieldError, Path, aggregate};

/// The longest name of a writer, as on kube-apiserver.
const MAX_MANAGER_BYTES: usize = 128;

/// How a write is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WriteOptions {
    pub(super) dry_run: bool,
    pub(super) validation: FieldValidation,
    /// The name under which the writer owns fields.
    pub(super) manager: String,
    /// Whether an apply takes what others own.
    pub(super) force: bool,
}

/// What kind of write it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    Create,
    Update,
    Patch,
    Apply,
}

impl WriteKind {
    const fn options(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Patch | Self::Apply => "PatchOptions",
        }
    }
}

impl WriteOptions {
    /// The options of this request, or all that is wrong with them.
    pub(super) fn of(call: &Call, kind: WriteKind) -> Result<Self, ApiError> {
        let mut errors = Vec::new();
        let given = call.query.get("fieldManager").unwrap_or_default();
        let forced = call.query.has("force");
        if kind == WriteKind::Apply && given.is_empty() {
            errors.push(FieldError::required(&Path::new("fieldManager"), "is required for apply patch"));
        }
        if kind == WriteKind::Patch && forced {
            errors
                .push(FieldError::forbidden(&Path::new("force"), "may not be specified for non-apply patch"));
        }
        check_manager(given, &mut errors);
        let dry_run = dry_run(call, &mut errors);
        let validation = validation(call, &mut errors);
        if !errors.is_empty() {
            return Err(invalid_options(kind.options(), &errors));
        }
        let manager = manager_name(given, call.header("user-agent"));
        Ok(Self { dry_run, validation, manager, force: call.query.flag("force") })
    }
}

/// Whether nothing shall be written.
pub(super) fn dry_run(call: &Call, errors: &mut Vec<FieldError>) -> bool {
    let given: Vec<&str> = call.query.all("dryRun").collect();
    if given.iter().any(|value| *value != "All") {
        errors.push(unsupported("dryRun", given, &["All"]));
        return false;
    }
    !given.is_empty()
}

fn validation(call: &Call, errors: &mut Vec<FieldError>) -> FieldValidation {
    match call.query.get("fieldValidation") {
        None | Some("Warn") => FieldValidation::Warn,
        Some("Ignore") => FieldValidation::Ignore,
        Some("Strict") => FieldValidation::Strict,
        Some(other) => {
            errors.push(unsupported("fieldValidation", other, &["", "Ignore", "Strict", "Warn"]));
            FieldValidation::Warn
        }
    }
}

fn unsupported(name: &str, value: impl Into<Value>, allowed: &[&str]) -> FieldError {
    let allowed: Vec<String> = allowed.iter().map(|&value| value.to_owned()).collect();
    FieldError::not_supported(&Path::new(name), value, &allowed)
}

fn check_manager(given: &str, errors: &mut Vec<FieldError>) {
    let path = Path::new("fieldManager");
    if given.len() > MAX_MANAGER_BYTES {
        errors.push(FieldError::too_long(&path, i64::try_from(MAX_MANAGER_BYTES).unwrap_or(i64::MAX)));
    }
    for (at, character) in given.char_indices().filter(|(_, character)| character.is_control()) {
        let wrong = format!("invalid character U+{:04X} (at position {at})", u32::from(character));
        errors.push(FieldError::invalid(&path, given, wrong));
    }
}

/// The error for options that are wrong.
pub(super) fn invalid_options(kind: &str, errors: &[FieldError]) -> ApiError {
    let subject = Subject { group: "meta.k8s.io".to_owned(), kind: kind.to_owned(), ..Subject::default() };
    invalid(subject, errors)
}

/// The error for content that is wrong.
pub(super) fn invalid(subject: Subject, errors: &[FieldError]) -> ApiError {
    let causes = errors.iter().map(|error| {
        let cause = error.cause();
        Cause { reason: cause.reason.to_owned(), message: cause.message, field: cause.field }
    });
    ApiError::invalid(subject, &aggregate(errors), causes.collect())
}
