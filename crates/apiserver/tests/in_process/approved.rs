//! A definition in a group that is built in gets its names if it is approved, and changes nothing of what is served.

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::widgets::{crds, definition, read, server};

#[tokio::test(start_paused = true)]
async fn what_is_built_in_is_not_replaced_and_not_removed() {
    let (_server, client) = server().await;
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let lease = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    leases.create(&PostParams::default(), &lease).await.unwrap();
    for plural in ["leases", "others"] {
        let name = format!("{plural}.coordination.k8s.io");
        let mut crd = definition();
        crd["metadata"] = json!({"name": name, "annotations": {
            "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1",
        }});
        crd["spec"]["group"] = "coordination.k8s.io".into();
        crd["spec"]["names"] = json!({"plural": plural, "kind": format!("Kind{plural}")});
        let made = crds(&client).create(&PostParams::default(), &read(crd)).await.unwrap();
        let made = crds(&client).get(made.metadata.name.as_deref().unwrap()).await.unwrap();
        assert_eq!(made.data["status"]["conditions"][1]["type"], "Established", "{made:?}");
        assert_eq!(made.data["status"]["conditions"][1]["status"], "True", "{made:?}");
        let list = http::Request::get(format!("/apis/coordination.k8s.io/v1/{plural}")).body(vec![]).unwrap();
        let answer = client.request::<serde_json::Value>(list).await;
        match plural {
            "leases" => assert_eq!(answer.unwrap()["items"][0]["metadata"]["name"], "a"),
            _ => assert!(matches!(answer, Err(kube::Error::Api(status)) if status.code == 404)),
        }
        crds(&client).delete(&name, &DeleteParams::default()).await.unwrap();
        assert!(crds(&client).get_opt(&name).await.unwrap().is_none());
        leases.get("a").await.unwrap();
    }
}
