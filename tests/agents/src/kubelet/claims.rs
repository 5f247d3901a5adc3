//! Claims are bound, and grow when they are asked to.

use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::objects::{at, is_ending, status_patch, text};
use super::seen::Kind;
use super::work::{Again, Work};
use crate::state::Key;

impl Work {
    pub(super) async fn keep_claim(&mut self, key: &Key) -> Result<(), Again> {
        let Some(claim) = self.seen.get(Kind::Claim, key).cloned() else { return Ok(()) };
        let bound = text(&claim, "/status/phase") == "Bound";
        if is_ending(&claim) || (bound && self.knobs().claims_stay) {
            return Ok(());
        }
        let claims = Kind::Claim.api(&self.client, &key.0);
        let params = PatchParams::default();
        if text(&claim, "/spec/volumeName").is_empty() {
            let volume = json!({"spec": {"volumeName": format!("pvc-{}", text(&claim, "/metadata/uid"))}});
            claims.patch(&key.1, &params, &Patch::Merge(&volume)).await?;
        }
        let status = json!({
            "phase": "Bound",
            "accessModes": at(&claim, "/spec/accessModes"),
            "capacity": {"storage": at(&claim, "/spec/resources/requests/storage")},
        });
        let Some(patch) = status_patch(&claim, &status) else { return Ok(()) };
        let written = claims.patch_status(&key.1, &params, &Patch::Merge(&patch)).await?;
        self.seen.put(Kind::Claim, &written);
        Ok(())
    }
}
