//! What all controllers here share: bounded calls, one pass per object at a time, backoff per object, Events.

pub(crate) mod command;
mod events;
mod retries;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::controller::{Action, Config};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, controller};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;

pub(crate) use self::events::Events;
use self::retries::Retries;

/// How long one call to the API may take: the client itself would wait, and try again, for minutes.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How many objects of a kind are looked at at once: on one machine more would only wait for each other.
const WORKERS: u16 = 4;
/// By this name the API server remembers who wrote a field.
pub(crate) const FIELD_MANAGER: &str = "muster-node";

/// Why a call, or a pass over an object, ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server refused, or could not be reached.
    #[error(transparent)]
    Api(#[from] kube::Error),
    /// The API server did not answer.
    #[error("the API server did not answer within {} s", CALL_TIMEOUT.as_secs())]
    TimedOut,
    /// The object says what cannot be done.
    #[error("{0}")]
    Unusable(String),
}

impl Error {
    fn status(&self) -> Option<&kube::core::Status> {
        match self {
            Self::Api(kube::Error::Api(status)) => Some(status),
            _ => None,
        }
    }

    /// What the API server answered with, if it answered.
    pub(crate) fn code(&self) -> Option<u16> {
        self.status().map(|status| status.code)
    }

    /// There is no such object.
    pub(crate) fn is_not_found(&self) -> bool {
        self.status().is_some_and(kube::core::Status::is_not_found)
    }

    /// What was written is not as it must be.
    pub(crate) fn is_invalid(&self) -> bool {
        self.status().is_some_and(|status| status.code == 422)
    }

    /// There is an object of that name already.
    pub(crate) fn already_exists(&self) -> bool {
        self.status().is_some_and(kube::core::Status::is_already_exists)
    }
}

/// A call that ends.
pub(crate) async fn bounded<T>(
    call: impl Future<Output = Result<T, kube::Error>> + Send,
) -> Result<T, Error> {
    match tokio::time::timeout(CALL_TIMEOUT, call).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Error::TimedOut),
    }
}

/// As written by us.
pub(crate) fn writing() -> kube::api::PostParams {
    kube::api::PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..Default::default() }
}

/// As changed by us.
pub(crate) fn patching() -> kube::api::PatchParams {
    kube::api::PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..Default::default() }
}

/// Looks at every object that the controller names, until dropped: what fails is looked at again, later each time.
pub(crate) async fn drive<K, Pass>(
    controller: Controller<K>,
    keep: impl Fn(Arc<K>) -> Pass + Send + Sync + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    Pass: Future<Output = Result<Action, Error>> + Send + 'static,
    K::DynamicType: Debug + Unpin + Eq + Hash + Clone,
{
    let retries = Arc::new(Retries::default());
    let passes = controller.with_config(Config::default().concurrency(WORKERS)).run(
        move |object, retries: Arc<Retries<ObjectRef<K>>>| {
            let pass = keep(object.clone());
            async move {
                let action = pass.await?;
                retries.forget(&ObjectRef::from_obj(object.as_ref()));
                Ok::<_, Error>(action)
            }
        },
        |object, error, retries| {
            let kind = K::kind(&());
            let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
            if error.is_invalid() {
                // It will not be taken the next time either.
                tracing::warn!(%kind, namespace, name, %error, "the API server refuses what is written");
            } else {
                tracing::debug!(%kind, namespace, name, %error, "will be looked at again");
            }
            Action::requeue(retries.next(ObjectRef::from_obj(object.as_ref())))
        },
        retries,
    );
    passes
        .for_each(|outcome| {
            if let Err(controller::Error::QueueError(error)) = outcome {
                tracing::warn!(%error, "a watch is opened again");
            }
            std::future::ready(())
        })
        .await;
}

/// The reference to an object as Events carry it.
pub(crate) fn reference<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    object.object_ref(&())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_not_answered_ends() {
        let began = tokio::time::Instant::now();
        let never = bounded(std::future::pending::<Result<(), kube::Error>>()).await;
        assert!(matches!(never, Err(Error::TimedOut)) && began.elapsed() == CALL_TIMEOUT);
    }
}
