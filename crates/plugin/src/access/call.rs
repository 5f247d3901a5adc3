//! One call to the server: bounded, and when it fails told as what the person wanted to do.

use kube::Error;
use kube::core::Status;

use super::Access;
use super::connect::in_one_line;
use crate::error::Failure;

impl Access {
    /// Makes a call; `doing` completes "cannot …".
    pub(crate) async fn call<T>(
        &self,
        doing: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(self.limit, call).await {
            Ok(answer) => answer.map_err(|error| self.failure(doing, &error)),
            Err(_) => Err(Failure::TooSlow { doing: doing.to_owned(), limit: self.limit }),
        }
    }

    /// The same where an object that does not exist is an answer, too.
    pub(crate) async fn call_opt<T>(
        &self,
        doing: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Failure> {
        let found = async {
            match call.await {
                Ok(found) => Ok(Some(found)),
                Err(Error::Api(status)) if is_object_missing(&status) => Ok(None),
                Err(error) => Err(error),
            }
        };
        self.call(doing, found).await
    }

    /// What an error of the client means.
    pub(crate) fn failure(&self, doing: &str, error: &Error) -> Failure {
        let doing = doing.to_owned();
        match error {
            Error::Api(status) if is_object_missing(status) => Failure::NotFound {
                object: said(status),
                next: "list what there is with kubectl get".to_owned(),
            },
            Error::Api(status) if status.is_not_found() => Failure::NoSuchKind { kind: kind_of(status) },
            Error::Api(status) if status.is_forbidden() => Failure::Forbidden { doing, why: said(status) },
            Error::Api(status) if status.code == 401 => Failure::Call {
                doing,
                why: "the server does not accept these credentials; log in again, or use another --context"
                    .to_owned(),
            },
            Error::Api(status) => Failure::Call { doing, why: said(status) },
            Error::Service(_) | Error::HyperError(_) | Error::ReadEvents(_) => {
                Failure::Unreachable { doing, server: self.server.clone(), why: in_one_line(error) }
            }
            error => Failure::Call { doing, why: in_one_line(error) },
        }
    }
}

/// Whether the server knows the kind, and there is no such object. Of a kind that it does not know it gives no details.
fn is_object_missing(status: &Status) -> bool {
    let named = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
    status.is_not_found() && named
}

fn kind_of(status: &Status) -> String {
    let kind = status.details.as_ref().map(|details| details.kind.clone()).unwrap_or_default();
    if kind.is_empty() { "the kinds of muster.dev/v1alpha1".to_owned() } else { kind }
}

fn said(status: &Status) -> String {
    if status.message.is_empty() { status.reason.clone() } else { status.message.clone() }
}
