//! Deletion, of one object and of collections.

use http::StatusCode;
use serde_json::{Value, json};

use super::Server;
use super::answer::{Answer, Content};
use super::call::Call;
use super::claims;
use super::decode::{self, Repeated};
use super::incoming::{SUPPORTED, store_refused, unsupported};
use super::objects;
use super::options::invalid_options;
use crate::error::ApiError;
use crate::kind::Around;
use crate::lifecycle::{self, Deletion, Ending, Policy, metadata};
use crate::protobuf;
use crate::registry::Resource;
use crate::request::query::Query;
use crate::schema::{FieldError, Path};
use crate::store::{Expect, Stored, WriteError};

/// How often a deletion is tried on what someone else has written in between.
const MAX_TRIES: usize = 100;

/// The warning for who deletes a Job and does not say what becomes of its Pods.
const ORPHANS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

/// How a deletion is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    policy: Option<Policy>,
    /// Whether the client said `orphanDependents: false`, the old word for a cascade.
    cascades: bool,
    uid: Option<String>,
    resource_version: Option<String>,
    grace: Option<i64>,
    dry_run: bool,
}

/// What became of a deletion.
pub(super) struct Deleted {
    object: Value,
    /// Whether it is gone already.
    gone: bool,
    /// Whether the object is the answer even if it is gone.
    shown: bool,
}

impl Deleted {
    fn gone(object: Value) -> Self {
        Self { object, gone: true, shown: false }
    }

    fn ending(object: Value) -> Self {
        Self { object, gone: false, shown: true }
    }

    /// The answer of kube-apiserver when it only tries out to delete what nothing but a wish of an earlier deletion keeps: an object
    /// of this kind with nothing in it.
    fn empty(resource: &Resource) -> Self {
        let mut object = resource.kind.sharing().empty.clone();
        objects::set_type(resource, &mut object);
        Self { object, gone: true, shown: true }
    }
}

impl Server {
    /// `delete`: the end of one object, or its beginning.
    pub(super) async fn delete(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = DeleteOptions::of(call)?;
        let warnings = options.warnings(call);
        let deleted = self.delete_object(call, &options).await.map_err(|error| error.warned(&warnings))?;
        let waits = !deleted.gone && options.cascades;
        let code = if waits { StatusCode::ACCEPTED } else { StatusCode::OK };
        let content = if deleted.shown || call.resource.returns_deleted {
            Content::Object(call.resource.clone(), deleted.object)
        } else {
            Content::Json(success(call, &deleted.object, code))
        };
        Ok(Answer { code, content, warnings })
    }

    /// `deletecollection`: every object that is selected.
    pub(super) async fn delete_collection(&self, call: &Call) -> Result<Answer, ApiError> {
        let options = DeleteOptions::of(call)?;
        let warnings = options.warnings(call);
        let (page, objects) = self.selected(call).map_err(|error| error.warned(&warnings))?;
        for (key, _) in objects {
            let one = Call {
                namespace: call.namespace.as_ref().map(|_| key.namespace.clone()),
                name: Some(key.name.clone()),
                ..call.clone()
            };
            match self.delete_object(&one, &options).await {
                // Someone else was faster: gone is gone.
                Err(error) if error.reason == crate::error::Reason::NotFound => {}
                outcome => drop(outcome.map_err(|error| error.warned(&warnings))?),
            }
        }
        Ok(Answer { warnings, ..Answer::ok(Content::List(call.resource.clone(), page)) })
    }

    pub(super) async fn delete_object(
        &self,
        call: &Call,
        options: &DeleteOptions,
    ) -> Result<Deleted, ApiError> {
        for _ in 0..MAX_TRIES {
            let Some(stored) = self.store().get(&call.key()) else {
                return Err(ApiError::not_found(call.subject()));
            };
            match self.try_delete(call, options, &stored).await? {
                Ok(deleted) => return Ok(deleted),
                Err(WriteError::Changed) => {}
                Err(error) => return Err(store_refused(call, call.name(), &error)),
            }
        }
        Err(ApiError::modified(call.subject()))
    }

    async fn try_delete(
        &self,
        call: &Call,
        options: &DeleteOptions,
        stored: &Stored,
    ) -> Result<Result<Deleted, WriteError>, ApiError> {
        let resource = &call.resource;
        let object = objects::load_stored(resource, stored);
        resource.kind.refuse_end(&object)?;
        let grace = resource.kind.grace(&object, options.grace);
        let deletion = Deletion {
            policy: options.policy,
            uid: options.uid.clone(),
            resource_version: options.resource_version.clone(),
            grace: grace.unwrap_or(0),
            marks: grace.is_some(),
            orphans: resource.kind.orphans(),
            held: resource.kind.is_held(&object),
        };
        let ending = lifecycle::delete(&object, &deletion, &mut self.source())
            .map_err(|failed| ApiError::conflict(call.subject_by_kind(call.name()), &failed.to_string()))?;
        let ending = match (ending, resource.kind.marked(&object, &Around::now(self))) {
            (Ending::Marked(_), Some(marked)) => Ending::Marked(marked),
            (ending, _) => ending,
        };
        Ok(match ending {
            Ending::Same if !options.dry_run && objects::is_stored_otherwise(resource, stored, &object) => {
                let written = self.put(resource, call.key(), object, Expect::At(stored.revision)).await;
                written.map(Deleted::ending)
            }
            Ending::Same => Ok(Deleted::ending(object)),
            Ending::Now(_) if options.dry_run && !metadata::finalizers(&object).is_empty() => {
                Ok(Deleted::empty(resource))
            }
            Ending::Now(last) | Ending::MarkedNow(last) if options.dry_run => Ok(Deleted::gone(last)),
            Ending::Marked(next) if options.dry_run => Ok(Deleted::ending(next)),
            Ending::Marked(next) if next == object => Ok(Deleted::ending(object)),
            // Watchers are told the state that was stored, whatever this deletion changed in it, and so is who deletes.
            Ending::Now(_) => {
                let removed = self.remove(resource, &call.key(), object, stored.revision).await;
                removed.map(Deleted::gone)
            }
            Ending::MarkedNow(next) => self.mark_and_remove(call, next, stored).await,
            Ending::Marked(next) => {
                let marked = self.put(resource, call.key(), next, Expect::At(stored.revision)).await;
                marked.map(Deleted::ending)
            }
        })
    }
}

impl Server {
    /// Marks an object, so that it is seen marked, and removes it.
    async fn mark_and_remove(
        &self,
        call: &Call,
        next: Value,
        stored: &Stored,
    ) -> Result<Deleted, WriteError> {
        let resource = &call.resource;
        let marked = self.put(resource, call.key(), next, Expect::At(stored.revision)).await?;
        let revision = metadata::text(&marked, "resourceVersion").parse().unwrap_or(stored.revision);
        let object = self.remove(resource, &call.key(), marked, revision).await?;
        Ok(Deleted::gone(object))
    }
}

impl DeleteOptions {
    /// The deletion of exactly this object, as a controller asks for it.
    pub(super) fn of_one(uid: &str, policy: Policy) -> Self {
        Self { policy: Some(policy), uid: Some(uid.to_owned()), ..Self::default() }
    }

    /// The options in the body or, if there is none, in the query.
    fn of(call: &Call) -> Result<Self, ApiError> {
        let query = if call.body.is_empty() { call.query.clone() } else { Query::default() };
        let call = &Call { query, ..call.clone() };
        let mut errors = Vec::new();
        let mut options = Self::default();
        let mut body = body(call)?;
        let words: Vec<&str> = call.query.all("dryRun").collect();
        if !words.is_empty() {
            body["dryRun"] = json!(words);
        }
        let text = |path: &str, query: &str| {
            let in_body = body.pointer(path).and_then(Value::as_str);
            in_body.or_else(|| call.query.get(query)).map(str::to_owned)
        };
        options.uid = text("/preconditions/uid", "uid");
        options.resource_version = text("/preconditions/resourceVersion", "resourceVersion");
        // Unlike the two above, these say something even if they are empty.
        let first = |name: &str| call.query.all(name).next();
        let grace_in_query = first("gracePeriodSeconds").map(read_grace).transpose()?;
        options.grace = body.get("gracePeriodSeconds").and_then(Value::as_i64).or(grace_in_query);
        let listed = body.get("dryRun").and_then(Value::as_array);
        if let Some(words) = listed.filter(|words| !words.is_empty()) {
            options.dry_run |= words.iter().all(|word| word == "All");
            if !options.dry_run {
                let all = ["All".to_owned()];
                errors.push(FieldError::not_supported(&Path::new("dryRun"), words.clone(), &all));
            }
        }
        let orphan = body
            .get("orphanDependents")
            .and_then(Value::as_bool)
            .or_else(|| call.query.switch("orphanDependents"));
        let policy = body.get("propagationPolicy").and_then(Value::as_str);
        options.choose_policy(orphan, policy.or_else(|| first("propagationPolicy")), &mut errors);
        if errors.is_empty() { Ok(options) } else { Err(invalid_options("DeleteOptions", &errors)) }
    }

    /// What a client should know that does not say what becomes of what the object owns.
    fn warnings(&self, call: &Call) -> Vec<String> {
        let unsaid = self.policy.is_none() && call.resource.kind.orphans();
        unsaid.then(|| ORPHANS.to_owned()).into_iter().collect()
    }

    fn choose_policy(&mut self, orphan: Option<bool>, policy: Option<&str>, errors: &mut Vec<FieldError>) {
        let path = Path::new("propagationPolicy");
        if orphan.is_some() && policy.is_some() {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(&path, policy.unwrap_or_default(), why));
        }
        self.cascades = orphan == Some(false);
        self.policy = match (policy, orphan) {
            (Some("Background"), _) | (None, Some(false)) => Some(Policy::Background),
            (Some("Foreground"), _) => Some(Policy::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Policy::Orphan),
            (None, None) => None,
            (Some(other), _) => {
                let allowed = ["Foreground", "Background", "Orphan", "nil"].map(str::to_owned);
                errors.push(FieldError::not_supported(&path, other, &allowed));
                None
            }
        };
    }
}

fn read_grace(text: &str) -> Result<i64, ApiError> {
    let no_number = |_| ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
    text.parse().map_err(no_number)
}

fn body(call: &Call) -> Result<Value, ApiError> {
    if call.body.is_empty() {
        return Ok(json!({}));
    }
    let options = match call.content_type() {
        media_type @ ("" | "application/json" | "application/yaml") => {
            claims::read(media_type, &call.body, Repeated::Merged).map_err(ApiError::bad_request)?.value
        }
        protobuf::MEDIA_TYPE => {
            decode::protobuf(&call.body, "meta.k8s.io/v1", "DeleteOptions")
                .map_err(|error| ApiError::bad_request(error.to_string()))?
                .value
        }
        _ => return Err(unsupported(SUPPORTED)),
    };
    let text = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if !matches!(kind, "" | "DeleteOptions") {
        let why = format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        );
        return Err(ApiError::bad_request(why));
    }
    if options.get("gracePeriodSeconds").is_some_and(Value::is_string) {
        let why = "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64";
        return Err(ApiError::bad_request(why));
    }
    Ok(options)
}

/// The answer for what is gone.
fn success(call: &Call, object: &Value, code: StatusCode) -> Value {
    let _ = code;
    let mut details = json!({
        "name": call.name(), "kind": call.resource.plural, "uid": metadata::text(object, "uid"),
    });
    if !call.resource.group.is_empty() {
        details["group"] = call.resource.group.clone().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
