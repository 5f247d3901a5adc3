//! Deployments and daemon sets, rolled out without Pods: nothing looks at those.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::objects::{at, is_ending, status_patch};
use super::seen::Kind;
use super::work::{Again, Work};
use crate::state::Key;

impl Work {
    pub(super) async fn keep_deployment(&mut self, key: &Key) -> Result<(), Again> {
        let Some(deployment) = self.seen.get(Kind::Deployment, key).cloned() else { return Ok(()) };
        let wanted = at(&deployment, "/spec/replicas").as_u64().unwrap_or(1);
        let ready = self.rolled_out(key, wanted);
        let available = if ready == wanted { "True" } else { "False" };
        let when = at(&deployment, "/metadata/creationTimestamp");
        let status = json!({
            "observedGeneration": at(&deployment, "/metadata/generation"),
            "replicas": wanted, "updatedReplicas": wanted,
            "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": wanted - ready,
            "conditions": [{
                "type": "Available", "status": available, "reason": "MinimumReplicas", "message": "",
                "lastTransitionTime": when, "lastUpdateTime": when,
            }],
        });
        self.report(Kind::Deployment, key, &deployment, &status).await
    }

    pub(super) async fn keep_daemon_set(&mut self, key: &Key) -> Result<(), Again> {
        let Some(set) = self.seen.get(Kind::DaemonSet, key).cloned() else { return Ok(()) };
        let ready = self.rolled_out(key, 1);
        let status = json!({
            "observedGeneration": at(&set, "/metadata/generation"),
            "desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1,
            "numberMisscheduled": 0, "numberReady": ready, "numberAvailable": ready, "numberUnavailable": 1 - ready,
        });
        self.report(Kind::DaemonSet, key, &set, &status).await
    }

    fn rolled_out(&self, key: &Key, wanted: u64) -> u64 {
        if self.knobs().never_rolled_out.contains(key) { 0 } else { wanted }
    }

    async fn report(&mut self, kind: Kind, key: &Key, object: &Value, status: &Value) -> Result<(), Again> {
        let zeros_left_out = with_zeros(object, status);
        let Some(patch) = status_patch(&zeros_left_out, status).filter(|_| !is_ending(object)) else {
            return Ok(());
        };
        let api = kind.api(&self.client, &key.0);
        let written = api.patch_status(&key.1, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.seen.put(kind, &written);
        Ok(())
    }
}

/// The object with a 0 wherever a count may have been left out.
fn with_zeros(object: &Value, status: &Value) -> Value {
    let mut object = object.clone();
    if object["status"].is_object() {
        for (name, value) in status.as_object().into_iter().flatten() {
            if value.is_u64() && object["status"][name].is_null() {
                object["status"][name] = 0.into();
            }
        }
    }
    object
}
