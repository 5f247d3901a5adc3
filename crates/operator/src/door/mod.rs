//! The one door to the API server: every call is bounded, every write is made by a leader only and noted by the guard.

mod error;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use either::Either;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::Status;
use kube::{Api, Client, Resource, ResourceExt};
use muster_api::names::{FIELD_MANAGER, FIELD_MANAGER_STATUS};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub use self::error::CallError;
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
        match self.call(until, object::<K>(name), api.get_opt(&name.name)).await {
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
        let until = self.may_write()?;
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let api = self.api::<K>(&name.namespace);
        let patch = Patch::Apply(desired);
        let applied = self.call(until, object::<K>(name), api.patch(&name.name, &params, &patch)).await;
        self.note(cluster, name, &applied);
        applied
    }

    /// Any other write, bounded and made by a leader only.
    pub async fn write<T>(
        &self,
        object: String,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, CallError> {
        let until = self.may_write()?;
        self.call(until, object, call).await
    }

    /// Creates an object of a kind that is not watched; one that exists is not touched.
    pub async fn create_uncached<K: Namespaced>(&self, new: &K) -> Result<K, CallError> {
        let name = Name::of(new);
        let until = self.may_write()?;
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let api = self.api::<K>(&name.namespace);
        self.call(until, object::<K>(&name), api.create(&params, new)).await
    }

    /// Replaces an object of a kind that is not watched, if it is still at the version that it names.
    pub async fn replace_uncached<K: Namespaced>(&self, object: &K) -> Result<K, CallError> {
        let name = Name::of(object);
        let until = self.may_write()?;
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let api = self.api::<K>(&name.namespace);
        self.call(until, self::object::<K>(&name), api.replace(&name.name, &params, object)).await
    }

    /// Changes parts of an object of this cluster, if it is still at the version that the patch names.
    pub async fn merge<K: Namespaced + Cached>(
        &self,
        cluster: &Name,
        name: &Name,
        patch: &Value,
    ) -> Result<K, CallError> {
        let until = self.may_write()?;
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let api = self.api::<K>(&name.namespace);
        let patch = Patch::Merge(patch);
        let merged = self.call(until, object::<K>(name), api.patch(&name.name, &params, &patch)).await;
        match &merged {
            // The last finalizer was taken away: it is gone with this answer.
            Ok(gone) if is_gone(gone) => self.guard.deleted::<K>(cluster, name, gone.uid()),
            other => self.note(cluster, name, other),
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
        let until = self.may_write()?;
        let api = self.api::<K>(&name.namespace);
        let params =
            PostParams { field_manager: Some(FIELD_MANAGER_STATUS.to_owned()), ..PostParams::default() };
        let written =
            self.call(until, self::object::<K>(&name), api.replace_status(&name.name, &params, object));
        let written = written.await;
        self.note(cluster, &name, &written);
        written
    }

    /// Deletes this very object of this cluster. One that is gone already is as good.
    pub async fn delete<K: Namespaced + Cached>(&self, cluster: &Name, target: &K) -> Result<(), CallError> {
        let name = Name::of(target);
        match self.delete_this(target).await {
            // Some kinds are answered with what they were: without a time of deletion nothing held them.
            Ok(Some(Either::Left(leaving))) if leaving.meta().deletion_timestamp.is_some() => {
                self.guard.wrote::<K>(cluster, &name, leaving.meta());
            }
            Ok(Some(_)) => self.guard.deleted::<K>(cluster, &name, target.uid()),
            Ok(None) => {}
            Err(error) => {
                if error.may_have_happened() {
                    self.guard.unsure::<K>(cluster, &name);
                }
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
        let until = self.may_write()?;
        let preconditions = Preconditions { uid: target.uid(), resource_version: None };
        let params = DeleteParams::background().preconditions(preconditions);
        let api = self.api::<K>(&name.namespace);
        match self.call(until, object::<K>(&name), api.delete(&name.name, &params)).await {
            Ok(answer) => Ok(Some(answer)),
            Err(CallError::NotFound { .. }) => Ok(None),
            // A conflict may mean that another object has taken its name, which will be seen, or that someone wrote at the
            // same moment, which nobody would tell of: it is tried again either way.
            Err(error) => Err(error),
        }
    }

    /// Until when a write that begins now may take.
    fn may_write(&self) -> Result<Instant, CallError> {
        let mandate = self.authority.now()?;
        Ok(mandate.until.min(Instant::now() + CALL_TIMEOUT))
    }

    fn note<K: Namespaced + Cached>(&self, cluster: &Name, name: &Name, written: &Result<K, CallError>) {
        match written {
            Ok(written) => self.guard.wrote::<K>(cluster, name, written.meta()),
            Err(error) if error.may_have_happened() => self.guard.unsure::<K>(cluster, name),
            Err(_) => {}
        }
    }

    async fn call<T>(
        &self,
        until: Instant,
        object: String,
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, CallError> {
        let busy =
            |message: &str| CallError::Unavailable { object: object.clone(), message: message.to_owned() };
        let Ok(permit) = tokio::time::timeout_at(until, self.calls.acquire()).await else {
            return Err(busy("too many calls are under way"));
        };
        let _permit = permit.map_err(|_| busy("the operator is stopping"))?;
        match tokio::time::timeout_at(until, call).await {
            Ok(answer) => answer.map_err(|error| CallError::from_kube(error, object)),
            Err(_) => Err(CallError::Unanswered { object, message: "it took too long".to_owned() }),
        }
    }

    fn api<K: Namespaced>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client.clone(), namespace)
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
