//! Pods end as they are asked to, and nothing of them is left.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use muster_local::sandbox::{self, Mount, Order, View};
use muster_test_control_plane::eventually;
use serde_json::json;

use super::bench::{Bench, isolations, shell};

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_pod_is_told_and_then_gone() {
    for isolation in isolations() {
        let bench = Bench::new("told", isolation).await;
        let mut main = shell(
            "main",
            "trap 'echo told > $OUT/end; exit 0' TERM; echo 1 > $OUT/up; while true; do sleep 0.1; done",
        );
        main["env"] = json!([{"name": "OUT", "value": "/out"}]);
        main["volumeMounts"] = json!([{"name": "out", "mountPath": "/out"}]);
        let volume = json!({"name": "out", "hostPath": {"path": bench.directory}});
        bench.create("one", json!({"containers": [main], "volumes": [volume]})).await;
        let pod = bench.until_ready("one").await;
        let kept = bench.directory.join("pods").join(pod["metadata"]["uid"].as_str().unwrap());
        assert!(kept.exists());
        bench.until_text(&bench.directory.join("up"), "1").await;
        bench.delete("one").await;
        bench.until_gone("one").await;
        assert_eq!(std::fs::read_to_string(bench.directory.join("end")).unwrap().trim(), "told");
        until(|| !kept.exists(), "what it had for itself goes with it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_does_not_listen_is_killed_with_all_it_started() {
    for isolation in isolations() {
        let bench = Bench::new("killed", isolation).await;
        let script = "trap '' TERM; sh -c 'trap \"\" TERM; exec sleep 1000' & echo $! > /dev/null; while true; do sleep 0.1; done";
        let spec = json!({"containers": [shell("main", script)], "terminationGracePeriodSeconds": 1});
        bench.create("one", spec).await;
        bench.until_ready("one").await;
        let group = pid_in(&bench.directory);
        assert!(alive_in_session(group) >= 1);
        bench.delete("one").await;
        bench.until_gone("one").await;
        until(|| alive_in_session(group) == 0, "its processes are gone");
    }
}

#[test]
fn a_container_dies_with_whoever_started_it() {
    for isolated in [false, true] {
        if isolated && !rustix::process::geteuid().is_root() {
            continue;
        }
        let directory = place(&format!("dies-{isolated}"));
        let file = order(&directory, isolated, "exec sleep 1000");
        let script = format!("{} $$ {} & wait", env!("CARGO_BIN_EXE_muster-sandbox"), file.display());
        let mut parent = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        until(|| is_running(&directory.join("pid"), "sleep"), "it runs");
        let pid: u32 = std::fs::read_to_string(directory.join("pid")).unwrap().trim().parse().unwrap();
        parent.kill().unwrap();
        parent.wait().unwrap();
        until(|| !Path::new(&format!("/proc/{pid}")).exists(), "it dies too");
        std::fs::remove_dir_all(directory).unwrap();
    }
}

/// Whoever started it may have ended before it could ask to be told: then it has another parent than the one that it was told of.
#[test]
fn a_container_whose_starter_ended_first_does_not_run() {
    let directory = place("orphan");
    let file = order(&directory, false, &format!("echo ran > {}", directory.join("ran").display()));
    for before in [Vec::new(), vec!["--inside"]] {
        let mut sandbox = Command::new(env!("CARGO_BIN_EXE_muster-sandbox"));
        let ended = sandbox.args(before).arg("1").arg(&file).output().unwrap();
        assert_eq!(ended.status.code(), Some(sandbox::NOT_STARTED.into()));
        assert!(String::from_utf8_lossy(&ended.stderr).contains("without its parent"), "{ended:?}");
    }
    assert!(!directory.join("ran").exists());
    std::fs::remove_dir_all(directory).unwrap();
}

/// An empty directory.
fn place(test: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("muster-local-{test}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&directory));
    std::fs::create_dir_all(directory.join("scratch")).unwrap();
    directory
}

/// The file of an order to run this script.
fn order(directory: &Path, isolated: bool, script: &str) -> PathBuf {
    let mount = Mount { from: directory.to_owned(), at: directory.to_owned(), read_only: false };
    let view = View { scratch: directory.join("scratch"), mounts: vec![mount], hostname: "test".into() };
    let order = Order {
        command: ["sh", "-c", script].map(str::to_owned).into(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: "/".into(),
        user: None,
        group: None,
        groups: Vec::new(),
        pid_file: directory.join("pid"),
        noted: directory.join("processes"),
        view: isolated.then_some(view),
    };
    let file = directory.join("order");
    std::fs::write(&file, serde_json::to_vec(&order).unwrap()).unwrap();
    file
}

fn until(test: impl Fn() -> bool, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    eventually(deadline, || if test() { Ok(()) } else { Err(what) }).unwrap();
}

fn is_running(pid_file: &Path, program: &str) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap_or_default();
    std::fs::read_to_string(format!("/proc/{}/comm", pid.trim())).is_ok_and(|name| name.trim() == program)
}

/// The number of the one container's process.
fn pid_in(directory: &Path) -> u32 {
    let pod = std::fs::read_dir(directory.join("pods")).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(pod.join("containers/main/pid")).unwrap().trim().parse().unwrap()
}

/// How many processes live in the session that this one began.
fn alive_in_session(leader: u32) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let sessions = processes.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(3)?.parse::<u32>().ok()
    });
    sessions.filter(|session| *session == leader).count()
}
