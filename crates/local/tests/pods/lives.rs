//! Pods start, are ready, fail and are started again, and outlive their node.

use k8s_openapi::api::core::v1::{Node, PersistentVolumeClaim};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use muster_local::sandbox::Identity;
use serde_json::json;

use super::bench::{Bench, NODE, condition, isolations, shell};

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_runs_and_is_ready_when_its_probe_says_so() {
    for isolation in isolations() {
        let bench = Bench::new("ready", isolation).await;
        let flag = bench.directory.join("flag");
        let mut main = shell("main", "echo hello; echo trouble >&2; exec tail -f /dev/null");
        main["readinessProbe"] = json!({"exec": {"command": ["test", "-e", flag]}, "periodSeconds": 1});
        // What the probe looks at is the machine's: mounted, it is seen in either way.
        main["volumeMounts"] = json!([{"name": "here", "mountPath": bench.directory}]);
        let volume = json!({"name": "here", "hostPath": {"path": bench.directory}});
        bench.create("one", json!({"containers": [main], "volumes": [volume]})).await;
        let pod = bench.until("one", "to run", |pod| pod["status"]["phase"] == "Running").await;
        assert_eq!(condition(&pod, "Ready"), "False");
        assert_eq!(pod["spec"]["nodeName"], "here");
        assert!(pod["status"]["podIP"].as_str().unwrap().starts_with("127.77."));
        std::fs::write(flag, "").unwrap();
        bench.until_ready("one").await;
        let logs = bench.logs();
        assert!(logs.contains(" stdout F hello") && logs.contains(" stderr F trouble"), "{logs}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_ends_is_started_again() {
    for isolation in isolations() {
        let bench = Bench::new("again", isolation).await;
        bench.create("one", json!({"containers": [shell("main", "exit 3")]})).await;
        let pod = bench
            .until("one", "to be started twice", |pod| {
                pod["status"]["containerStatuses"][0]["restartCount"] == 2
            })
            .await;
        let last = &pod["status"]["containerStatuses"][0]["lastState"]["terminated"];
        assert_eq!((&last["exitCode"], &last["reason"]), (&json!(3), &json!("Error")));
        let id = last["containerID"].as_str().unwrap();
        assert!(id.starts_with("muster://") && id.ends_with("/main/1"), "{id}");
        assert_eq!(pod["status"]["phase"], "Running", "what is started again has not failed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_not_started_again_has_ended() {
    let bench = Bench::new("ended", isolations()[0]).await;
    let spec =
        |policy: &str, script: &str| json!({"containers": [shell("main", script)], "restartPolicy": policy});
    bench.create("well", spec("OnFailure", "exit 0")).await;
    bench.until("well", "to end", |pod| pod["status"]["phase"] == "Succeeded").await;
    bench.create("badly", spec("Never", "exit 1")).await;
    bench.until("badly", "to end", |pod| pod["status"]["phase"] == "Failed").await;
    bench.create("again", spec("OnFailure", "exit 1")).await;
    let restarted = |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["restartCount"] == 1;
    let pod = bench.until("again", "to be started again", restarted).await;
    assert_eq!(pod["status"]["phase"], "Running");
}

#[tokio::test(flavor = "multi_thread")]
async fn init_containers_come_first_and_one_after_another() {
    for isolation in isolations() {
        let bench = Bench::new("init", isolation).await;
        let mount = json!([{"name": "shared", "mountPath": "/shared"}]);
        let with = |mut container: serde_json::Value| {
            container["volumeMounts"] = mount.clone();
            container["env"] = json!([{"name": "SHARED", "value": "/shared"}]);
            container
        };
        bench.create("one", json!({
            "initContainers": [
                with(shell("first", "test -e $SHARED/tried && echo 1 > $SHARED/first; touch $SHARED/tried; test -e $SHARED/first")),
                with(shell("second", "test -e $SHARED/first && echo 2 > $SHARED/second")),
            ],
            "containers": [with(shell("main", "test -e $SHARED/second && exec tail -f /dev/null"))],
            "volumes": [{"name": "shared", "emptyDir": {}}],
        })).await;
        let pod = bench.until_ready("one").await;
        let init = &pod["status"]["initContainerStatuses"];
        assert_eq!(
            (&init[0]["restartCount"], &init[1]["restartCount"]),
            (&json!(1), &json!(0)),
            "the first failed once"
        );
        assert_eq!(init[1]["state"]["terminated"]["reason"], "Completed");
        assert_eq!(pod["status"]["containerStatuses"][0]["restartCount"], 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_does_not_live_is_ended_and_started_again() {
    for isolation in isolations() {
        let bench = Bench::new("unwell", isolation).await;
        let mut main = shell("main", "trap 'exit 5' TERM; while true; do sleep 0.1; done");
        // Late enough for the shell to listen to signals by then.
        let probe = json!({
            "tcpSocket": {"port": 9}, "periodSeconds": 1, "failureThreshold": 1, "initialDelaySeconds": 1,
        });
        main["livenessProbe"] = probe;
        bench.create("one", json!({"containers": [main]})).await;
        let pod = bench
            .until("one", "to be started again", |pod| {
                pod["status"]["containerStatuses"][0]["restartCount"] == 1
            })
            .await;
        let last = &pod["status"]["containerStatuses"][0]["lastState"]["terminated"];
        assert_eq!((&last["exitCode"], &last["reason"]), (&json!(5), &json!("Unwell")));
        assert!(last["message"].as_str().unwrap().contains(":9: "), "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_outlives_its_node_with_its_address() {
    for isolation in isolations() {
        let mut bench = Bench::new("outlives", isolation).await;
        let script = "trap 'exit 0' TERM; while true; do sleep 0.1; done";
        bench.create("one", json!({"containers": [shell("main", script)]})).await;
        let before = bench.until_ready("one").await;
        bench.stop_node().await;
        bench.start_node();
        let again = bench
            .until("one", "to run again", |pod| {
                pod["status"]["containerStatuses"][0]["restartCount"] == 1
                    && condition(pod, "Ready") == "True"
            })
            .await;
        assert_eq!(again["status"]["podIP"], before["status"]["podIP"]);
        assert_eq!(again["status"]["startTime"], before["status"]["startTime"]);
        let last = &again["status"]["containerStatuses"][0]["lastState"]["terminated"];
        assert_eq!(last["reason"], "NodeRestart");
    }
}

/// It is not asked before whether it lives, which it would not survive, nor whether it is ready, which would be heard too early.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_starts_slowly_is_asked_only_whether_it_has_started() {
    let bench = Bench::new("slowly", isolations()[0]).await;
    let file = |name: &str| bench.directory.join(name);
    let (started, asked) = (file("started"), file("asked"));
    let mut main = shell("main", "exec tail -f /dev/null");
    // On a busy machine a command takes its time.
    let probe = |script: String, failures: u32| {
        let exec = json!({"command": ["sh", "-c", script]});
        json!({"exec": exec, "periodSeconds": 1, "timeoutSeconds": 60, "failureThreshold": failures})
    };
    main["startupProbe"] = probe(format!("echo >> {}; test -e {}", asked.display(), started.display()), 1000);
    // At once right and wrong, before it has started.
    main["readinessProbe"] = probe("true".into(), 1);
    main["livenessProbe"] = probe(format!("test -e {}", started.display()), 1);
    let mut other = shell("other", "exec tail -f /dev/null");
    other["startupProbe"] = main["startupProbe"].clone();
    bench.create("one", json!({"containers": [main, other]})).await;
    // Both of them twice at least.
    bench.until_said(&asked, |said| said.len() >= 6).await;
    let pod = bench.until("one", "to run", |pod| pod["status"]["phase"] == "Running").await;
    assert_eq!(condition(&pod, "Ready"), "False");
    std::fs::write(started, "").unwrap();
    let pod = bench.until_ready("one").await;
    for container in pod["status"]["containerStatuses"].as_array().unwrap() {
        assert_eq!(
            (&container["restartCount"], &container["started"]),
            (&json!(0), &json!(true)),
            "{container}"
        );
    }
}

/// A node that was killed may leave a process behind. Others take the word that it has ended for a proof.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_ends_what_an_earlier_one_left_before_it_says_so() {
    let mut bench = Bench::new("left", isolations()[0]).await;
    let script = "trap 'exit 0' TERM; while true; do sleep 0.1; done";
    bench.create("one", json!({"containers": [shell("main", script)]})).await;
    let pod = bench.until_ready("one").await;
    bench.stop_node().await;
    let mut left = std::process::Command::new("tail").args(["-f", "/dev/null"]).spawn().unwrap();
    let uid = pod["metadata"]["uid"].as_str().unwrap();
    let noted = bench.directory.join("pods").join(uid).join("containers/main/processes");
    std::fs::remove_file(&noted).unwrap();
    Identity::of(left.id().try_into().unwrap()).unwrap().note(&noted).unwrap();
    bench.start_node();
    let restarted = |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["restartCount"] == 1;
    bench.until("one", "to be said to have ended", restarted).await;
    assert!(left.try_wait().unwrap().is_some(), "it has ended by then");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_run_says_why() {
    let bench = Bench::new("why", isolations()[0]).await;
    let waiting = |pod: &serde_json::Value| pod["status"]["containerStatuses"][0]["state"]["waiting"].clone();
    let missing = json!({"name": "main", "image": "x", "command": ["no-such-program"]});
    bench.create("missing", json!({"containers": [missing]})).await;
    let pod = bench.until("missing", "to wait", |pod| waiting(pod)["reason"] == "CommandNotFound").await;
    let message = waiting(&pod)["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("there is no command \"no-such-program\" on this machine"), "{message}");
    bench.create("image", json!({"containers": [{"name": "main", "image": "x"}]})).await;
    bench.until("image", "to wait", |pod| waiting(pod)["reason"] == "NoCommand").await;
    let mut main = shell("main", "true");
    main["volumeMounts"] = json!([{"name": "v", "mountPath": "/v"}]);
    let volume = json!({"name": "v", "secret": {"secretName": "gone"}});
    bench.create("secret", json!({"containers": [main], "volumes": [volume]})).await;
    let pod = bench.until("secret", "to wait", |pod| waiting(pod)["message"].is_string()).await;
    assert_eq!(waiting(&pod)["message"], "volume \"v\": secret \"gone\" not found");
    bench
        .create("elsewhere", json!({"containers": [shell("main", "true")], "nodeSelector": {"a": "b"}}))
        .await;
    let pod = bench.until("elsewhere", "to wait", |pod| condition(pod, "PodScheduled") == "False").await;
    assert_eq!(pod["status"]["conditions"][0]["reason"], "Unschedulable");
}

/// As its message says: `kubectl label node`. Nothing of the Pod changes with that.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_fits_no_node_gets_one_when_the_node_changes() {
    let bench = Bench::new("fits", isolations()[0]).await;
    let main = shell("main", "exec tail -f /dev/null");
    bench.create("one", json!({"containers": [main], "nodeSelector": {"a": "b"}})).await;
    bench.until("one", "to wait", |pod| condition(pod, "PodScheduled") == "False").await;
    let nodes: Api<Node> = Api::all(bench.client.clone());
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    nodes.patch(NODE, &PatchParams::default(), &Patch::Merge(labels)).await.unwrap();
    bench.until_ready("one").await;
}

/// The claim waits for the Pods that have a node, so a Pod that got one meanwhile would keep it from ending: both would wait for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_gets_no_node_while_its_claim_is_being_deleted() {
    let bench = Bench::new("claim", isolations()[0]).await;
    bench.claim(&["muster.dev/held-by-this-test"]).await;
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(bench.client.clone(), "default");
    claims.delete("c", &DeleteParams::default()).await.unwrap();
    let mut main = shell("main", "exec tail -f /dev/null");
    main["volumeMounts"] = json!([{"name": "v", "mountPath": "/v"}]);
    let volume = json!({"name": "v", "persistentVolumeClaim": {"claimName": "c"}});
    bench.create("one", json!({"containers": [main], "volumes": [volume]})).await;
    let pod = bench.until("one", "to wait", |pod| condition(pod, "PodScheduled") == "False").await;
    let message = &pod["status"]["conditions"][0]["message"];
    assert_eq!(message, "persistentvolumeclaim \"c\" is being deleted");
    let let_go = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    claims.patch("c", &PatchParams::default(), &let_go).await.unwrap();
    let missing = "persistentvolumeclaim \"c\" not found";
    bench.until("one", "to miss it", |pod| pod["status"]["conditions"][0]["message"] == missing).await;
    bench.claim(&[]).await;
    bench.until_ready("one").await;
}
