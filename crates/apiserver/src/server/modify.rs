//! Changes of what is there: the same way for a replacement, a patch and an apply.

use http::StatusCode;
use serde_json::{Map, Value};

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::incoming::{Incoming, store_refused};
use super::objects;
use super::options::{WriteKind, WriteOptions, invalid};
use crate::apply::{keep_times_of_equal, track_update};
use crate::error::{ApiError, Reason};
use crate::lifecycle::{self, UpdateError, Updated, metadata};
use crate::schema::{FieldError, Path};
use crate::store::{Expect, Stored, WriteError};

/// How often a change is made again on what someone else has written in between.
const MAX_TRIES: usize = 100;

/// What is to take the place of an object, who owns its fields being settled.
pub(super) struct Proposal {
    pub(super) object: Value,
    pub(super) warnings: Vec<String>,
    /// What an apply [leaves empty](objects::left_empty) in the metadata.
    pub(super) left_empty: Map<String, Value>,
}

impl Proposal {
    pub(super) fn new(object: Value, warnings: Vec<String>) -> Self {
        Self { object, warnings, left_empty: Map::new() }
    }
}

impl Server {
    /// `update`: the object in the body takes the place of what is there.
    pub(super) async fn update(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = WriteOptions::of(call, WriteKind::Update)?;
        let Incoming { object, warnings } = Incoming::read(call, &options)?;
        warning(warnings, self.update_to(call, &options, object).await)
    }

    async fn update_to(
        &self,
        call: &Call,
        options: &WriteOptions,
        mut object: Value,
    ) -> Result<Answer, ApiError> {
        check_identity(call, &mut object)?;
        if call.resource.create_on_update && self.store().get(&call.key()).is_none() {
            let owned = |server: &Self, object: Value| {
                track_update(None, object, &server.write(call, options).by(call))
            };
            return self.create_object(call, &object, options, false, owned).await;
        }
        let propose = |server: &Self, old: &Value| {
            // Whether it is the same object at all comes first.
            let uid = metadata::text(&object, "uid");
            if uid.is_empty() || uid == metadata::text(old, "uid") {
                check_version(call, &object)?;
            }
            let mut object = object.clone();
            call.resource.kind.default(&mut object);
            let object = track_update(Some(old), object, &server.write(call, options).by(call));
            Ok(Proposal::new(object, Vec::new()))
        };
        self.modify(call, options, propose).await
    }

    /// Makes of what is there what `propose` says, again if someone else was faster.
    pub(super) async fn modify(
        &self,
        call: &Call,
        options: &WriteOptions,
        propose: impl Fn(&Self, &Value) -> Result<Proposal, ApiError>,
    ) -> Result<Answer, ApiError> {
        for _ in 0..MAX_TRIES {
            let Some(stored) = self.store().get(&call.key()) else {
                return Err(ApiError::not_found(call.subject()));
            };
            match self.try_modify(call, options, &stored, &propose).await? {
                Ok(answer) => return Ok(answer),
                Err(WriteError::Changed) => {}
                Err(error) => return Err(store_refused(call, call.name(), &error)),
            }
        }
        Err(ApiError::modified(call.subject()))
    }

    async fn try_modify(
        &self,
        call: &Call,
        options: &WriteOptions,
        stored: &Stored,
        propose: impl Fn(&Self, &Value) -> Result<Proposal, ApiError>,
    ) -> Result<Result<Answer, WriteError>, ApiError> {
        let (resource, part) = (&call.resource, call.part());
        let _alone = self.alone(resource).await;
        let old = objects::load_stored(resource, stored);
        let Proposal { object, mut warnings, left_empty } = propose(self, &old)?;
        let written_anew = !left_empty.is_empty();
        let next = self.complete(call, options, object, &old).map_err(|error| error.warned(&warnings))?;
        warnings.extend(resource.kind.warnings(&next, Some(&old)));
        let object = |object| Content::Object(resource.clone(), object);
        let write = async |draft| {
            let written = self.put_with(resource, call.key(), draft, Expect::At(stored.revision), Vec::new());
            written.await.map(|text| Content::ObjectText(resource.clone(), text))
        };
        let content = match lifecycle::settle(&old, next, part, resource.traits) {
            Updated::Same if options.dry_run => Ok(object(old)),
            Updated::Same if written_anew || objects::is_stored_otherwise(resource, stored, &old) => {
                write(objects::draft(resource, &old).written_anew(written_anew)).await
            }
            Updated::Same => Ok(object(old)),
            Updated::Changed(mut next) if lifecycle::ends(&next) && !resource.kind.is_held(&next) => {
                // What is not stored any more is shown as it is, with what is empty.
                left_empty.into_iter().for_each(|(name, value)| metadata::set(&mut next, &name, Some(value)));
                // Its last state is the one before: that is what watchers are told.
                let removed = if options.dry_run {
                    Ok(())
                } else {
                    self.remove(resource, &call.key(), old, stored.revision).await.map(drop)
                };
                removed.map(|()| object(next))
            }
            Updated::Changed(next) if options.dry_run => Ok(object(objects::converted(resource, next))),
            Updated::Changed(next) => {
                write(objects::next_draft(resource, next).written_anew(written_anew)).await
            }
        };
        Ok(content.map(|content| Answer { code: StatusCode::OK, content, warnings }))
    }

    /// What is to take the place of an object, as it is to be stored.
    fn complete(
        &self,
        call: &Call,
        options: &WriteOptions,
        mut object: Value,
        old: &Value,
    ) -> Result<Value, ApiError> {
        let (resource, part) = (&call.resource, call.part());
        read_version(&mut object)?;
        let fixed = check_deletion(call, &object, old);
        let mut next = lifecycle::update(old, object, part, resource.traits)
            .map_err(|error| not_updated(call, &error))?;
        fixed?;
        self.prepare(call, &mut next, Some(old), options.dry_run)?;
        keep_times_of_equal(old, &mut next);
        let errors = resource.kind.check(&next, Some(old), part);
        if errors.is_empty() {
            return Ok(next);
        }
        Err(invalid(call.subject_of(&next, call.name()), &errors))
    }
}

/// An outcome with warnings before those that it has.
pub(super) fn warning(warnings: Vec<String>, outcome: Result<Answer, ApiError>) -> Result<Answer, ApiError> {
    match outcome {
        Ok(mut answer) => {
            answer.warnings.splice(0..0, warnings);
            Ok(answer)
        }
        Err(error) => Err(error.warned(&warnings)),
    }
}

/// A body must be of the object that its path is about.
pub(super) fn check_identity(call: &Call, object: &mut Value) -> Result<(), ApiError> {
    let name = metadata::text(object, "name");
    if name.is_empty() {
        let path = call.name();
        let why =
            format!("the name of the object ({path} based on URL) was undeterminable: name must be provided");
        return Err(ApiError::bad_request(why));
    }
    if name != call.name() {
        let path = call.name();
        let message = format!("the name of the object ({name}) does not match the name on the URL ({path})");
        return Err(ApiError::bad_request(message));
    }
    let namespace = metadata::text(object, "namespace");
    if !namespace.is_empty() && namespace != call.namespace() {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(message));
    }
    if call.resource.traits.namespaced {
        metadata::set(object, "namespace", Some(call.namespace().into()));
    }
    Ok(())
}

/// "0" is as good as no version; what is no number is none.
fn read_version(object: &mut Value) -> Result<(), ApiError> {
    let version = metadata::text(object, "resourceVersion");
    if version.is_empty() {
        return Ok(());
    }
    match version.parse::<u64>() {
        Ok(0) => metadata::set(object, "resourceVersion", None),
        Ok(_) => {}
        Err(_) => {
            let why = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
            return Err(ApiError::new(Reason::Unknown, why));
        }
    }
    Ok(())
}

/// Where kube-apiserver keeps the object: its messages say so.
fn place(call: &Call) -> String {
    let group = if call.resource.kind.is_custom() { &*call.resource.group } else { "" };
    let parts = [group, &call.resource.plural, call.namespace(), call.name()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// Some kinds are changed only by who has seen what is there.
pub(super) fn check_version(call: &Call, object: &Value) -> Result<(), ApiError> {
    let version = metadata::text(object, "resourceVersion");
    if call.resource.unconditional_update || !matches!(version, "" | "0") {
        return Ok(());
    }
    let path = Path::new("metadata.resourceVersion");
    let error =
        FieldError::invalid_shown(&path, Value::Null, "0".to_owned(), "must be specified for an update");
    Err(invalid(call.subject(), &[error]))
}

/// What a client cannot change, although it may leave it away.
fn check_deletion(call: &Call, object: &Value, old: &Value) -> Result<(), ApiError> {
    let errors = ["deletionTimestamp", "deletionGracePeriodSeconds"].into_iter().filter_map(|name| {
        let given = metadata::field(object, name).filter(|given| !given.is_null())?;
        let other = Some(given) != metadata::field(old, name);
        let path = || Path::new("metadata").child(name);
        other.then(|| FieldError::invalid(&path(), given.clone(), "field is immutable"))
    });
    let errors: Vec<FieldError> = errors.collect();
    if errors.is_empty() {
        return Ok(());
    }
    // kube-apiserver looks twice, and says it twice.
    Err(invalid(call.subject_by_kind(call.name()), &[errors.clone(), errors].concat()))
}

/// Why a body cannot replace what is there, as the API says it.
fn not_updated(call: &Call, error: &UpdateError) -> ApiError {
    match error {
        UpdateError::NotAnObject => ApiError::bad_request(error.to_string()),
        UpdateError::OtherUid { .. } => {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: {error}",
                place(call)
            );
            ApiError::conflict(call.subject(), &why)
        }
        UpdateError::OlderVersion => ApiError::modified(call.subject()),
    }
}
