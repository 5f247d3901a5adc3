//! The Lease of an earlier `muster up` that was killed: whoever holds the directory knows that it is dead, and need not wait.

use anyhow::{Context, Result};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, PostParams};
use muster_api::names::{LEASE_NAME, OPERATOR_NAMESPACE};

/// How the operator of `muster up` is called in the Lease. Only one that ran on the same directory can have written it there.
pub(super) const HOLDER: &str = "muster-up";
/// What a holder leaves that gave it back.
const RELEASED_SECONDS: i32 = 1;

/// Gives back what a dead one held.
pub(super) async fn give_back(client: &Client) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), OPERATOR_NAMESPACE);
    let found = leases.get_opt(LEASE_NAME).await.context("cannot read the operator's Lease")?;
    let Some(mut lease) = found else { return Ok(()) };
    let Some(spec) = lease.spec.as_mut() else { return Ok(()) };
    let ours = |holder: &String| holder.starts_with(&format!("{HOLDER}_"));
    if spec.holder_identity.as_ref().is_some_and(ours) {
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(RELEASED_SECONDS);
        let given = leases.replace(LEASE_NAME, &PostParams::default(), &lease).await;
        given.context("cannot give back the Lease of an operator that is dead")?;
    }
    Ok(())
}
