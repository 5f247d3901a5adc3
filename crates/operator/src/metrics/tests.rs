//! What Prometheus reads.

use std::time::Duration;

use muster_api::names::Phase;

use super::*;
use crate::key::Name;

fn figures(phase: Phase, clustering_stopped: bool) -> ClusterFigures {
    ClusterFigures { phase, clustering_stopped, reconciliation_stopped: false }
}

fn lines(metrics: &Metrics, of: &str) -> Vec<String> {
    let text = metrics.text().unwrap();
    let mut lines: Vec<String> =
        text.lines().filter(|line| line.starts_with(of)).map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn r4_8_both_pauses_of_every_cluster_are_shown() {
    let metrics = Metrics::new();
    metrics.cluster(&Name::new("shop", "orders"), figures(Phase::Paused, true));
    metrics.cluster(&Name::new("shop", "bills"), figures(Phase::Running, false));
    assert_eq!(
        lines(&metrics, "muster_cluster_clustering_stopped"),
        [
            r#"muster_cluster_clustering_stopped{name="bills",namespace="shop"} 0"#,
            r#"muster_cluster_clustering_stopped{name="orders",namespace="shop"} 1"#,
        ]
    );
    let stopped = r#"muster_cluster_reconciliation_stopped{name="orders",namespace="shop"}"#;
    assert_eq!(lines(&metrics, stopped), [format!("{stopped} 0")]);
    metrics.cluster(
        &Name::new("shop", "orders"),
        ClusterFigures { reconciliation_stopped: true, ..figures(Phase::Paused, false) },
    );
    assert_eq!(lines(&metrics, stopped), [format!("{stopped} 1")]);
}

#[test]
fn clusters_are_counted_by_phase_and_vanish_with_their_series() {
    let metrics = Metrics::new();
    let (orders, bills) = (Name::new("shop", "orders"), Name::new("shop", "bills"));
    metrics.cluster(&orders, figures(Phase::Provisioning, false));
    metrics.cluster(&bills, figures(Phase::Running, false));
    metrics.cluster(&orders, figures(Phase::Running, false));
    assert_eq!(
        lines(&metrics, "muster_clusters{"),
        [r#"muster_clusters{phase="Provisioning"} 0"#, r#"muster_clusters{phase="Running"} 2"#]
    );
    metrics.member(&orders, "orders-a-0", MemberFigures { sequence: Some(7), ..MemberFigures::default() });
    metrics.forget_cluster(&orders);
    metrics.forget_cluster(&orders);
    assert_eq!(
        lines(&metrics, r#"muster_clusters{phase="Running"}"#),
        [r#"muster_clusters{phase="Running"} 1"#]
    );
    assert!(!metrics.text().unwrap().contains("orders"), "nothing is left of it");
}

#[test]
fn what_is_not_known_of_a_member_is_not_shown() {
    let metrics = Metrics::new();
    let orders = Name::new("shop", "orders");
    let all = MemberFigures { sequence: Some(7), lag_seconds: Some(2), free: Some(5), capacity: Some(10) };
    metrics.member(&orders, "orders-a-0", all);
    let labels = r#"{cluster="orders",name="orders-a-0",namespace="shop"}"#;
    assert_eq!(
        lines(&metrics, "muster_member_lag_seconds"),
        [format!("muster_member_lag_seconds{labels} 2")]
    );
    let free = format!("muster_member_storage_free_bytes{labels} 5");
    assert_eq!(lines(&metrics, "muster_member_storage_free_bytes"), [free]);
    metrics.member(&orders, "orders-a-0", MemberFigures { lag_seconds: None, ..all });
    assert!(lines(&metrics, "muster_member_lag_seconds").is_empty());
    metrics.forget_member(&orders, "orders-a-0");
    assert!(lines(&metrics, "muster_member_sequence").is_empty());
}

#[test]
fn passes_are_counted_by_result_and_reason() {
    let metrics = Metrics::new();
    metrics.passed("Member", Duration::from_millis(3), None);
    metrics.passed("Member", Duration::from_millis(3), Some("ApplyFailed"));
    metrics.status_written("Member", Written::Conflict);
    metrics.leads(Some(12));
    metrics.streams_changed(3, 2);
    let text = metrics.text().unwrap();
    for line in [
        r#"muster_reconcile_total{kind="Member",result="failed"} 1"#,
        r#"muster_reconcile_errors_total{kind="Member",reason="ApplyFailed"} 1"#,
        r#"muster_reconcile_duration_seconds_count{kind="Member"} 2"#,
        r#"muster_status_writes_total{kind="Member",result="conflict"} 1"#,
        r#"muster_conflicts_total{kind="Member"} 1"#,
        "muster_leader 1",
        "muster_epoch 12",
        "muster_agent_streams 2",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    metrics.leads(None);
    assert_eq!(lines(&metrics, "muster_leader"), ["muster_leader 0"]);
}

#[tokio::test]
async fn what_waits_is_counted_when_it_is_asked_for() {
    let (metrics, queue) = (Metrics::new(), Queue::new());
    metrics.measure(&queue);
    let depth = || lines(&metrics, "muster_queue_depth{");
    assert!(depth().is_empty());
    let keys = ["a", "b"].map(|name| crate::key::Key::Member(Name::new("shop", name)));
    for key in keys {
        queue.add(key);
    }
    assert_eq!(depth(), [r#"muster_queue_depth{kind="Member"} 2"#], "no pass has ended");
    queue.take().await;
    assert_eq!(depth(), [r#"muster_queue_depth{kind="Member"} 1"#], "nor has this one");
}

#[test]
fn who_does_not_lead_any_more_does_not_show_how_clusters_were() {
    let metrics = Metrics::new();
    let orders = Name::new("shop", "orders");
    metrics.leads(Some(12));
    metrics.cluster(&orders, figures(Phase::Running, false));
    metrics.member(&orders, "orders-a-0", MemberFigures { sequence: Some(7), ..MemberFigures::default() });
    metrics.leads(None);
    let running = r#"muster_clusters{phase="Running"}"#;
    assert_eq!(lines(&metrics, running), [format!("{running} 0")]);
    assert!(!metrics.text().unwrap().contains("orders"), "{}", metrics.text().unwrap());
}
