//! What containers see: volumes, `ConfigMaps` and Secrets that change, fields of their Pod, and their own part of a claim.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;
use kube::api::{Patch, PatchParams};
use muster_local::pods::Isolation;
use serde_json::json;

use super::bench::{Bench, isolations, shell};

#[tokio::test(flavor = "multi_thread")]
async fn volumes_are_seen_where_they_are_mounted() {
    for isolation in isolations() {
        let bench = Bench::new("seen", isolation).await;
        bench.put::<ConfigMap>(json!({"metadata": {"name": "m"}, "data": {"a": "one", "b": "two"}})).await;
        bench.put::<Secret>(json!({"metadata": {"name": "s"}, "stringData": {"key": "secret"}})).await;
        bench.claim(&[]).await;
        let script = "cat $CONFIG/renamed $SECRET/key $DOWN/name > $DATA/seen; hostname > $DATA/host; pwd > $DATA/pwd; \
            exec tail -f /dev/null";
        let mut main = shell("main", script);
        main["env"] = json!([
            {"name": "CONFIG", "value": "/config"}, {"name": "SECRET", "value": "/secret"},
            {"name": "DOWN", "value": "/down"}, {"name": "DATA", "value": "/data"},
        ]);
        main["workingDir"] = "/data".into();
        main["volumeMounts"] = json!([
            {"name": "config", "mountPath": "/config", "readOnly": true}, {"name": "secret", "mountPath": "/secret"},
            {"name": "down", "mountPath": "/down"}, {"name": "claim", "mountPath": "/data", "subPath": "part/inner"},
        ]);
        bench.create("one", json!({"containers": [main], "volumes": [
            {"name": "config", "configMap": {"name": "m", "items": [{"key": "a", "path": "renamed"}]}},
            {"name": "secret", "secret": {"secretName": "s", "defaultMode": 0o400}},
            {"name": "down", "downwardAPI": {"items": [
                {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
            ]}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
        ]})).await;
        let part = bench.directory.join("volume/part/inner");
        bench.until_text(&part.join("seen"), "onesecretone").await;
        let apart = isolation == Isolation::Namespaces;
        let here = part.display().to_string();
        bench.until_text(&part.join("pwd"), if apart { "/data" } else { &here }).await;
        if apart {
            bench.until_text(&part.join("host"), "one").await;
            assert!(!std::path::Path::new("/config").exists(), "nothing of it is seen on the machine");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_volume_shows_what_it_is_projected_from() {
    for isolation in isolations() {
        let bench = Bench::new("projected", isolation).await;
        bench.put::<ConfigMap>(json!({"metadata": {"name": "m"}, "data": {"a": "one", "b": "two"}})).await;
        bench.put::<Secret>(json!({"metadata": {"name": "s"}, "stringData": {"key": "secret"}})).await;
        let script = "cd $ALL; while true; do \
            { cat deep/a key name; ls; stat -L -c %a deep/a key name; } | tr '\\n' ' ' > $OUT/seen; sleep 0.1; done";
        let mut main = shell("main", script);
        main["env"] = json!([{"name": "ALL", "value": "/all"}, {"name": "OUT", "value": "/out"}]);
        main["volumeMounts"] =
            json!([{"name": "all", "mountPath": "/all"}, {"name": "out", "mountPath": "/out"}]);
        bench.create("one", json!({"containers": [main], "volumes": [
            {"name": "all", "projected": {"defaultMode": 0o440, "sources": [
                {"configMap": {"name": "m", "items": [{"key": "a", "path": "deep/a", "mode": 0o400}]}},
                {"configMap": {"name": "none", "optional": true}},
                {"secret": {"name": "s"}},
                {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            ]}},
            {"name": "out", "hostPath": {"path": bench.directory}},
        ]})).await;
        bench.until_text(&bench.directory.join("seen"), "onesecretonedeep key name 400 440 440").await;
        // It is one volume: what changes in one of its sources is seen beside the others.
        let secrets: Api<Secret> = Api::namespaced(bench.client.clone(), "default");
        let patch = Patch::Merge(json!({"stringData": {"key": "other"}}));
        secrets.patch("s", &PatchParams::default(), &patch).await.unwrap();
        bench.until_text(&bench.directory.join("seen"), "oneotheronedeep key name 400 440 440").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_secret_is_seen_without_a_restart() {
    let bench = Bench::new("changed", isolations()[isolations().len() - 1]).await;
    bench
        .put::<Secret>(json!({"metadata": {"name": "s"}, "stringData": {"key": "before", "old": "x"}}))
        .await;
    let mut main =
        shell("main", "while true; do cat $SECRET/key > $OUT/seen; ls $SECRET > $OUT/names; sleep 0.1; done");
    main["env"] = json!([{"name": "SECRET", "value": "/secret"}, {"name": "OUT", "value": "/out"}]);
    main["volumeMounts"] =
        json!([{"name": "secret", "mountPath": "/secret"}, {"name": "out", "mountPath": "/out"}]);
    bench
        .create(
            "one",
            json!({"containers": [main], "volumes": [
                {"name": "secret", "secret": {"secretName": "s"}},
                {"name": "out", "hostPath": {"path": bench.directory}},
            ]}),
        )
        .await;
    bench.until_text(&bench.directory.join("seen"), "before").await;
    let secrets: Api<Secret> = Api::namespaced(bench.client.clone(), "default");
    let patch = json!({"stringData": {"key": "after"}, "data": {"old": null}});
    secrets.patch("s", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    bench.until_text(&bench.directory.join("seen"), "after").await;
    bench.until_text(&bench.directory.join("names"), "key").await;
}
