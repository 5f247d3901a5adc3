//! Creation.

use http::StatusCode;
use serde_json::Value;

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::incoming::{Incoming, store_refused};
use super::modify::warning;
use super::objects::{converted, next_draft};
use super::options::{WriteKind, WriteOptions, invalid};
use crate::apply::track_update;
use crate::error::{ApiError, Reason};
use crate::lifecycle::{self, CreateError, Creation, Part, metadata};
use crate::store::{Expect, Key, WriteError};

/// How many names are tried for an object whose name is generated.
const MAX_NAMES: usize = 8;

/// How often a creation is tried again when its namespace or definition is written at the same time.
const MAX_TRIES: usize = 100;

impl Server {
    /// `create`: an object from the body of the request.
    pub(super) async fn create(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Create)?;
        let Incoming { object, warnings } = Incoming::read(call, &options)?;
        let owned = |server: &Self, object: Value| {
            let write = server.write(call, &options);
            track_update(None, object, &write.by(call))
        };
        warning(warnings, self.create_object(call, &object, &options, false, owned).await)
    }

    /// Creates this object, which has been read through its type; `owned` says who owns its fields, and `written_anew` whether
    /// the next write writes it anew, even if it changes nothing.
    pub(super) async fn create_object(
        &self,
        call: &Call,
        sent: &Value,
        options: &WriteOptions,
        written_anew: bool,
        owned: impl Fn(&Self, Value) -> Value,
    ) -> Result<Answer, ApiError> {
        let resource = &call.resource;
        let generates = metadata::text(sent, "name").is_empty();
        let creation = Creation { namespace: call.namespace.as_deref(), traits: resource.traits };
        let _alone = self.alone(resource).await;
        let (mut names, mut anew) = (0, false);
        for _ in 0..MAX_TRIES {
            let needs = self.grounds(call, metadata::text(sent, "name"), anew)?;
            let object = lifecycle::create(sent.clone(), creation, &mut self.source())
                .map_err(|error| unfit(call, sent.clone(), &error))?;
            let object = self.complete_new(call, object, sent, options, &owned)?;
            let warnings = resource.kind.warnings(&object, None);
            let name = metadata::text(&object, "name").to_owned();
            let key = Key::new(&resource.id, call.namespace(), &name);
            let outcome = match self.store().get(&key) {
                Some(_) => Err(WriteError::Exists),
                None if options.dry_run => Ok(Content::Object(resource.clone(), converted(resource, object))),
                None => {
                    let draft = next_draft(resource, object).written_anew(written_anew);
                    let written = self.put_with(resource, key, draft, Expect::Absent, needs).await;
                    written.map(|text| Content::ObjectText(resource.clone(), text))
                }
            };
            match outcome {
                Ok(content) => {
                    return Ok(Answer { code: StatusCode::CREATED, content, warnings });
                }
                Err(WriteError::Exists) if generates && names + 1 < MAX_NAMES => names += 1,
                Err(WriteError::Exists) if generates => return Err(no_name(call, sent)),
                Err(WriteError::Unfounded) => anew = true,
                Err(WriteError::Exists) => return Err(self.exists(call, &name)),
                Err(error) => return Err(store_refused(call, &name, &error)),
            }
        }
        Err(ApiError::modified(call.subject_named(metadata::text(sent, "name"))))
    }

    /// The error for an object that is there already, or still.
    fn exists(&self, call: &Call, name: &str) -> ApiError {
        let error = ApiError::already_exists(call.subject_named(name));
        let key = Key::new(&call.resource.id, call.namespace(), name);
        let ends = self.store().get(&key).is_some_and(|stored| metadata::is_ending(&stored.object.value()));
        if !ends {
            return error;
        }
        ApiError { message: format!("object is being deleted: {}", error.message), ..error }
    }

    /// A new object as it is to be stored.
    fn complete_new(
        &self,
        call: &Call,
        mut object: Value,
        sent: &Value,
        options: &WriteOptions,
        owned: impl Fn(&Self, Value) -> Value,
    ) -> Result<Value, ApiError> {
        let kind = &call.resource.kind;
        kind.default(&mut object);
        let mut object = owned(self, object);
        self.prepare(call, &mut object, None, options.dry_run)?;
        kind.complete(&mut object, sent);
        let errors = kind.check(&object, None, Part::Whole);
        if errors.is_empty() {
            return Ok(object);
        }
        Err(invalid(call.subject_of(&object, metadata::text(&object, "name")), &errors))
    }
}

/// Every name that was generated is taken.
fn no_name(call: &Call, sent: &Value) -> ApiError {
    let subject = call.subject_named(metadata::text(sent, "generateName"));
    let why = "the server was not able to generate a unique name for the object";
    ApiError { message: why.to_owned(), ..ApiError::already_exists(subject) }
}

/// Why a body cannot be created, as the API says it.
fn unfit(call: &Call, mut sent: Value, error: &CreateError) -> ApiError {
    match error {
        CreateError::NotAnObject | CreateError::OtherNamespace => ApiError::bad_request(error.to_string()),
        CreateError::VersionGiven => ApiError::new(Reason::Unknown, error.to_string()),
        CreateError::NoName => {
            let kind = &call.resource.kind;
            metadata::set(&mut sent, "namespace", call.namespace.clone().map(Into::into));
            kind.default(&mut sent);
            let errors = kind.check(&sent, None, Part::Whole);
            invalid(call.subject_of(&sent, ""), &errors)
        }
    }
}
