//! The control plane itself: it serves, it keeps to itself, and nothing of it stays behind.
#![cfg(test)] // so that the lints for tests hold in helper functions too

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use muster_test_control_plane::{ControlPlane, eventually};
use std::fs;
use std::io::{BufRead, BufReader};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is killed is gone within milliseconds; this is for a machine that is busy.
const GONE_WITHIN: Duration = Duration::from_secs(20);

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn real_client_and_kubectl_see_the_same_objects() {
    let plane = ControlPlane::shared().unwrap();
    let api: Api<ConfigMap> = Api::namespaced(plane.client().await.unwrap(), "default");
    api.create(&PostParams::default(), &config_map("seen-by-both")).await.unwrap();

    let output = plane.kubectl(&["get", "configmap", "seen-by-both", "-o", "name"]).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "configmap/seen-by-both\n", "{output:?}");
}

#[tokio::test]
async fn real_kubectl_reads_what_it_is_given() {
    let plane = ControlPlane::shared().unwrap();
    let manifest = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "from-stdin"}}"#;
    let output = plane.kubectl_with_input(&["apply", "-f", "-"], manifest).unwrap();
    assert!(output.status.success(), "{output:?}");

    let api: Api<Namespace> = Api::all(plane.client().await.unwrap());
    assert!(api.get_opt("from-stdin").await.unwrap().is_some());
}

#[tokio::test]
async fn real_two_control_planes_keep_apart() {
    let shared = ControlPlane::shared().unwrap();
    let own = ControlPlane::start().unwrap();
    assert_ne!(shared.url(), own.url());
    let api: Api<ConfigMap> = Api::namespaced(own.client().await.unwrap(), "default");
    api.create(&PostParams::default(), &config_map("only-here")).await.unwrap();

    let elsewhere: Api<ConfigMap> = Api::namespaced(shared.client().await.unwrap(), "default");
    assert!(elsewhere.get_opt("only-here").await.unwrap().is_none());
}

#[test]
fn real_every_address_is_loopback() {
    let plane = ControlPlane::shared().unwrap();
    let directory = plane.kubeconfig().parent().unwrap();
    let flags: Vec<_> = command_lines_with(directory).into_iter().flatten().collect();
    let addresses: Vec<_> =
        flags.iter().filter(|f| f.contains("-urls=") || f.contains("-address=")).collect();
    assert!(addresses.iter().any(|flag| flag.starts_with("--bind-address=")), "{addresses:?}");
    assert!(addresses.iter().any(|flag| flag.starts_with("--listen-client-urls=")), "{addresses:?}");
    assert!(addresses.iter().all(|flag| flag.contains("127.0.0.1")), "{addresses:?}");
}

#[test]
fn real_nothing_is_left_when_the_process_ends() {
    let (mut holder, directory) = hold_a_control_plane();
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert_all_gone(&directory);
}

#[test]
fn real_nothing_is_left_when_the_process_is_killed() {
    let (mut holder, directory) = hold_a_control_plane();
    holder.kill().unwrap(); // SIGKILL
    holder.wait().unwrap();
    assert_all_gone(&directory);
}

#[test]
fn real_nothing_is_left_when_a_test_panics() {
    let mut directory = PathBuf::new();
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        let plane = ControlPlane::start().unwrap();
        directory = plane.kubeconfig().parent().unwrap().to_owned();
        panic!("as a failing test does");
    }));
    assert!(result.is_err());
    assert_all_gone(&directory);
}

/// Another process that holds a control plane, and the directory of that.
fn hold_a_control_plane() -> (Child, PathBuf) {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut kubeconfig = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut kubeconfig).unwrap();
    let directory = Path::new(kubeconfig.trim_end()).parent().unwrap().to_owned();
    let running = command_lines_with(&directory);
    for server in ["etcd", "kube-apiserver"] {
        assert_eq!(running.iter().filter(|line| line[0].ends_with(server)).count(), 1, "{running:?}");
    }
    (holder, directory)
}

fn assert_all_gone(directory: &Path) {
    let gone = || {
        let left = command_lines_with(directory);
        if left.is_empty() && !directory.exists() { Ok(()) } else { Err(left) }
    };
    eventually(Instant::now() + GONE_WITHIN, gone).unwrap();
}

/// The command lines of all processes of this machine that mention the directory.
fn command_lines_with(directory: &Path) -> Vec<Vec<String>> {
    let needle = directory.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).split('\0').map(str::to_owned).collect::<Vec<_>>())
        .filter(|arguments| arguments.iter().any(|a| a.contains(needle)))
        .collect()
}
