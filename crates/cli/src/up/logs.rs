//! `kubectl logs`: the API server asks the node in this very process.

use muster_apiserver::server::{LogWanted, Reading};
use muster_local::logs::Logs;

/// The logs of the one node.
pub(super) struct OfNode(pub(super) Logs);

impl muster_apiserver::server::Logs for OfNode {
    fn read(&self, wanted: LogWanted) -> Reading {
        let logs = self.0.clone();
        Box::pin(async move {
            let LogWanted { namespace, pod, container, query, .. } = wanted;
            let said = logs.read(&namespace, &pod, &container, &query).await;
            said.map_err(|refusal| (refusal.code, refusal.message))
        })
    }
}
