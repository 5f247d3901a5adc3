//! What a new API server lacks: our definitions, the engines, and the operator's namespace.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use crate::engines;

/// Who writes these objects.
const MANAGER: &str = "muster-up";
/// Where the operator's Lease is.
const NAMESPACE: &str = "muster-system";

/// How long a definition may take to be served. It takes milliseconds, or never: its names may be another's.
const SERVED_WITHIN: Duration = Duration::from_secs(30);

/// Installs all of it, or brings it up to date.
pub(super) async fn install(client: &Client) -> Result<()> {
    let params = PatchParams::apply(MANAGER).force();
    define(client, &params, SERVED_WITHIN).await?;
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

/// Our definitions, each served before the next.
async fn define(client: &Client, params: &PatchParams, limit: Duration) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in muster_api::crds::crds() {
        let name = crd.name_any();
        let failed = || format!("cannot install the definition {name}");
        crds.patch(&name, params, &Patch::Apply(&crd)).await.with_context(failed)?;
        let served = await_condition(crds.clone(), &name, conditions::is_crd_established());
        let Ok(served) = tokio::time::timeout(limit, served).await else {
            let found = crds.get_opt(&name).await.with_context(failed)?;
            bail!(
                "the definition {name} is not served after {} s: {}. Look with `muster apiserver` on the same directory and \
                 `kubectl get crds`, and delete what is in its way; or take another --data-dir",
                limit.as_secs(),
                found.as_ref().map_or_else(|| "someone deleted it".to_owned(), amiss)
            );
        };
        served.with_context(failed)?;
    }
    Ok(())
}

/// What the API server says against a definition.
fn amiss(crd: &CustomResourceDefinition) -> String {
    let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let unmet = conditions.filter(|condition| condition.status != "True" && condition.message.is_some());
    let said: Vec<&str> = unmet.filter_map(|condition| condition.message.as_deref()).collect();
    if said.is_empty() { "the API server does not say why".to_owned() } else { said.join("; ") }
}

fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// Takes the kind of our first definition, which it tells.
#[cfg(test)]
pub(super) async fn squat(client: &Client) -> String {
    let mut squatter = muster_api::crds::crds().into_iter().next().unwrap();
    squatter.metadata.name = Some(format!("squatters.{}", squatter.spec.group));
    squatter.spec.names.plural = "squatters".to_owned();
    squatter.spec.names.singular = Some("squatter".to_owned());
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("someone");
    crds.patch(&squatter.name_any(), &params, &Patch::Apply(&squatter)).await.unwrap();
    squatter.spec.names.kind
}

#[cfg(test)]
mod tests {
    use kube::api::ListParams;
    use muster_apiserver::server::Server;

    use super::*;

    async fn client() -> Client {
        Client::new(Server::builder().build().await, "default")
    }

    #[tokio::test]
    async fn a_new_server_has_all_of_it_and_a_second_time_changes_nothing() {
        let client = client().await;
        for _ in 0..2 {
            install(&client).await.unwrap();
        }
        let crds: Api<CustomResourceDefinition> = Api::all(client);
        assert_eq!(
            crds.list(&ListParams::default()).await.unwrap().items.len(),
            muster_api::crds::crds().len()
        );
    }

    #[tokio::test]
    async fn a_definition_that_is_never_served_is_told_with_what_is_in_its_way() {
        let client = client().await;
        let params = PatchParams::apply("someone");
        let kind = squat(&client).await;
        let complaint = define(&client, &params, Duration::from_millis(100)).await.unwrap_err().to_string();
        for word in ["is not served after", &kind, "take another --data-dir"] {
            assert!(complaint.contains(word), "{word} is not in {complaint}");
        }
    }
}
