//! Errors as Kubernetes says them: `Status` objects with a code, a reason, a message and causes.

use serde_json::{Map, Value, json};

/// The reasons that clients look at, each with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The request cannot be understood.
    BadRequest,
    /// No credentials, or wrong ones.
    Unauthorized,
    /// It must not be done.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// There is one already.
    AlreadyExists,
    /// It was changed since it was read, or others own what would be changed.
    Conflict,
    /// The changes asked for are not kept any more: list again.
    Expired,
    /// The content does not pass validation.
    Invalid,
    /// This resource does not do that.
    MethodNotAllowed,
    /// The client wants a form that is not served.
    NotAcceptable,
    /// The body is in a form that is not read.
    UnsupportedMediaType,
    /// The body is too large.
    RequestEntityTooLarge,
    /// Too much at once; later it may go through.
    TooManyRequests,
    /// Something broke in here.
    InternalError,
    /// Something broke, and the API gives it no reason.
    Unknown,
    /// It did not answer in time, and may have happened.
    Timeout,
    /// The server cannot answer now.
    ServiceUnavailable,
}

impl Reason {
    /// The text in `status.reason`; "" where there is none.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::Invalid => "Invalid",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::TooManyRequests => "TooManyRequests",
            Self::InternalError => "InternalError",
            Self::Unknown => "",
            Self::Timeout => "Timeout",
            Self::ServiceUnavailable => "ServiceUnavailable",
        }
    }

    /// The HTTP status.
    pub const fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Expired => 410,
            Self::RequestEntityTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::InternalError | Self::Unknown => 500,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 504,
        }
    }
}

/// One of several causes, with the field it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// For example `FieldValueInvalid`.
    pub reason: String,
    /// In words.
    pub message: String,
    /// The path of the field; "" where it is about none.
    pub field: String,
}

/// What the error is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The object's name.
    pub name: String,
    /// Its API group.
    pub group: String,
    /// Its resource, or its kind where the API says so.
    pub kind: String,
    /// Its uid.
    pub uid: String,
}

impl Subject {
    /// `resource.group "name"`, as messages have it.
    fn quoted(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(".{}", self.group) };
        format!("{}{group} {:?}", self.kind, self.name)
    }
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Why.
    pub reason: Reason,
    /// In words.
    pub message: String,
    /// About what.
    pub subject: Option<Box<Subject>>,
    /// The causes one by one.
    pub causes: Vec<Cause>,
    /// After how many seconds to try again.
    pub retry_after: Option<u32>,
    /// With which token an expired list can go on.
    pub continue_with: Option<String>,
    /// What the client should know besides.
    pub warnings: Vec<String>,
}

impl ApiError {
    /// An error about nothing in particular.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            subject: None,
            causes: Vec::new(),
            retry_after: None,
            continue_with: None,
            warnings: Vec::new(),
        }
    }

    /// The same, with these warnings before its own.
    #[must_use]
    pub fn warned(mut self, warnings: &[String]) -> Self {
        self.warnings.splice(0..0, warnings.iter().cloned());
        self
    }

    fn about(reason: Reason, subject: Subject, message: String) -> Self {
        Self { subject: Some(Box::new(subject)), ..Self::new(reason, message) }
    }

    /// The request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// There is no such object.
    pub fn not_found(subject: Subject) -> Self {
        let message = format!("{} not found", subject.quoted());
        Self::about(Reason::NotFound, subject, message)
    }

    /// There is such an object already.
    pub fn already_exists(subject: Subject) -> Self {
        let message = format!("{} already exists", subject.quoted());
        Self::about(Reason::AlreadyExists, subject, message)
    }

    /// It was changed since it was read.
    pub fn modified(subject: Subject) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(subject, why)
    }

    /// It must not be done.
    pub fn forbidden(subject: Subject, why: &str) -> Self {
        let message = format!("{} is forbidden: {why}", subject.quoted());
        Self::about(Reason::Forbidden, subject, message)
    }

    /// It cannot be done to this object as it is.
    pub fn conflict(subject: Subject, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {}: {why}", subject.quoted());
        Self::about(Reason::Conflict, subject, message)
    }

    /// The content does not pass validation; `details` is the list of all that is wrong, in words.
    pub fn invalid(subject: Subject, details: &str, causes: Vec<Cause>) -> Self {
        let message = format!("{} is invalid: {details}", subject.quoted());
        Self { causes, ..Self::about(Reason::Invalid, subject, message) }
    }

    /// The changes asked for are not kept any more.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(Reason::Expired, message)
    }

    /// The `Status` object.
    pub fn to_status(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.reason.code(),
        });
        if let Some(token) = &self.continue_with {
            status["metadata"]["continue"] = Value::String(token.clone());
        }
        if self.reason != Reason::Unknown {
            status["reason"] = self.reason.as_str().into();
        }
        let details = self.details();
        if self.subject.is_some() || !details.is_empty() {
            status["details"] = Value::Object(details);
        }
        status
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        let mut say = |name: &str, text: &str| {
            if !text.is_empty() {
                details.insert(name.to_owned(), Value::String(text.to_owned()));
            }
        };
        if let Some(subject) = &self.subject {
            say("name", &subject.name);
            say("group", &subject.group);
            say("kind", &subject.kind);
            say("uid", &subject.uid);
        }
        if !self.causes.is_empty() {
            details.insert("causes".to_owned(), self.causes.iter().map(Cause::to_json).collect());
        }
        if let Some(seconds) = self.retry_after {
            details.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        details
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut cause = json!({"reason": self.reason, "message": self.message});
        if !self.field.is_empty() {
            cause["field"] = Value::String(self.field.clone());
        }
        cause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widget() -> Subject {
        let (name, group, kind) = ("a".into(), "example.org".into(), "widgets".into());
        Subject { name, group, kind, uid: String::new() }
    }

    #[test]
    fn a_missing_object_is_named_with_its_group() {
        let status = ApiError::not_found(widget()).to_status();
        assert_eq!(status["message"], r#"widgets.example.org "a" not found"#);
        assert_eq!(status["reason"], "NotFound");
        assert_eq!(status["code"], 404);
        assert_eq!(status["details"], json!({"name": "a", "group": "example.org", "kind": "widgets"}));
    }

    #[test]
    fn the_core_group_has_no_dot() {
        let subject = Subject { group: String::new(), ..widget() };
        assert_eq!(ApiError::already_exists(subject).message, r#"widgets "a" already exists"#);
    }

    #[test]
    fn causes_are_listed_one_by_one() {
        let cause =
            Cause { reason: "FieldValueInvalid".into(), message: "no".into(), field: "spec.a".into() };
        let status = ApiError::invalid(widget(), "spec.a: no", vec![cause]).to_status();
        assert_eq!(status["message"], r#"widgets.example.org "a" is invalid: spec.a: no"#);
        let expected = json!([{"reason": "FieldValueInvalid", "message": "no", "field": "spec.a"}]);
        assert_eq!(status["details"]["causes"], expected);
    }

    #[test]
    fn an_error_without_a_reason_says_none() {
        let status = ApiError::new(Reason::Unknown, "it broke").to_status();
        assert_eq!((status.get("reason"), &status["code"]), (None, &json!(500)));
    }

    #[test]
    fn an_error_about_nothing_has_no_details() {
        assert_eq!(ApiError::bad_request("what?").to_status().get("details"), None);
        let busy = ApiError { retry_after: Some(1), ..ApiError::new(Reason::TooManyRequests, "later") };
        assert_eq!(busy.to_status()["details"], json!({"retryAfterSeconds": 1}));
    }
}
