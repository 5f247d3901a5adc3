//! The `scale` of an object is read and written, whatever its kind.

use http::StatusCode;
use serde_json::{Value, json};

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::modify::{Proposal, check_identity};
use super::objects;
use super::options::{WriteKind, WriteOptions, invalid};
use super::patch::not_applied;
use super::scale_sent::{Sent, check_applied, check_applied_count};
use super::scaled::{API_VERSION, owned_at, scale_of, set};
use crate::apply::{FieldSet, Typing, Typings, Write, apply, owners_after_scale, track_update};
use crate::error::{ApiError, Reason, Subject};
use crate::lifecycle::{Source, metadata};
use crate::registry::ScalePaths;
use crate::schema::{FieldError, Path};

impl Server {
    /// The scale of an object.
    pub(super) fn get_scale(&self, call: &Call, paths: &ScalePaths) -> Result<Answer, ApiError> {
        let stored = self.store().get(&call.key()).ok_or_else(|| ApiError::not_found(call.subject()))?;
        let object = objects::load_stored(&call.resource, &stored);
        let scale = without_owners(scale_of(&object, &call.resource, paths)?);
        Ok(Answer::ok(Content::Scale(call.resource.clone(), scale)))
    }

    /// Replaces, patches or applies the scale of an object.
    pub(super) async fn set_scale(
        &self,
        call: &Call,
        paths: &ScalePaths,
        verb: &str,
    ) -> Result<Answer, ApiError> {
        let sent = Sent::of(call, verb)?;
        let kind = match &sent {
            Sent::Whole(_) => WriteKind::Update,
            Sent::Patch(_) => WriteKind::Patch,
            Sent::Applied(_) => WriteKind::Apply,
        };
        let options = WriteOptions::of(call, kind)?;
        let whole = Call { subresource: None, ..call.clone() };
        let propose = |server: &Self, old: &Value| server.rescale(call, paths, &sent, &options, old);
        let answer = self.modify(&whole, &options, propose).await?;
        let (resource, object) = match answer.content {
            Content::Object(resource, object) => (resource, object),
            Content::ObjectText(resource, text) => {
                (resource, serde_json::from_slice(&text).unwrap_or_default())
            }
            _ => return Ok(answer),
        };
        let scale = without_owners(scale_of(&object, &resource, paths)?);
        Ok(Answer {
            code: StatusCode::OK,
            content: Content::Scale(resource, scale),
            warnings: answer.warnings,
        })
    }

    /// The object with the scale that was sent.
    fn rescale(
        &self,
        call: &Call,
        paths: &ScalePaths,
        sent: &Sent,
        options: &WriteOptions,
        old: &Value,
    ) -> Result<Proposal, ApiError> {
        let scale = scale_of(old, &call.resource, paths)?;
        let typings = Typings::from([(API_VERSION.to_owned(), Typing::deduced())]);
        let write = Write {
            typings: &typings,
            api_version: API_VERSION,
            kind: "Scale",
            subresource: "scale",
            manager: &options.manager,
            reset: &FieldSet::new(),
            empty: &json!({}),
            now: self.source().now(),
        };
        let (tracked, warnings) = if let Sent::Applied(config) = sent {
            (applied_scale(call, &scale, config, options.force, &write)?, Vec::new())
        } else {
            let (mut wanted, warnings) = sent.on(call, options, &scale)?;
            check(call, old, &mut wanted, sent).map_err(|error| error.warned(&warnings))?;
            let untyped = call.resource.kind.is_custom() && wanted.get("kind").is_none();
            let tracked = track_update(Some(&scale), wanted, &write);
            (if untyped { without_owners(tracked) } else { tracked }, warnings)
        };
        let mut object = old.clone();
        let replicas = tracked.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into());
        set(&mut object, &paths.spec, replicas);
        let version = call.resource.api_version();
        let owners = owners_after_scale(old, &tracked, &version, &owned_at(&call.resource, paths))
            .map_err(|why| ApiError::new(Reason::InternalError, why))?;
        metadata::set(&mut object, "managedFields", (!owners.is_empty()).then_some(Value::Array(owners)));
        if let Sent::Whole(_) = sent {
            let uid = metadata::text(&tracked, "uid");
            metadata::set(&mut object, "uid", Some(uid).filter(|uid| !uid.is_empty()).map(Into::into));
        }
        Ok(Proposal::new(object, warnings))
    }
}

/// The scale with what is applied to it.
fn applied_scale(
    call: &Call,
    scale: &Value,
    config: &Value,
    force: bool,
    write: &Write<'_>,
) -> Result<Value, ApiError> {
    check_applied(config)?;
    let is_custom = call.resource.kind.is_custom();
    if is_custom && scale.pointer("/metadata/managedFields").is_none() {
        let what = format!("failed to convert live object (/; {API_VERSION}, Kind=Scale)");
        return Err(no_version(&format!("failed to create manager for existing fields: {what}")));
    }
    check_applied_count(config)?;
    let config = if is_custom { config.clone() } else { named(call, config)? };
    let outcome = apply(Some(scale), &config, force, write);
    let applied = outcome.map_err(|error| not_applied(call, &error))?.object;
    if is_custom {
        let (namespace, name) = (metadata::text(&config, "namespace"), metadata::text(&config, "name"));
        let what = format!("({namespace}/{name}; {API_VERSION}, Kind=Scale)");
        return Err(no_version(&format!("failed to convert new object {what}")));
    }
    check_count(call, &applied)?;
    Ok(applied)
}

/// A scale as clients see it: they are not told who owns its fields.
fn without_owners(mut scale: Value) -> Value {
    metadata::set(&mut scale, "managedFields", None);
    scale
}

/// What is applied need not say its name, but cannot say another.
fn named(call: &Call, config: &Value) -> Result<Value, ApiError> {
    let mut named = config.clone();
    if metadata::text(&named, "name").is_empty() {
        metadata::set(&mut named, "name", Some(call.name().into()));
    }
    check_identity(call, &mut named.clone())?;
    Ok(named)
}

/// An apply to the scale of a custom resource never comes to an end: the real server looks for the version of a scale
/// among those of the custom resource.
fn no_version(what: &str) -> ApiError {
    let why = format!("request to convert CR to an invalid group/version: {API_VERSION}");
    ApiError::new(Reason::Unknown, format!("{what} to proper version: {why}"))
}

/// A scale must be of the object that its path is about, and not older than it.
fn check(call: &Call, old: &Value, wanted: &mut Value, sent: &Sent) -> Result<(), ApiError> {
    check_identity(call, wanted)?;
    let (asked, known) = (metadata::text(wanted, "uid"), metadata::text(old, "uid"));
    if matches!(sent, Sent::Patch(_)) && !call.resource.kind.is_custom() && asked != known {
        let kind = format!("{}/scale", call.resource.plural);
        let why = format!("Precondition failed: UID in precondition: {asked}, UID in object meta: {known}");
        return Err(ApiError::conflict(Subject { kind, ..call.subject() }, &why));
    }
    let version = metadata::text(wanted, "resourceVersion");
    if !version.is_empty() && version != metadata::text(old, "resourceVersion") {
        return Err(ApiError::modified(call.subject()));
    }
    check_count(call, wanted)
}

/// There are no fewer than no replicas; the schema of a custom resource says so itself.
fn check_count(call: &Call, wanted: &Value) -> Result<(), ApiError> {
    let replicas = wanted.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(0);
    if replicas >= 0 || call.resource.kind.is_custom() {
        return Ok(());
    }
    let path = Path::new("spec.replicas");
    let error = FieldError::invalid(&path, replicas, "must be greater than or equal to 0");
    let (group, kind) = ("autoscaling".to_owned(), "Scale".to_owned());
    Err(invalid(Subject { group, kind, ..call.subject() }, &[error]))
}
