//! `kubectl logs` on the Pods of members.

use std::process::{Command, Stdio};

use muster_test_assets::{Binary, locate};

use crate::suite::Cluster;

#[test]
fn kubectl_shows_what_members_say() {
    let cluster = Cluster::ready("logs", 1);
    let pod = format!("{}-0", cluster.member(0));
    let logs = |words: &[&str]| {
        let all: Vec<&str> = ["logs", &pod].iter().chain(words).copied().collect();
        cluster.world().try_kubectl(&all)
    };
    let all = logs(&["-c", "main"]).unwrap();
    assert!(!all.is_empty(), "the agent says what it does");
    assert_eq!(logs(&["-c", "main", "--tail=1"]).unwrap().lines().count(), 1);
    assert_eq!(logs(&["-c", "main", "--limit-bytes=7"]).unwrap().len(), 7);
    assert!(logs(&["-c", "main", "--since=1h"]).unwrap().len() >= all.len());
    let timed = logs(&["-c", "main", "--timestamps", "--tail=1"]).unwrap();
    let time = timed.split(' ').next().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{timed}");
    let none = logs(&["-c", "main", "--previous"]).unwrap_err();
    assert!(
        none.contains("previous terminated container \"main\" in pod") && none.contains("not found"),
        "{none}"
    );
    let wrong = logs(&["-c", "nobody"]).unwrap_err();
    assert!(wrong.contains("container nobody is not valid for pod"), "{wrong}");

    // Who follows hears the end of the run, and the one before is kept.
    let kubectl = locate().unwrap().path(Binary::Kubectl);
    let mut follow = Command::new(kubectl);
    follow.args(["logs", "-f", &pod, "-c", "main"]).env("KUBECONFIG", cluster.world().kubeconfig());
    let follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let before = cluster.agent(&cluster.member(0));
    cluster.kill_agent(&cluster.member(0));
    let followed = follow.wait_with_output().unwrap();
    assert!(followed.status.success(), "{followed:?}");
    assert!(String::from_utf8_lossy(&followed.stdout).starts_with(&all), "{followed:?}");
    cluster
        .until("it runs again", |_| cluster.agent(&cluster.member(0)).is_some_and(|pid| Some(pid) != before));
    assert!(logs(&["-c", "main", "--previous"]).unwrap().starts_with(&all));
    cluster.until_ready();
}
