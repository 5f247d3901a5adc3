//! The calls that the elector makes, each bounded in time, with errors that say what to do.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, PostParams};
use muster_api::names::{FIELD_MANAGER, LEASE_NAME};
use tokio::time::{Instant, timeout};

use super::options::CALL_TIMEOUT;
use super::record::Sight;

/// Why a call did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Someone else changed it, or created it.
    #[error("the Lease {lease} was changed by someone else in between; it is read again")]
    Conflict {
        /// Which.
        lease: String,
    },
    /// It is not there any more.
    #[error("the Lease {lease} was deleted; it is created anew")]
    Gone {
        /// Which.
        lease: String,
    },
    /// There is no place for it.
    #[error(
        "the namespace {namespace} for the leader's Lease does not exist: kubectl create namespace {namespace}"
    )]
    NoNamespace {
        /// Which.
        namespace: String,
    },
    /// The operator's role is too small.
    #[error(
        "this operator may not read and write the Lease {lease}: allow it get, create and update on leases \
         (coordination.k8s.io) in that namespace. The API server says: {message}"
    )]
    Forbidden {
        /// Which.
        lease: String,
        /// In the API server's words.
        message: String,
    },
    /// No answer. Whether it took effect is not known.
    #[error("the API server did not answer within {within:?}: is it running, and within reach?")]
    TimedOut {
        /// How long it was given.
        within: Duration,
    },
    /// Anything else. Whether it took effect is not known.
    #[error("the call for the Lease {lease} failed, and is tried again: {source}")]
    Failed {
        /// Which.
        lease: String,
        /// Why.
        source: Box<kube::Error>,
    },
}

/// The one Lease.
pub(super) struct Calls {
    api: Api<Lease>,
    namespace: String,
}

impl Calls {
    pub(super) fn new(client: kube::Client, namespace: &str) -> Self {
        Self { api: Api::namespaced(client, namespace), namespace: namespace.to_owned() }
    }

    /// What the Lease says; none if there is none.
    pub(super) async fn read(&self) -> Result<Option<Sight>, CallError> {
        let lease = self.bounded(CALL_TIMEOUT, self.api.get_opt(LEASE_NAME)).await?;
        Ok(lease.map(|lease| Sight { lease, at: Instant::now() }))
    }

    /// Creates it, if it is not there.
    pub(super) async fn create(&self, lease: &Lease) -> Result<Sight, CallError> {
        let lease = self.bounded(CALL_TIMEOUT, self.api.create(&params(), lease)).await;
        // What is not found at a creation is the namespace.
        let lease = lease.map_err(|error| match error {
            CallError::Gone { .. } => CallError::NoNamespace { namespace: self.namespace.clone() },
            other => other,
        })?;
        Ok(Sight { lease, at: Instant::now() })
    }

    /// Swaps it, if it is still the very version that `lease` was made from.
    pub(super) async fn swap(&self, lease: &Lease, within: Duration) -> Result<Sight, CallError> {
        let within = within.min(CALL_TIMEOUT);
        let lease = self.bounded(within, self.api.replace(LEASE_NAME, &params(), lease)).await?;
        Ok(Sight { lease, at: Instant::now() })
    }

    async fn bounded<T>(
        &self,
        within: Duration,
        call: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, CallError> {
        let answer = timeout(within, call).await.map_err(|_| CallError::TimedOut { within })?;
        answer.map_err(|error| self.explain(error))
    }

    fn explain(&self, error: kube::Error) -> CallError {
        let lease = format!("{}/{LEASE_NAME}", self.namespace);
        match error {
            kube::Error::Api(status) if status.is_conflict() || status.is_already_exists() => {
                CallError::Conflict { lease }
            }
            kube::Error::Api(status) if status.is_not_found() => CallError::Gone { lease },
            kube::Error::Api(status) if status.is_forbidden() => {
                CallError::Forbidden { lease, message: status.message.clone() }
            }
            other => CallError::Failed { lease, source: Box::new(other) },
        }
    }
}

fn params() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() }
}
