//! Tests of the generation gates: each gate Ready, not yet, stale and, where it can, failed.

use k8s_openapi::api::apps::v1::{
    DaemonSet, DaemonSetStatus, Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus,
    StatefulSet, StatefulSetSpec, StatefulSetStatus,
};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use muster_api::names::Reason;
use proptest::prelude::*;

use super::*;
use crate::conditions::Finding;

fn meta(generation: i64) -> ObjectMeta {
    ObjectMeta { uid: Some("u".into()), generation: Some(generation), ..ObjectMeta::default() }
}

fn deleting(generation: i64) -> ObjectMeta {
    ObjectMeta { deletion_timestamp: Some(Time(jiff::Timestamp::UNIX_EPOCH)), ..meta(generation) }
}

fn applied(generation: i64) -> Applied {
    Applied { uid: "u".into(), generation }
}

fn not_yet(reason: &str) -> Gate {
    Gate::NotYet { reason: reason.into() }
}

fn stale(reason: &str) -> Gate {
    Gate::Stale { reason: reason.into() }
}

#[test]
fn our_own_object_is_known_new_or_stale() {
    assert_eq!(own(1, None), Own::New);
    assert_eq!(own(3, Some(2)), Own::New);
    assert_eq!(own(2, Some(2)), Own::Known);
    assert_eq!(own(1, Some(2)), Own::Stale);
}

#[test]
fn a_child_counts_when_it_has_observed_what_was_applied() {
    assert_eq!(observed(&meta(2), Some(2), Some(&applied(2))), Gate::Ready);
    assert_eq!(observed(&meta(3), Some(3), Some(&applied(2))), Gate::Ready, "someone else changed it since");
}

#[test]
fn a_child_that_lags_is_not_ready_yet() {
    assert_eq!(observed(&meta(3), Some(2), Some(&applied(3))), not_yet("has observed generation 2 of 3"));
    assert_eq!(observed(&meta(1), None, Some(&applied(1))), not_yet("has observed generation 0 of 1"));
    assert_eq!(observed(&meta(1), Some(1), None), not_yet("has not been applied yet"));
    assert_eq!(observed(&deleting(2), Some(2), Some(&applied(2))), not_yet("is being deleted"));
}

#[test]
fn another_object_under_the_name_is_not_the_one_applied() {
    let other = Applied { uid: "other".into(), generation: 9 };
    assert_eq!(observed(&meta(1), Some(1), Some(&other)), not_yet("is not the object that was applied"));
    let nameless = ObjectMeta { uid: None, ..meta(1) };
    assert_eq!(
        observed(&nameless, Some(1), Some(&applied(1))),
        not_yet("is not the object that was applied")
    );
}

#[test]
fn a_read_older_than_its_status_or_our_apply_is_stale() {
    let older_than_status = observed(&meta(2), Some(3), Some(&applied(2)));
    assert_eq!(older_than_status, stale("was read at generation 2, older than its status at 3"));
    let older_than_apply = observed(&meta(2), Some(2), Some(&applied(3)));
    assert_eq!(older_than_apply, stale("was read at generation 2, older than the applied 3"));
    assert!(matches!(observed(&deleting(2), Some(3), Some(&applied(2))), Gate::Stale { .. }));
}

#[test]
fn a_gate_says_what_a_condition_may_say() {
    let reason = || "why".to_owned();
    let all = [
        (Gate::Ready, Truth::True, None),
        (Gate::NotYet { reason: reason() }, Truth::False, Some("why")),
        (Gate::Failed { reason: reason() }, Truth::False, Some("why")),
        (Gate::Stale { reason: reason() }, Truth::Unknown, Some("why")),
    ];
    for (gate, truth, text) in all {
        assert_eq!(gate.truth(), truth);
        assert_eq!(gate.reason(), text);
        assert_eq!(gate.is_ready(), truth == Truth::True);
    }
}

mod sub_resources {
    use super::*;

    fn ask(truth: Option<Truth>, at_generation: i64, message: &str) -> Gate {
        let mut list = Vec::new();
        if let Some(truth) = truth {
            let finding = Finding::new(truth, Reason::NotJoined, message);
            conditions::set(
                &mut list,
                ConditionType::Ready,
                finding,
                at_generation,
                jiff::Timestamp::UNIX_EPOCH,
            );
        }
        sub_resource(&meta(2), Some(2), &list, ConditionType::Ready, Some(&applied(2)))
    }

    #[test]
    fn true_false_and_unknown() {
        assert_eq!(ask(Some(Truth::True), 2, ""), Gate::Ready);
        assert_eq!(ask(Some(Truth::False), 2, "no data"), not_yet("is not Ready: no data"));
        assert_eq!(ask(Some(Truth::False), 2, ""), not_yet("is not Ready: NotJoined"));
        assert_eq!(ask(Some(Truth::Unknown), 2, "?"), not_yet("is not known to be Ready: ?"));
        assert_eq!(ask(Some(Truth::True), 1, "old"), not_yet("is not known to be Ready: old"));
        assert_eq!(ask(None, 2, ""), not_yet("is not known to be Ready"));
    }

    #[test]
    fn a_stale_or_lagging_child_is_not_asked() {
        let mut list = Vec::new();
        let ready = Finding::is_true(Reason::AsDesired, "");
        conditions::set(&mut list, ConditionType::Ready, ready, 2, jiff::Timestamp::UNIX_EPOCH);
        let ask =
            |observed| sub_resource(&meta(2), Some(observed), &list, ConditionType::Ready, Some(&applied(2)));
        assert!(matches!(ask(1), Gate::NotYet { .. }));
        assert!(matches!(ask(3), Gate::Stale { .. }));
    }
}

mod stateful_sets {
    use super::*;

    fn set(replicas: Option<i32>, exist: i32, updated: Option<i32>, ready: Option<i32>) -> StatefulSet {
        StatefulSet {
            metadata: meta(2),
            spec: Some(StatefulSetSpec { replicas, ..StatefulSetSpec::default() }),
            status: Some(StatefulSetStatus {
                observed_generation: Some(2),
                replicas: exist,
                updated_replicas: updated,
                ready_replicas: ready,
                // With OnDelete the real controller leaves this behind for ever.
                current_revision: Some("old".into()),
                update_revision: Some("new".into()),
                ..StatefulSetStatus::default()
            }),
        }
    }

    fn ask(set: &StatefulSet) -> Gate {
        stateful_set(set, Some(&applied(2)))
    }

    #[test]
    fn updated_and_ready_as_its_spec_says() {
        assert_eq!(ask(&set(Some(1), 1, Some(1), Some(1))), Gate::Ready);
        assert_eq!(ask(&set(None, 1, Some(1), Some(1))), Gate::Ready, "replicas defaults to 1");
        assert_eq!(ask(&set(Some(0), 0, None, None)), Gate::Ready);
        assert_eq!(ask(&set(Some(3), 3, Some(3), Some(3))), Gate::Ready);
    }

    #[test]
    fn one_count_off_is_not_yet() {
        assert_eq!(ask(&set(Some(1), 1, Some(0), Some(1))), not_yet("has 0 of 1 updated"));
        assert_eq!(ask(&set(Some(1), 1, None, Some(1))), not_yet("has 0 of 1 updated"));
        assert_eq!(ask(&set(Some(1), 1, Some(1), None)), not_yet("has 0 of 1 ready"));
        assert_eq!(ask(&set(Some(3), 3, Some(3), Some(2))), not_yet("has 2 of 3 ready"));
        assert_eq!(ask(&set(None, 0, None, None)), not_yet("has 0 of 1 replicas"));
        assert_eq!(ask(&set(Some(0), 1, Some(0), Some(0))), not_yet("has 1 of 0 replicas"), "one still goes");
        assert_eq!(ask(&set(Some(1), 1, Some(2), Some(1))), not_yet("has 2 of 1 updated"));
    }

    #[test]
    fn the_generation_comes_before_the_counts() {
        let mut lagging = set(Some(1), 1, Some(1), Some(1));
        lagging.metadata.generation = Some(3);
        assert_eq!(ask(&lagging), not_yet("has observed generation 2 of 3"));
        let mut early = set(Some(1), 1, Some(1), Some(1));
        early.metadata.generation = Some(1);
        assert!(matches!(stateful_set(&early, Some(&applied(1))), Gate::Stale { .. }));
        let silent = StatefulSet { status: None, ..set(Some(0), 0, None, None) };
        assert_eq!(ask(&silent), not_yet("has observed generation 0 of 2"));
    }

    fn a_pod(revision: Option<&str>) -> Pod {
        let labels = revision.map(|r| [("controller-revision-hash".to_owned(), r.to_owned())].into());
        Pod { metadata: ObjectMeta { labels, ..meta(1) }, ..Pod::default() }
    }

    #[test]
    fn the_pod_is_the_newest_and_the_one_that_reports() {
        let set = set(Some(1), 1, Some(1), Some(1));
        assert_eq!(pod(&a_pod(Some("new")), &set, Some("u")), Gate::Ready);
        assert_eq!(pod(&a_pod(Some("old")), &set, Some("u")), not_yet("runs revision old, not new"));
        assert_eq!(pod(&a_pod(None), &set, Some("u")), not_yet("has no known revision"));
        assert_eq!(pod(&a_pod(Some("new")), &set, None), not_yet("has no agent that reports"));
        let other = pod(&a_pod(Some("new")), &set, Some("before"));
        assert_eq!(other, not_yet("is not the Pod whose agent reports"));
        let going = Pod { metadata: deleting(1), ..a_pod(Some("new")) };
        assert_eq!(pod(&going, &set, Some("u")), not_yet("is being deleted"));
        let silent = StatefulSet { status: None, ..set };
        assert_eq!(pod(&a_pod(Some("new")), &silent, Some("u")), not_yet("has no known revision"));
    }
}

mod deployments {
    use super::*;

    fn rollout(replicas: Option<i32>, exist: i32, updated: i32, available: i32) -> Deployment {
        Deployment {
            metadata: meta(2),
            spec: Some(DeploymentSpec { replicas, ..DeploymentSpec::default() }),
            status: Some(DeploymentStatus {
                observed_generation: Some(2),
                replicas: Some(exist),
                updated_replicas: Some(updated),
                available_replicas: Some(available),
                ..DeploymentStatus::default()
            }),
        }
    }

    fn ask(rollout: &Deployment) -> Gate {
        deployment(rollout, Some(&applied(2)))
    }

    fn says(rollout: &mut Deployment, type_: &str, reason: &str, message: Option<&str>) {
        let condition = DeploymentCondition {
            type_: type_.into(),
            status: "False".into(),
            reason: Some(reason.into()),
            message: message.map(Into::into),
            ..DeploymentCondition::default()
        };
        rollout.status.as_mut().unwrap().conditions.get_or_insert_default().push(condition);
    }

    #[test]
    fn updated_and_available_with_none_left_over() {
        assert_eq!(ask(&rollout(Some(2), 2, 2, 2)), Gate::Ready);
        assert_eq!(ask(&rollout(None, 1, 1, 1)), Gate::Ready);
        assert_eq!(ask(&rollout(Some(0), 0, 0, 0)), Gate::Ready);
        assert_eq!(ask(&rollout(Some(2), 3, 2, 2)), not_yet("has 3 of 2 replicas"));
        assert_eq!(ask(&rollout(Some(2), 2, 1, 2)), not_yet("has 1 of 2 updated"));
        assert_eq!(ask(&rollout(Some(2), 2, 2, 1)), not_yet("has 1 of 2 available"));
    }

    #[test]
    fn past_its_deadline_it_has_failed() {
        let mut late = rollout(Some(1), 1, 1, 0);
        says(&mut late, "Progressing", "ProgressDeadlineExceeded", Some("timed out"));
        let failed = Gate::Failed { reason: "made no progress in time: timed out".into() };
        assert_eq!(ask(&late), failed);
        let mut silent = rollout(Some(1), 1, 1, 0);
        says(&mut silent, "Progressing", "ProgressDeadlineExceeded", None);
        assert_eq!(ask(&silent).reason(), Some("made no progress in time: no detail given"));
    }

    #[test]
    fn other_conditions_are_no_failure() {
        let mut busy = rollout(Some(1), 1, 1, 0);
        says(&mut busy, "Progressing", "ReplicaSetUpdated", None);
        says(&mut busy, "Available", "ProgressDeadlineExceeded", None);
        assert_eq!(ask(&busy), not_yet("has 0 of 1 available"));
    }

    #[test]
    fn an_old_failure_says_nothing_about_the_new_template() {
        let mut late = rollout(Some(1), 1, 1, 0);
        says(&mut late, "Progressing", "ProgressDeadlineExceeded", None);
        late.metadata.generation = Some(3);
        assert_eq!(ask(&late), not_yet("has observed generation 2 of 3"));
        late.metadata.generation = Some(1);
        assert!(matches!(deployment(&late, Some(&applied(1))), Gate::Stale { .. }));
    }
}

mod daemon_sets {
    use super::*;

    fn set(desired: i32, updated: Option<i32>, ready: i32) -> DaemonSet {
        DaemonSet {
            metadata: meta(2),
            spec: None,
            status: Some(DaemonSetStatus {
                observed_generation: Some(2),
                desired_number_scheduled: desired,
                updated_number_scheduled: updated,
                number_ready: ready,
                ..DaemonSetStatus::default()
            }),
        }
    }

    fn ask(set: &DaemonSet) -> Gate {
        daemon_set(set, Some(&applied(2)))
    }

    #[test]
    fn updated_and_ready_on_every_node() {
        assert_eq!(ask(&set(2, Some(2), 2)), Gate::Ready);
        assert_eq!(ask(&set(0, None, 0)), Gate::Ready, "no node to be on");
        assert_eq!(ask(&set(2, Some(1), 2)), not_yet("has 1 of 2 updated"));
        assert_eq!(ask(&set(2, Some(2), 1)), not_yet("has 1 of 2 ready"));
        assert_eq!(ask(&set(1, None, 1)), not_yet("has 0 of 1 updated"));
    }

    #[test]
    fn the_generation_comes_before_the_counts() {
        let mut lagging = set(1, Some(1), 1);
        lagging.metadata.generation = Some(3);
        assert_eq!(ask(&lagging), not_yet("has observed generation 2 of 3"));
        lagging.metadata.generation = Some(1);
        assert!(matches!(daemon_set(&lagging, Some(&applied(1))), Gate::Stale { .. }));
        let silent = DaemonSet { status: None, ..set(0, None, 0) };
        assert_eq!(ask(&silent), not_yet("has observed generation 0 of 2"));
    }
}

mod together {
    use super::*;

    fn failed(reason: &str) -> Gate {
        Gate::Failed { reason: reason.into() }
    }

    #[test]
    fn the_worst_wins_and_all_of_its_sort_are_named() {
        assert_eq!(worst([]), Gate::Ready);
        assert_eq!(worst([("a", Gate::Ready), ("b", Gate::Ready)]), Gate::Ready);
        let waiting = [("a", not_yet("x")), ("b", Gate::Ready), ("c", not_yet("y"))];
        assert_eq!(worst(waiting), not_yet("a x; c y"));
        assert_eq!(worst([("a", not_yet("x")), ("b", failed("y"))]), failed("b y"));
        assert_eq!(worst([("a", failed("x")), ("b", stale("y")), ("c", not_yet("z"))]), stale("b y"));
    }

    proptest! {
        #[test]
        fn ready_needs_every_part(generation in 1i64..4, seen in prop::option::of(0i64..5), ours in prop::option::of(1i64..4), going: bool) {
            let metadata = if going { deleting(generation) } else { meta(generation) };
            let ours = ours.map(applied);
            let gate = observed(&metadata, seen, ours.as_ref());
            let current = !going && seen == Some(generation) && ours.as_ref().is_some_and(|a| a.generation <= generation);
            prop_assert_eq!(gate.is_ready(), current);
            if let Some(ours) = ours {
                let is_stale = generation < ours.generation || generation < seen.unwrap_or(0);
                let said = matches!(gate, Gate::Stale { .. });
                prop_assert_eq!(said, is_stale);
            }
        }
    }
}
