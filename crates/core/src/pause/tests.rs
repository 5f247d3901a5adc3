//! Tests of pause and resume.

use proptest::prelude::*;

use super::*;

const NONE: Pause = Pause { clustering: false, reconciliation: false };
const CLUSTERING: Pause = Pause { clustering: true, reconciliation: false };
const RECONCILIATION: Pause = Pause { clustering: false, reconciliation: true };
const BOTH: Pause = Pause { clustering: true, reconciliation: true };

fn annotated(pairs: &[(&str, &str)]) -> Pause {
    let map = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Pause::from_annotations(Some(&map))
}

#[test]
fn only_the_value_true_stops() {
    assert_eq!(Pause::from_annotations(None), NONE);
    assert_eq!(annotated(&[("muster.dev/clustering-stopped", "true")]), CLUSTERING);
    assert_eq!(annotated(&[("muster.dev/reconciliation-stopped", "true")]), RECONCILIATION);
    let both = annotated(&[
        ("muster.dev/clustering-stopped", "true"),
        ("muster.dev/reconciliation-stopped", "true"),
    ]);
    assert_eq!(both, BOTH);
    for value in ["", "True", "TRUE", "1", "yes", "false", " true"] {
        let pause = annotated(&[
            ("muster.dev/clustering-stopped", value),
            ("muster.dev/reconciliation-stopped", value),
        ]);
        assert_eq!(pause, NONE, "{value:?}");
    }
    assert_eq!(annotated(&[("example.org/clustering-stopped", "true")]), NONE);
}

#[test]
fn each_pause_permits_what_the_other_does_not_forbid() {
    let rows = [
        (NONE, true, true, true),
        (CLUSTERING, false, true, false),
        (RECONCILIATION, true, false, false),
        (BOTH, false, false, false),
    ];
    for (pause, run_manager, apply, restart_or_remove) in rows {
        assert_eq!(pause.permits(), Permits { run_manager, apply, restart_or_remove }, "{pause:?}");
    }
}

#[test]
fn deletion_waits_for_reconciliation_only() {
    assert_eq!(NONE.on_deletion(), OnDeletion::Goes);
    assert_eq!(CLUSTERING.on_deletion(), OnDeletion::Goes);
    assert_eq!(RECONCILIATION.on_deletion(), OnDeletion::Waits);
    assert_eq!(BOTH.on_deletion(), OnDeletion::Waits);
    assert_eq!(OnDeletion::Goes.message(), None);
    assert_eq!(OnDeletion::Waits.message(), Some("deletion waits until reconciliation is started again"));
}

fn stopped(unfinished: Option<&str>) -> Manager {
    Manager::Stopped(Stopped { unfinished: unfinished.map(Into::into) })
}

fn stopping() -> Manager {
    Manager::Stopping { waiting_for: "orders-a-1".into() }
}

#[test]
fn clustering_is_false_only_once_the_manager_has_stopped_on_request() {
    let said = |pause, manager: &Manager| {
        let finding = clustering_active(pause, manager);
        (finding.truth, finding.reason, finding.message)
    };
    let row = |truth, reason: &str, message: &str| (truth, reason.to_owned(), message.to_owned());
    let running = row(Truth::True, "Active", "the manager is running");
    assert_eq!(said(NONE, &Manager::Running), running);
    assert_eq!(said(RECONCILIATION, &Manager::Running), running);
    for resumed in [Manager::Starting, stopping(), stopped(None)] {
        let text = "the manager observes everything anew before it acts";
        assert_eq!(said(NONE, &resumed), row(Truth::True, "Starting", text));
    }
    for early in [Manager::Starting, Manager::Running] {
        assert_eq!(said(CLUSTERING, &early), row(Truth::True, "Stopping", "clustering is being stopped"));
    }
    let text = "clustering is being stopped: waiting for orders-a-1";
    assert_eq!(said(CLUSTERING, &stopping()), row(Truth::True, "Stopping", text));
    let text = "clustering is stopped by annotation";
    assert_eq!(said(BOTH, &stopped(None)), row(Truth::False, "ClusteringStopped", text));
    let text =
        "clustering is stopped by annotation; unfinished: orders-a-0 fenced, none promoted: no primary";
    let unfinished = stopped(Some("orders-a-0 fenced, none promoted: no primary"));
    assert_eq!(said(CLUSTERING, &unfinished), row(Truth::False, "ClusteringStopped", text));
}

#[test]
fn nobody_is_looking_exactly_when_clustering_active_is_false() {
    for pause in [NONE, CLUSTERING, RECONCILIATION, BOTH] {
        for manager in [Manager::Starting, Manager::Running, stopping(), stopped(None), stopped(Some("x"))] {
            let is_false = clustering_active(pause, &manager).truth == Truth::False;
            assert_eq!(clustering_is_stopped(pause, &manager), is_false, "{pause:?} {manager:?}");
        }
    }
}

#[test]
fn reconciliation_active_true_and_false() {
    let stop = Stopped { unfinished: Some("orders-b applied to 1 of 2".into()) };
    let finding = reconciliation_active(RECONCILIATION, Some(&stop));
    assert_eq!((finding.truth, finding.reason.as_str()), (Truth::False, "ReconciliationStopped"));
    let text = "reconciliation is stopped by annotation; unfinished: orders-b applied to 1 of 2";
    assert_eq!(finding.message, text);
    let asked = reconciliation_active(BOTH, None);
    assert_eq!((asked.truth, asked.reason.as_str()), (Truth::True, "Stopping"));
    for acknowledged in [None, Some(&stop)] {
        let active = reconciliation_active(CLUSTERING, acknowledged);
        assert_eq!((active.truth, active.reason.as_str()), (Truth::True, "Active"));
    }
}

#[test]
fn what_nobody_looks_at_is_unknown_and_the_rest_is_kept() {
    let now = Timestamp::UNIX_EPOCH;
    let mut list = Vec::new();
    for kind in muster_api::names::CLUSTER_CONDITIONS {
        conditions::set(&mut list, *kind, Finding::is_true(Reason::AsDesired, ""), 1, now);
    }
    unsee_cluster(&mut list, 2, now);
    for c in &list {
        let kept = ["SpecValid", "InfrastructureReady", "ClusteringActive", "ReconciliationActive"];
        if kept.contains(&c.type_.as_str()) {
            assert_eq!((c.status.as_str(), c.observed_generation), ("True", Some(1)), "{}", c.type_);
        } else {
            assert_eq!(
                (c.status.as_str(), c.reason.as_str()),
                ("Unknown", "ClusteringStopped"),
                "{}",
                c.type_
            );
            assert_eq!(c.observed_generation, Some(2));
        }
    }

    let mut member = Vec::new();
    for kind in muster_api::names::MEMBER_CONDITIONS {
        conditions::set(&mut member, *kind, Finding::is_true(Reason::AsDesired, ""), 1, now);
    }
    unsee_member(&mut member, 1, now);
    let unknown: Vec<&str> =
        member.iter().filter(|c| c.status == "Unknown").map(|c| c.type_.as_str()).collect();
    assert_eq!(unknown, ["Ready", "AgentConnected", "Joined"]);
}

#[test]
fn held_changes_are_listed() {
    assert_eq!(held(&[]), None);
    let finding = held(&["restart orders-a-0".into(), "remove orders-a-1".into()]).unwrap();
    assert_eq!((finding.truth, finding.reason.as_str()), (Truth::False, "ClusteringStopped"));
    assert_eq!(finding.message, "held while clustering is stopped: restart orders-a-0; remove orders-a-1");
}

#[test]
fn control_is_paused_when_an_active_is_false() {
    let list = |clustering, reconciliation| {
        let mut list = Vec::new();
        let now = Timestamp::UNIX_EPOCH;
        let finding = |truth| Finding::new(truth, Reason::Active, "");
        conditions::set(&mut list, ConditionType::ClusteringActive, finding(clustering), 1, now);
        conditions::set(&mut list, ConditionType::ReconciliationActive, finding(reconciliation), 2, now);
        conditions::set(&mut list, ConditionType::Available, finding(Truth::False), 1, now);
        list
    };
    assert!(!control_paused(&[]));
    assert!(!control_paused(&list(Truth::True, Truth::True)));
    assert!(!control_paused(&list(Truth::Unknown, Truth::Unknown)));
    assert!(control_paused(&list(Truth::False, Truth::True)));
    assert!(control_paused(&list(Truth::True, Truth::False)));
}

mod observed {
    use super::*;

    fn ask(pause: Pause, applied: Option<i64>, children_equal: bool, stored: Option<i64>) -> i64 {
        observed_generation(pause, Progress { generation: 5, applied, children_equal, stored })
    }

    #[test]
    fn while_reconciliation_runs_it_is_the_generation() {
        for pause in [NONE, CLUSTERING] {
            assert_eq!(ask(pause, Some(3), false, Some(2)), 5);
        }
    }

    #[test]
    fn while_stopped_it_is_what_was_applied() {
        assert_eq!(ask(RECONCILIATION, Some(3), false, Some(2)), 3);
        assert_eq!(ask(BOTH, Some(3), true, None), 3);
    }

    #[test]
    fn after_a_restart_the_children_tell_or_the_lower_stored_value() {
        assert_eq!(ask(RECONCILIATION, None, true, Some(2)), 5);
        assert_eq!(ask(RECONCILIATION, None, false, Some(4)), 4);
        assert_eq!(ask(RECONCILIATION, None, false, Some(1)), 1);
        assert_eq!(ask(RECONCILIATION, None, false, Some(5)), 0, "not lower: it proves nothing");
        assert_eq!(ask(RECONCILIATION, None, false, Some(6)), 0);
        assert_eq!(ask(RECONCILIATION, None, false, Some(-1)), 0);
        assert_eq!(ask(RECONCILIATION, None, false, None), 0);
    }

    proptest! {
        #[test]
        fn it_claims_this_generation_only_with_proof(
            generation in 1i64..9,
            equal: bool,
            stored in prop::option::of(any::<i64>()),
        ) {
            let progress = Progress { generation, applied: None, children_equal: equal, stored };
            let claimed = observed_generation(RECONCILIATION, progress);
            prop_assert_eq!(claimed == generation, equal);
            prop_assert!((0..=generation).contains(&claimed));
        }
    }
}
