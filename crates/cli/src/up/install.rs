//! What a new API server lacks: our definitions, the engines, and the operator's namespace.

use anyhow::{Context, Result};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use crate::engines;

/// Who writes these objects.
const MANAGER: &str = "muster-up";
/// Where the operator's Lease is.
const NAMESPACE: &str = "muster-system";

/// Installs all of it, or brings it up to date.
pub(super) async fn install(client: &Client) -> Result<()> {
    let params = PatchParams::apply(MANAGER).force();
    let crds = Api::all(client.clone());
    for crd in muster_api::crds::crds() {
        let name = crd.name_any();
        let failed = || format!("cannot install the definition {name}");
        crds.patch(&name, &params, &Patch::Apply(&crd)).await.with_context(failed)?;
        let served = await_condition(crds.clone(), &name, conditions::is_crd_established());
        served.await.with_context(failed)?;
    }
    let namespaces: Api<DynamicObject> = Api::all_with(client.clone(), &resource("", "v1", "Namespace"));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    namespaces
        .patch(NAMESPACE, &params, &Patch::Apply(&namespace))
        .await
        .context("cannot make the namespace")?;
    let engines: Api<DynamicObject> =
        Api::all_with(client.clone(), &resource("muster.dev", "v1alpha1", "ReplicationEngine"));
    for (name, manifest) in engines::MANIFESTS {
        let failed = || format!("cannot install the engine {name}");
        let engine = engines::parse(manifest).with_context(failed)?;
        engines.patch(name, &params, &Patch::Apply(&engine)).await.with_context(failed)?;
    }
    Ok(())
}

fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}
