//! `muster operator` from its ready line to its end.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;

use crate::muster::{Running, muster};

/// Far longer than it takes.
const WITHIN: Duration = Duration::from_secs(60);

async fn holder(leases: &Api<Lease>) -> String {
    let lease = leases.get("muster-operator").await.unwrap();
    lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default()
}

#[tokio::test]
async fn it_takes_the_lease_and_gives_it_back_when_it_is_told_to_end() {
    let server = Running::start(&["--ephemeral"]);
    let client = server.client().await;
    for crd in muster_api::crds() {
        let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
        crds.create(&PostParams::default(), &crd).await.unwrap();
    }
    // One that was given back is free at once.
    let leases: Api<Lease> = Api::namespaced(client, "default");
    let free = json!({"metadata": {"name": "muster-operator"}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 1}});
    leases.create(&PostParams::default(), &serde_json::from_value(free).unwrap()).await.unwrap();
    for signal in ["-TERM", "-INT"] {
        let kubeconfig = server.kubeconfig.display().to_string();
        let words =
            ["operator", "--namespace", "default", "--listen", "127.0.0.1:0", "--kubeconfig", &kubeconfig];
        let operator = Running::until_ready(&mut muster(&words), "ready: http://127.0.0.1:");
        let began = Instant::now();
        while holder(&leases).await.is_empty() {
            assert!(began.elapsed() < WITHIN, "it does not lead");
            drop(tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>()).await);
        }
        operator.signal(signal);
        assert_eq!(operator.end(), (Some(0), String::new()), "{signal}");
        assert_eq!(holder(&leases).await, "", "{signal}: the next one need not wait");
    }
}
