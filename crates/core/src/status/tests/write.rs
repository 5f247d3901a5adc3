//! Whether a status needs writing, what survives a conflict, what is carried over, and the reset.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use muster_api::cluster::LastRequest;

use serde_json::{Value, json};

use super::super::write::{cluster_needs_write, member_needs_write, swap};
use super::*;
use muster_api::MemberStatus;

fn metadata() -> ObjectMeta {
    ObjectMeta {
        uid: Some("u1".into()),
        generation: Some(4),
        resource_version: Some("10".into()),
        annotations: Some([("muster.dev/request".to_owned(), "x".to_owned())].into()),
        ..ObjectMeta::default()
    }
}

fn after(change: impl FnOnce(&mut ObjectMeta)) -> Conflict {
    let mut found = metadata();
    change(&mut found);
    on_conflict(&Snapshot::of(&metadata()), Some(&found))
}

#[test]
fn edits_of_other_things_keep_the_verdict() {
    assert_eq!(after(|_| {}), Conflict::SameVerdict);
    assert_eq!(after(|found| found.resource_version = Some("11".into())), Conflict::SameVerdict);
    assert_eq!(after(|found| found.labels = Some([("x".into(), "y".into())].into())), Conflict::SameVerdict);
    let foreign = |found: &mut ObjectMeta| {
        found.annotations.get_or_insert_default().insert("example.com/x".into(), "y".into());
    };
    assert_eq!(after(foreign), Conflict::SameVerdict);
}

#[test]
fn edits_of_what_was_judged_do_not() {
    assert_eq!(after(|found| found.uid = Some("u2".into())), Conflict::ThrowAway);
    assert_eq!(after(|found| found.uid = None), Conflict::ThrowAway);
    assert_eq!(after(|found| found.generation = Some(5)), Conflict::ThrowAway);
    assert_eq!(after(|found| found.deletion_timestamp = Some(Time(at(1)))), Conflict::ThrowAway);
    assert_eq!(after(|found| found.annotations = None), Conflict::ThrowAway);
    let backup = |found: &mut ObjectMeta| {
        found.annotations.get_or_insert_default().insert("muster.dev/last-backup-time".into(), "y".into());
    };
    assert_eq!(after(backup), Conflict::ThrowAway);
    assert_eq!(on_conflict(&Snapshot::of(&metadata()), None), Conflict::Gone);
}

/// Whether a swap that was computed from one object is taken by another, as a server reads its tests.
fn is_taken(computed_from: &ObjectMeta, stored: &Value, there: &ObjectMeta, status: &Value) -> bool {
    let steps = swap(computed_from, Some(stored), &json!({"new": true}));
    let object = json!({"metadata": there, "status": status});
    let (last, tests) = steps.as_array().unwrap().split_last().unwrap();
    assert_eq!(*last, json!({"op": "add", "path": "/status", "value": {"new": true}}));
    tests.iter().all(|test| {
        assert_eq!(test["op"], "test");
        let path = test["path"].as_str().unwrap();
        let parent = path.rsplit_once('/').unwrap().0;
        object.pointer(parent).is_some_and(|it| !it.is_null())
            && *object.pointer(path).unwrap_or(&Value::Null) == test["value"]
    })
}

#[test]
fn a_swap_by_meaning_passes_edits_of_other_things_and_nothing_else() {
    let stored = json!({"phase": "Running", "restoreReplicas": 3});
    let taken = |change: &dyn Fn(&mut ObjectMeta)| {
        let mut there = metadata();
        change(&mut there);
        let by_swap = is_taken(&metadata(), &stored, &there, &stored);
        let by_reading = on_conflict(&Snapshot::of(&metadata()), Some(&there)) == Conflict::SameVerdict;
        assert_eq!(by_swap, by_reading, "both ways say the same of {there:?}");
        by_swap
    };
    let annotate = |key: &'static str| {
        move |there: &mut ObjectMeta| {
            there.annotations.get_or_insert_default().insert(key.into(), "y".into());
        }
    };
    assert!(taken(&|_| {}));
    assert!(taken(&|there| there.resource_version = Some("11".into())));
    assert!(taken(&|there| there.labels = Some([("x".into(), "y".into())].into())));
    assert!(taken(&annotate("example.com/x~y")));
    assert!(!taken(&|there| there.uid = Some("u2".into())));
    assert!(!taken(&|there| there.generation = Some(5)));
    assert!(!taken(&|there| there.deletion_timestamp = Some(Time(at(1)))));
    assert!(!taken(&|there| there.annotations = None));
    assert!(!taken(&annotate("muster.dev/request")));
    assert!(!taken(&annotate("muster.dev/clustering-stopped")));
    assert!(!taken(&annotate("muster.dev/last-backup-time")));
    let edited = json!({"phase": "Running", "restoreReplicas": 5});
    assert!(!is_taken(&metadata(), &stored, &metadata(), &edited), "a status that someone edited");
    let bare = ObjectMeta { annotations: None, ..metadata() };
    assert!(is_taken(&bare, &stored, &bare, &stored));
    assert!(!is_taken(&bare, &stored, &metadata(), &stored));
}

#[test]
fn an_equal_status_is_not_written() {
    let world = World::running();
    let first = world.status();
    assert!(cluster_needs_write(None, &first));
    let later = judge_cluster(&world.inputs()).over(Some(&first), at(5000));
    assert_eq!(later, first, "times too");
    assert!(!cluster_needs_write(Some(&first), &later));
    let mut shifted = first.clone();
    shifted.conditions[0].last_transition_time = Time(at(1));
    assert!(!cluster_needs_write(Some(&shifted), &first), "times apart");
    shifted.conditions.reverse();
    assert!(!cluster_needs_write(Some(&shifted), &first), "order apart");
    shifted.replicas = Some(7);
    assert!(cluster_needs_write(Some(&shifted), &first));
    let mut member = MemberStatus::default();
    assert!(member_needs_write(None, &member));
    assert!(!member_needs_write(Some(&MemberStatus::default()), &member));
    member.role = Some("primary".into());
    assert!(member_needs_write(Some(&MemberStatus::default()), &member));
}

#[test]
fn only_what_flips_gets_a_new_time() {
    let mut world = World::running();
    let first = world.status();
    world.says(A1, stopped(7));
    world.now = at(300);
    let second = judge_cluster(&world.inputs()).over(Some(&first), world.now);
    let time = |status: &ReplicatedClusterStatus, kind| condition(status, kind).last_transition_time.0;
    assert_eq!(time(&second, ConditionType::Available), at(100));
    assert_eq!(time(&second, ConditionType::Healthy), at(300));
}

#[test]
fn times_ahead_and_before_1970_are_not_ours() {
    let world = World::running();
    let mut garbled = world.status();
    garbled.conditions[0].last_transition_time = Time(at(999_999));
    garbled.conditions[1].last_transition_time = Time(Timestamp::MIN);
    let status = judge_cluster(&world.inputs()).over(Some(&garbled), world.now);
    assert_eq!(status, world.status());
}

#[test]
fn restore_replicas_is_a_persons_while_nobody_looks() {
    let stored = |count| ReplicatedClusterStatus { restore_replicas: count, ..Default::default() };
    let mut world = World::running();
    let recorded_at = Some(Stamp::new(EPOCH, 1));
    let report = Report { recorded: vec![2, 3], recorded_at, ..runs(Role::Primary, 9) };
    world.says(A0, report);
    let written = |world: &World, count| {
        judge_cluster(&world.inputs()).over(Some(&stored(count)), world.now).restore_replicas
    };
    assert_eq!(written(&world, Some(7)), Some(3), "while the manager looks, it is what was recorded");
    assert_eq!(written(&world, None), Some(3));
    world.stop_clustering();
    assert_eq!(written(&world, Some(7)), Some(7));
    assert_eq!(written(&world, Some(0)), None, "0 is nobody's");
    assert_eq!(written(&world, Some(-2)), None);
}

#[test]
fn restore_replicas_outlives_the_agents_that_remember_it() {
    let stored = ReplicatedClusterStatus { restore_replicas: Some(7), ..Default::default() };
    let mut world = World::running();
    let written =
        |world: &World| judge_cluster(&world.inputs()).over(Some(&stored), world.now).restore_replicas;
    let report = Report { recorded: vec![2, 3], recorded_at: Some(Stamp::new(EPOCH, 1)), ..stopped(9) };
    world.says(A0, report);
    for name in [A0, A1, B0] {
        world.lose(name);
    }
    assert_eq!(written(&world), Some(3), "what was told last is what it is");
    let mut nobody = World::of(Observed::new(EPOCH));
    nobody.decide();
    assert_eq!(written(&nobody), Some(7), "nobody has told yet");
}

#[test]
fn the_last_request_outlives_a_restart_if_it_has_the_shape_of_one() {
    let world = World::running();
    let request = LastRequest {
        id: "r1".into(),
        action: "fence".into(),
        result: "Done".into(),
        message: String::new(),
        time: Some(Time(at(3))),
    };
    let written = |world: &World, request: &LastRequest| {
        let stored = ReplicatedClusterStatus { last_request: Some(request.clone()), ..Default::default() };
        judge_cluster(&world.inputs()).over(Some(&stored), world.now).last_request
    };
    assert_eq!(written(&world, &request), Some(request.clone()));
    for garbled in [
        LastRequest { action: "explode".into(), ..request.clone() },
        LastRequest { result: "Perhaps".into(), ..request.clone() },
        LastRequest { id: "x".repeat(64), ..request.clone() },
        LastRequest { id: String::new(), ..request.clone() },
        LastRequest { message: "x".repeat(5000), ..request.clone() },
        LastRequest { time: Some(Time(Timestamp::MIN)), ..request.clone() },
    ] {
        assert_eq!(written(&world, &garbled), None, "{garbled:?}");
    }
    let under_way = LastRequest { result: "Accepted".into(), ..request.clone() };
    let lost = written(&world, &under_way).unwrap();
    assert_eq!((lost.id.as_str(), lost.result.as_str()), ("r1", "Failed"), "nobody carries it out any more");
    assert!(lost.message.contains("repeat it"), "{}", lost.message);
    assert_eq!(written(&world, &lost), Some(lost.clone()), "that is said once");
    let inputs = ClusterInputs { last_request: Some(&under_way), ..world.inputs() };
    let stored = ReplicatedClusterStatus { last_request: Some(under_way.clone()), ..Default::default() };
    let told = judge_cluster(&inputs).over(Some(&stored), world.now).last_request;
    assert_eq!(told, Some(under_way.clone()), "somebody does");
    let newer = LastRequest { id: "r2".into(), ..request.clone() };
    let inputs = ClusterInputs { last_request: Some(&newer), ..world.inputs() };
    let stored = ReplicatedClusterStatus { last_request: Some(request), ..Default::default() };
    assert_eq!(judge_cluster(&inputs).over(Some(&stored), world.now).last_request, Some(newer));
}

#[test]
fn a_new_generation_resets_verdicts_and_restates_measurements() {
    use ConditionType as T;
    let mut world = World::running();
    let mut stored = world.status();
    stored.observed_generation = Some(3);
    stored.conditions.iter_mut().for_each(|condition| condition.observed_generation = Some(3));
    world.judged = 3;
    world.now = at(200);
    let verdict = judge_cluster(&world.inputs());
    let status = verdict.reset_over(Some(&stored), world.now).unwrap();
    assert_eq!(status.observed_generation, Some(4));
    assert!(status.conditions.iter().all(|condition| condition.observed_generation == Some(4)));
    for kind in [T::SpecValid, T::InfrastructureReady, T::ControlPlaneReady, T::Ready] {
        assert_eq!(said(&status, kind), "Unknown/Reconciling");
        assert_eq!(condition(&status, kind).last_transition_time.0, at(200));
    }
    assert_eq!(said(&status, T::Available), "True/Serving");
    assert_eq!(condition(&status, T::Available).last_transition_time.0, at(100));
    assert_eq!(status.phase.as_deref(), Some("Running"), "it still runs");
    let again = verdict.reset_over(Some(&status), at(300)).unwrap();
    assert!(!cluster_needs_write(Some(&status), &again));
    assert_eq!(again, status);
}

#[test]
fn nothing_is_reset_while_reconciliation_is_stopped_and_stopped_clustering_stays_unseen() {
    let mut world = World::running();
    world.stop_clustering();
    let status = judge_cluster(&world.inputs()).reset_over(None, world.now).unwrap();
    assert_eq!(said(&status, ConditionType::ControlPlaneReady), "Unknown/ClusteringStopped");
    assert_eq!(said(&status, ConditionType::InfrastructureReady), "Unknown/Reconciling");
    world.stop_reconciliation();
    assert_eq!(judge_cluster(&world.inputs()).reset_over(None, world.now), None);
}

#[test]
fn the_last_backup_is_mirrored_where_it_is_a_time() {
    let mut world = World::running();
    let mut mirrored = |value: &str| {
        world.annotations.insert("muster.dev/last-backup-time".into(), value.into());
        world.status().last_backup_time.map(|time| time.0.to_string())
    };
    assert_eq!(mirrored("2026-01-02T03:04:05Z").as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(mirrored("2026-01-02T05:04:05+02:00").as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(mirrored("yesterday"), None);
    assert_eq!(mirrored("-009999-01-02T03:04:05Z"), None);
}
