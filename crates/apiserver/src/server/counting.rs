//! Counts what is asked and how it was answered.

use http::{Method, Response};
use http_body::Body as _;
use tokio::time::Instant;

use super::Server;
use super::body::Body;
use super::call::Call;
use super::faults::Seen;
use crate::metrics::{Going, Guard, Labels};

/// A request that is being answered.
pub(super) struct Counted {
    labels: Labels,
    began: Instant,
    /// None for a watch, which is counted for as long as it lasts.
    _going: Option<Guard>,
}

impl Server {
    /// Begins to count a request.
    pub(super) fn counted(&self, call: &Call, seen: &Seen, method: &Method) -> Counted {
        let going = if seen.is_write() { Going::Writing } else { Going::Reading };
        Counted {
            labels: labels(call, seen, method),
            began: Instant::now(),
            _going: (seen.verb != "watch").then(|| self.0.metrics.begin(going)),
        }
    }

    /// Counts the answer.
    pub(super) fn answered(&self, counted: Counted, response: &Response<Body>) {
        let bytes = response.body().size_hint().exact().unwrap_or(0);
        self.0.metrics.answered(counted.labels, response.status().as_u16(), counted.began.elapsed(), bytes);
    }
}

fn labels(call: &Call, seen: &Seen, method: &Method) -> Labels {
    let applies = call.content_type() == "application/apply-patch+yaml";
    let verb = match seen.verb {
        "list" => "LIST",
        "watch" => "WATCH",
        "deletecollection" => "DELETECOLLECTION",
        "patch" if applies => "APPLY",
        _ => method.as_str(),
    };
    let scope = match (&call.name, &call.namespace) {
        (Some(_), _) => "resource",
        (None, Some(_)) => "namespace",
        (None, None) => "cluster",
    };
    Labels {
        verb: verb.to_owned(),
        group: call.resource.group.clone(),
        version: call.resource.version.clone(),
        resource: call.resource.plural.clone(),
        subresource: call.subresource.clone().unwrap_or_default(),
        scope: scope.to_owned(),
        dry_run: call.query.get("dryRun").filter(|word| *word == "All").unwrap_or_default().to_owned(),
    }
}
