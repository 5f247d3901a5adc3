//! The one door to the API server: every call is bounded, every write is made by a leader only and noted by the guard.
//!
//! A write counts as work of the leader until it has ended, and one that nobody waits for any more is noted as one that may
//! have happened: neither depends on who made it, or on how that ended.

mod error;
mod under_way;

use std::fmt::Write;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use either::Either;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::Status;
use kube::{Api, Client, Resource, ResourceExt};
use muster_api::names::{FIELD_MANAGER, FIELD_MANAGER_STATUS};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

pub use self::error::CallError;
use self::under_way::UnderWay;
use crate::cache::{Cached, Guard};
use crate::key::Name;
use crate::lease::Authority;

/// How long one call may take. An API server that needs longer is overloaded, and more patience makes it worse.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How many calls are under way at once, over all clusters.
pub const MAX_CALLS: usize = 32;

/// A namespaced object as the door takes it.
pub trait Namespaced:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + std::fmt::Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
}

impl<K> Namespaced for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

/// The door. Cloning gives another handle to the same.
#[derive(Clone)]
pub struct Door {
    client: Client,
    authority: Authority,
    guard: Guard,
    calls: Arc<Semaphore>,
}

impl Door {
    /// A door for this client.
    pub fn new(client: Client, authority: Authority, guard: Guard) -> Self {
        Self { client, authority, guard, calls: Arc::new(Semaphore::new(MAX_CALLS)) }
    }

    /// Who may write.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The client, for watches.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What was written and not seen again.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Reads an object as it is now, past the caches.
    pub async fn read<K: Namespaced>(&self, name: &Name) -> Result<Option<K>, CallError> {
        let api = self.api::<K>(&name.namespace);
        let until = Instant::now() + CALL_TIMEOUT;
        let _permit = self.permit(until, &object::<K>(name)).await?;
        match bounded(until, object::<K>(name), api.get_opt(&name.name)).await {
            Err(CallError::NotFound { .. }) => Ok(None),
            other => other,
        }
    }

    /// Applies an object of this cluster by server-side apply: what is said becomes so, and what we said before and do not
    /// say any more is taken back. Fields that others set are taken over.
    pub async fn apply_value<K: Namespaced + Cached>(
        &self,
        cluster: &Name,
        name: &Name,
        desired: &Value,
    ) -> Result<K, CallError> {
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let api = self.api::<K>(&name.namespace);
        let patch = Patch::Apply(desired);
        let under_way = UnderWay::<K>::new(&self.guard, cluster, name);
        let applied = self.write(object::<K>(name), api.patch(&name.name, &params, &patch)).await;
        under_way.ended(&applied);
        applied
    }

    /// Any write, bounded and made by a leader only: whether it leads is asked last, when the call can be made at once.
    pub async fn write<T>(
        &self,
        object: String,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, CallError> {
        let patience = Instant::now() + CALL_TIMEOUT;
        let _permit = self.permit(patience, &object).await?;
        let act = self.authority.act()?;
        let answer = bounded(act.until().min(patience), object, call).await;
        if !answer.as_ref().is_err_and(CallError::may_have_happened) {
            act.answered();
        }
        answer
    }

    /// Creates an object of a kind that is not watched; one that exists is not touched.
    pub async fn create_uncached<K: Namespaced>(&self, new: &K) -> Result<K, CallError> {
        let name = Name::of(new);
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let api = self.api::<K>(&name.namespace);
        self.write(object::<K>(&name), api.create(&params, new)).await
    }

    /// Replaces an object of a kind that is not watched, if it is still at the version that it names.
    pub async fn replace_uncached<K: Namespaced>(&self, object: &K) -> Result<K, CallError> {
        let name = Name::of(object);
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let api = self.api::<K>(&name.namespace);
        self.write(self::object::<K>(&name), api.replace(&name.name, &params, object)).await
    }

    /// Changes parts of an object of this cluster, if it is still at the version that the patch names.
    pub async fn merge<K: Namespaced + Cached>(
        &self,
        cluster: &Name,
        name: &Name,
        patch: &Value,
    ) -> Result<K, CallError> {
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let api = self.api::<K>(&name.namespace);
        let patch = Patch::Merge(patch);
        let under_way = UnderWay::<K>::new(&self.guard, cluster, name);
        let merged = self.write(object::<K>(name), api.patch(&name.name, &params, &patch)).await;
        match &merged {
            // The last finalizer was taken away: it is gone with this answer.
            Ok(gone) if is_gone(gone) => under_way.deleted(gone.uid()),
            other => under_way.ended(other),
        }
        merged
    }

    /// Writes the status of an object of this cluster, if it is still at the version that it names.
    pub async fn write_status<K: Namespaced + Cached>(
        &self,
        cluster: &Name,
        object: &K,
    ) -> Result<K, CallError> {
        let name = Name::of(object);
        let api = self.api::<K>(&name.namespace);
        let params =
            PostParams { field_manager: Some(FIELD_MANAGER_STATUS.to_owned()), ..PostParams::default() };
        let under_way = UnderWay::<K>::new(&self.guard, cluster, &name);
        let written = self.write(self::object::<K>(&name), api.replace_status(&name.name, &params, object));
        let written = written.await;
        under_way.ended(&written);
        written
    }

    /// Changes the status of an object of this cluster by a JSON patch that names what must not have changed: where it has,
    /// that is a conflict, as it is where a version is named.
    pub async fn swap_status<K: Namespaced + Cached>(
        &self,
        cluster: &Name,
        name: &Name,
        patch: &Value,
    ) -> Result<K, CallError> {
        let under_way = UnderWay::<K>::new(&self.guard, cluster, name);
        let written =
            self.write(object::<K>(name), self.client.request(status_patch::<K>(name, patch))).await;
        // A test that fails is told as something that cannot be processed; and a role of before does not know of this call. Either
        // way the object is read again and its version named, and whatever else is wrong is told then.
        let written = written.map_err(|error| match error {
            CallError::Refused { object, message } => {
                tracing::debug!(object, "its status cannot be swapped by what it was made from: {message}");
                CallError::Conflict { object }
            }
            CallError::Forbidden { object, message } => {
                tracing::warn!(object, "its status may not be patched, so others may outrun us: {message}");
                CallError::Conflict { object }
            }
            other => other,
        });
        under_way.ended(&written);
        written
    }

    /// Deletes this very object of this cluster. One that is gone already is as good.
    pub async fn delete<K: Namespaced + Cached>(&self, cluster: &Name, target: &K) -> Result<(), CallError> {
        let name = Name::of(target);
        let under_way = UnderWay::<K>::new(&self.guard, cluster, &name);
        match self.delete_this(target).await {
            // Some kinds are answered with what they were: without a time of deletion nothing held them.
            Ok(Some(Either::Left(leaving))) if leaving.meta().deletion_timestamp.is_some() => {
                under_way.ended(&Ok(leaving));
            }
            Ok(Some(_)) => under_way.deleted(target.uid()),
            Ok(None) => under_way.changed_nothing(),
            Err(error) => {
                under_way.ended(&Err(error.clone()));
                return Err(error);
            }
        }
        Ok(())
    }

    /// The same for a kind that is not watched.
    pub async fn delete_uncached<K: Namespaced>(&self, target: &K) -> Result<(), CallError> {
        self.delete_this(target).await.map(drop)
    }

    async fn delete_this<K: Namespaced>(&self, target: &K) -> Result<Option<Either<K, Status>>, CallError> {
        let name = Name::of(target);
        let preconditions = Preconditions { uid: target.uid(), resource_version: None };
        let params = DeleteParams::background().preconditions(preconditions);
        let api = self.api::<K>(&name.namespace);
        match self.write(object::<K>(&name), api.delete(&name.name, &params)).await {
            Ok(answer) => Ok(Some(answer)),
            Err(CallError::NotFound { .. }) => Ok(None),
            // A conflict may mean that another object has taken its name, which will be seen, or that someone wrote at the
            // same moment, which nobody would tell of: it is tried again either way.
            Err(error) => Err(error),
        }
    }

    /// Waits until no more calls are under way than there may be.
    async fn permit(&self, until: Instant, object: &str) -> Result<SemaphorePermit<'_>, CallError> {
        let busy =
            |message: &str| CallError::Unavailable { object: object.to_owned(), message: message.to_owned() };
        match tokio::time::timeout_at(until, self.calls.acquire()).await {
            Ok(permit) => permit.map_err(|_| busy("the operator is stopping")),
            Err(_) => Err(busy("too many calls are under way")),
        }
    }

    fn api<K: Namespaced>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

/// A JSON patch of a status. The client would need one more library to know of this kind of patch.
fn status_patch<K: Namespaced>(name: &Name, patch: &Value) -> Request<Vec<u8>> {
    let url = K::url_path(&(), Some(&name.namespace));
    let url = format!("{url}/{}/status?fieldManager={FIELD_MANAGER_STATUS}", name.name);
    let mut request = Request::new(as_go_writes(&patch.to_string()).into_bytes());
    *request.method_mut() = Method::PATCH;
    // Made of names that the API server gave us: nothing in it needs to be escaped.
    *request.uri_mut() = url.parse().unwrap_or_default();
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json-patch+json"));
    request
}

/// The same JSON with the characters escaped that Go escapes: the API server compares what a patch tests byte by byte with what it
/// wrote itself. They stand in strings only.
fn as_go_writes(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => _ = write!(text, "\\u{:04x}", u32::from(c)),
            other => text.push(other),
        }
    }
    text
}

/// One call, given up at this time.
async fn bounded<T>(
    until: Instant,
    object: String,
    call: impl Future<Output = kube::Result<T>>,
) -> Result<T, CallError> {
    match tokio::time::timeout_at(until, call).await {
        Ok(answer) => answer.map_err(|error| CallError::from_kube(error, object)),
        Err(_) => Err(CallError::Unanswered { object, message: "it took too long".to_owned() }),
    }
}

/// Whether this is what remains of an object whose last finalizer has gone.
fn is_gone(object: &impl ResourceExt) -> bool {
    object.meta().deletion_timestamp.is_some() && object.finalizers().is_empty()
}

/// An object's kind and name, for messages.
fn object<K: Namespaced>(name: &Name) -> String {
    format!("{} {name}", K::kind(&()))
}
