//! What came of a request: `status.lastRequest` is followed until it says so.

use std::time::Duration;

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::cluster::LastRequest;
use muster_api::names::{ANNOTATION_REQUEST, RequestResult};
use muster_core::manager::requests::{self, Request};

use crate::access::{Access, Follow, Step, object};
use crate::error::Failure;
use crate::print::{age, document};
use crate::session::Session;

/// How far the request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody took it up yet.
    Waiting,
    /// The operator removed it to act on it.
    Taken,
    /// The operator said that it acts on it.
    Accepted,
}

/// What one look says.
enum Look {
    Stage(Stage),
    Ended(LastRequest),
}

fn look(cluster: &ReplicatedCluster, id: &str) -> Look {
    let last = cluster.status.as_ref().and_then(|status| status.last_request.as_ref());
    if let Some(last) = last.filter(|last| last.id == id) {
        return match last.result.parse() {
            Ok(RequestResult::Done | RequestResult::Refused | RequestResult::Failed) => {
                Look::Ended(last.clone())
            }
            Ok(RequestResult::Accepted) | Err(_) => Look::Stage(Stage::Accepted),
        };
    }
    let annotation = cluster.annotations().get(ANNOTATION_REQUEST);
    let waits = annotation.is_some_and(|text| requests::parse(text).is_ok_and(|request| request.id == id));
    Look::Stage(if waits { Stage::Waiting } else { Stage::Taken })
}

/// Follows it until it ended or time is up.
pub(super) async fn follow(
    access: &Access,
    name: &str,
    request: &Request,
    timeout: Duration,
    session: &Session,
) -> Result<(), Failure> {
    let named = object("ReplicatedCluster", name, &access.namespace);
    let follow = Follow { access, api: access.clusters(), name, doing: format!("watch {named}"), timeout };
    let mut stage = Stage::Waiting;
    let outcome = follow.until(|cluster| {
        let Some(cluster) =
            cluster.filter(|cluster| cluster.uid().unwrap_or_default() == request.cluster_uid)
        else {
            return Step::Answer(None);
        };
        match look(cluster, &request.id) {
            Look::Ended(last) => Step::Answer(Some(last)),
            Look::Stage(now) => {
                if now == Stage::Accepted && stage != now {
                    session.console.note(&format!("request {} is being carried out", request.id));
                }
                stage = now;
                Step::Wait
            }
        }
    });
    match outcome.await? {
        Some(Some(last)) => ended(&last, &named, session),
        Some(None) => Err(Failure::No(format!("{named} was deleted before the request was carried out"))),
        None => Err(Failure::Timeout(timed_out(access, name, request, stage, timeout).await)),
    }
}

fn ended(last: &LastRequest, named: &str, session: &Session) -> Result<(), Failure> {
    if let Some(text) = document(last, session.output())? {
        session.console.show(&text);
    }
    let message = if last.message.is_empty() { String::new() } else { format!(": {}", last.message) };
    let line = format!("{} {}{message}", last.action, last.result.to_lowercase());
    if last.result != RequestResult::Done.as_str() {
        return Err(Failure::No(format!("{named}: {line}")));
    }
    if document(last, session.output())?.is_none() {
        session.console.say(&line);
    }
    Ok(())
}

async fn timed_out(
    access: &Access,
    name: &str,
    request: &Request,
    stage: Stage,
    timeout: Duration,
) -> String {
    let named = object("ReplicatedCluster", name, &access.namespace);
    let (flag, limit, id) = (access.namespace_flag(), age::short(timeout), &request.id);
    let status = format!("kubectl muster status {flag}{name}");
    match stage {
        Stage::Waiting => {
            let operator = access.operator().await;
            let idle = if operator.runs() { String::new() } else { format!(": {}", operator.sentence()) };
            format!(
                "{named}: nobody took up request {id} within {limit}{idle}; it is valid until {}; take it back with \
                 kubectl annotate rcl {flag}{name} {ANNOTATION_REQUEST}-",
                request.expires
            )
        }
        Stage::Taken => format!(
            "{named}: the operator took up request {id}, and has not told the outcome within {limit}; a request is never \
             repeated by itself: look ({status}) before you repeat it"
        ),
        Stage::Accepted => {
            format!(
                "{named}: request {id} is still being carried out after {limit}; {status} will show its outcome"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stage(annotation: Option<&str>, last: Option<(&str, &str)>) -> String {
        let request = |id| {
            json!({"id": id, "clusterUid": "u", "generation": 1, "expires": "2026-01-01T00:00:00Z",
            "action": "switchover"})
        };
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
            "metadata": {"name": "orders", "annotations": annotation.map(|id| json!({ANNOTATION_REQUEST: request(id).to_string()}))},
            "spec": {"engine": {"name": "ledger"}, "pools": []},
            "status": {"lastRequest": last.map(|(id, result)| json!({"id": id, "action": "switchover", "result": result}))},
        });
        match look(&serde_json::from_value(object).unwrap(), "mine") {
            Look::Stage(stage) => format!("{stage:?}"),
            Look::Ended(last) => last.result,
        }
    }

    #[test]
    fn only_the_outcome_of_this_very_request_counts() {
        assert_eq!(stage(Some("mine"), Some(("other", "Done"))), "Waiting");
        assert_eq!(stage(None, Some(("other", "Done"))), "Taken");
        assert_eq!(stage(Some("other"), None), "Taken");
        assert_eq!(stage(None, Some(("mine", "Accepted"))), "Accepted");
        assert_eq!(stage(None, Some(("mine", "a later version's word"))), "Accepted");
        for result in ["Done", "Refused", "Failed"] {
            assert_eq!(stage(None, Some(("mine", result))), result);
        }
    }
}
