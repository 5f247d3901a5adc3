//! `muster apiserver` from its ready line to its end.

use std::os::unix::fs::PermissionsExt;

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;

use crate::muster::{Running, Scratch, muster};

#[tokio::test]
async fn the_kubeconfig_of_the_ready_line_leads_in() {
    let server = Running::start(&["--ephemeral"]);
    let client = server.client().await;
    let namespaces: Api<Namespace> = Api::all(client);
    let names: Vec<_> = namespaces.list(&ListParams::default()).await.unwrap().items;
    assert!(names.iter().any(|namespace| namespace.metadata.name.as_deref() == Some("default")));
    let mode = std::fs::metadata(&server.kubeconfig).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn it_ends_cleanly_when_asked_and_leaves_nothing_behind() {
    for signal in ["-INT", "-TERM"] {
        let server = Running::start(&["--ephemeral"]);
        let directory = server.kubeconfig.parent().unwrap().to_owned();
        assert!(directory.exists());
        server.signal(signal);
        assert_eq!(server.end(), (Some(0), String::new()), "one line on stdout, and exit code 0");
        assert!(!directory.exists());
    }
}

#[tokio::test]
async fn a_watch_does_not_keep_it_from_ending() {
    let server = Running::start(&["--ephemeral"]);
    let namespaces: Api<Namespace> = Api::all(server.client().await);
    let watch = namespaces.watch(&kube::api::WatchParams::default(), "0").await.unwrap();
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    drop(watch);
}

#[tokio::test]
async fn a_restart_on_the_same_directory_is_the_same_server() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    let first = Running::start(&["--data-dir", &directory]);
    let namespaces: Api<Namespace> = Api::all(first.client().await);
    let kept = serde_json::from_value(json!({"metadata": {"name": "kept"}})).unwrap();
    let kept = namespaces.create(&PostParams::default(), &kept).await.unwrap();
    let identity = first.identity();
    first.signal("-TERM");
    assert_eq!(first.end().0, Some(0));

    let second = Running::start(&["--data-dir", &directory]);
    assert_eq!(second.identity(), identity, "the same address, token and authority");
    let namespaces: Api<Namespace> = Api::all(second.client().await);
    assert_eq!(namespaces.get("kept").await.unwrap(), kept, "the data is there");
    for name in ["", "ca.key", "token", "kubeconfig", "objects", "lock", "port", "objects/lock"] {
        let mode = std::fs::metadata(scratch.path().join("data").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name:?} is for its owner only");
    }
}

#[tokio::test]
async fn a_port_that_was_taken_meanwhile_is_let_go_for_another() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    let first = Running::start(&["--data-dir", &directory]);
    let before = first.port();
    first.signal("-TERM");
    assert_eq!(first.end().0, Some(0));

    let taken = std::net::TcpListener::bind(("127.0.0.1", before)).unwrap();
    let second = Running::start(&["--data-dir", &directory]);
    let now = second.port();
    assert_ne!(now, before);
    second.client().await.apiserver_version().await.unwrap();
    second.signal("-TERM");
    assert_eq!(second.end().0, Some(0));

    drop(taken);
    assert_eq!(Running::start(&["--data-dir", &directory]).port(), now, "it stays where it was last");
}

#[test]
fn the_usual_directory_is_that_of_the_user() {
    let scratch = Scratch::new();
    let mut command = muster(&["apiserver"]);
    let server = Running::spawn(command.env("XDG_DATA_HOME", scratch.path()));
    assert_eq!(server.kubeconfig, scratch.path().join("muster/kubeconfig"));
}

#[test]
fn it_listens_where_it_is_told() {
    // Held only for a moment: whoever takes it in between makes this test fail, which is why it is one in thousands.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Running::start(&["--ephemeral", "--port", &port.to_string()]);
    let text = std::fs::read_to_string(&server.kubeconfig).unwrap();
    assert!(text.contains(&format!("https://127.0.0.1:{port}")), "{text}");
}
