//! Pods end as they are asked to, and nothing of them is left.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use muster_local::pods::Isolation;
use muster_local::sandbox::{self, Mount, Order, View};
use muster_test_control_plane::{eventually, skip_part};
use serde_json::{Value, json};

use super::bench::{Bench, isolations, shell};

/// Starts a process in a session of its own, which listens to nobody and holds a file open, and goes on when it does.
const LEAVES_ONE: &str = "setsid sh -c 'trap \"\" HUP TERM; exec 9> $0/held; touch $0/up; while true; do sleep 1; done' $OUT & \
                          while [ ! -e $OUT/up ]; do sleep 0.05; done;";

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

/// Who its processes are is noted in a file; whoever throws that away does not make them immortal.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_ends_though_someone_removed_what_was_noted_of_it() {
    for isolation in isolations() {
        let bench = Bench::new("removed", isolation).await;
        let main = shell("main", "trap '' TERM; while true; do sleep 0.1; done");
        bench.create("one", json!({"containers": [main], "terminationGracePeriodSeconds": 1})).await;
        let pod = bench.until_ready("one").await;
        let group = pid_in(&bench.directory);
        let kept = bench.directory.join("pods").join(pod["metadata"]["uid"].as_str().unwrap());
        std::fs::remove_file(kept.join("containers/main/processes")).unwrap();
        bench.delete("one").await;
        bench.until_gone("one").await;
        until(|| alive_in_session(group) == 0, "its processes are gone");
    }
}

/// The word that a container has ended is a proof for others: what it started, in sessions of its own too, must be gone by then.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_container_lives_when_it_is_said_to_have_ended() {
    for isolation in isolations() {
        // A Pod writes `$$` for one `$`.
        for (how, end) in [("exits", "exit 0"), ("killed", "kill -KILL $$$$")] {
            if how == "killed" && isolation == Isolation::Namespaces {
                // The first process of a namespace cannot kill itself.
                continue;
            }
            let bench = Bench::new(how, isolation).await;
            let mut main = shell("main", &format!("{LEAVES_ONE} {end}"));
            main["env"] = json!([{"name": "OUT", "value": bench.directory}]);
            main["volumeMounts"] = json!([{"name": "out", "mountPath": bench.directory}]);
            let volume = json!({"name": "out", "hostPath": {"path": bench.directory}});
            let spec = json!({"containers": [main], "volumes": [volume], "restartPolicy": "Never"});
            bench.create("one", spec).await;
            let over = |pod: &Value| !pod["status"]["containerStatuses"][0]["state"]["terminated"].is_null();
            let pod = bench.until("one", "to end", over).await;
            assert_eq!(
                held(&bench.directory.join("held")),
                0,
                "its lock is held by nobody: {isolation:?}, {how}"
            );
            let code = &pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"];
            assert_eq!(*code, if how == "exits" { 0 } else { 137 });
        }
    }
}

#[test]
fn a_container_dies_with_whoever_started_it() {
    for isolated in [false, true] {
        if isolated && !rustix::process::geteuid().is_root() {
            skip_part("only root may have namespaces");
            continue;
        }
        let directory = place(&format!("dies-{isolated}"));
        let script = format!("OUT={}; {LEAVES_ONE} exec sleep 1000", directory.display());
        let file = order(&directory, isolated, &script);
        let script = format!("{} $$ {} & wait", env!("CARGO_BIN_EXE_muster-sandbox"), file.display());
        let mut parent = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        until(|| is_running(&directory.join("pid"), "sleep"), "it runs");
        let pid: u32 = std::fs::read_to_string(directory.join("pid")).unwrap().trim().parse().unwrap();
        assert!(held(&directory.join("held")) > 0);
        parent.kill().unwrap();
        parent.wait().unwrap();
        until(|| !Path::new(&format!("/proc/{pid}")).exists(), "it dies too");
        until(|| held(&directory.join("held")) == 0, "and so does what it started");
        std::fs::remove_dir_all(directory).unwrap();
    }
}

/// A guard that is killed can end nobody any more; there is another one.
#[test]
fn a_container_dies_with_each_of_its_guards() {
    for (which, generations) in [("inner", 1), ("outer", 2)] {
        let directory = place(&format!("guards-{which}"));
        let script = format!("OUT={}; {LEAVES_ONE} exec sleep 1000", directory.display());
        let file = order(&directory, false, &script);
        let mut sandbox = Command::new(env!("CARGO_BIN_EXE_muster-sandbox"));
        let mut sandbox = sandbox.arg(std::process::id().to_string()).arg(&file).spawn().unwrap();
        until(|| is_running(&directory.join("pid"), "sleep"), "it runs");
        let pid: u32 = std::fs::read_to_string(directory.join("pid")).unwrap().trim().parse().unwrap();
        assert!(held(&directory.join("held")) > 0);
        let guard = (0..generations).fold(pid, |process, _| parent_of(process));
        let is_outer = guard == sandbox.id();
        assert_eq!(is_outer, which == "outer", "{guard} is not the {which} one of {pid}");
        let killed = Command::new("kill").args(["-KILL", &guard.to_string()]).status().unwrap();
        assert!(killed.success());
        until(|| !Path::new(&format!("/proc/{pid}")).exists(), "the program dies too");
        until(|| held(&directory.join("held")) == 0, "and so does what it started");
        let ended = sandbox.wait().unwrap();
        assert_eq!(ended.code(), (!is_outer).then_some(128 + 9), "{which}");
        std::fs::remove_dir_all(directory).unwrap();
    }
}

/// Whoever started it may have ended before it could ask to be told: then it has another parent than the one that it was told of.
#[test]
fn a_container_whose_starter_ended_first_does_not_run() {
    let directory = place("orphan");
    let file = order(&directory, false, &format!("echo ran > {}", directory.join("ran").display()));
    for before in [Vec::new(), vec!["--second"], vec!["--inside"]] {
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

/// How many processes hold this file open, whatever they call it.
fn held(file: &Path) -> usize {
    let identity = |file: &Path| std::fs::metadata(file).ok().map(|file| (file.dev(), file.ino()));
    let wanted = identity(file);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let holds = |entry: &std::fs::DirEntry| {
        let mut open = std::fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        open.any(|open| identity(&open.path()) == wanted)
    };
    wanted.map_or(0, |_| processes.filter(holds).count())
}

fn parent_of(process: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
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
