//! The status of a Member: every condition True, False and Unknown, and figures that hold still.

use muster_api::MemberStatus;
use muster_api::cluster::Threshold;
use muster_api::names::MEMBER_CONDITIONS;

use super::super::member::{DeviceSeen, StorageSeen, WorkloadSeen, free_storage};
use super::*;
use crate::conditions::Finding;
use crate::pause::Pause;
use crate::validation::Violation;

/// What the manager of a world sees, to be borrowed by the inputs of its Members.
struct Seen<'w> {
    looking: Result<Picture<'w>, Finding>,
    pause: Pause,
    report: validation::Report,
    now: Timestamp,
}

impl<'w> Seen<'w> {
    fn in_world(world: &'w World) -> Self {
        let inputs = world.inputs();
        Self {
            looking: inputs.looking(),
            pause: inputs.pause(),
            report: validation::Report::default(),
            now: world.now,
        }
    }

    fn inputs<'s>(&'s self, name: &'s str) -> MemberInputs<'s> {
        MemberInputs {
            name,
            generation: 2,
            deleting: false,
            state: DesiredState::Enabled,
            external: false,
            pause: self.pause,
            applied: Some(2),
            children_equal: true,
            spec: Some(Judged { generation: 2, verdict: &self.report }),
            storage: StorageSeen {
                free: Some(Published { bytes: 3 << 30, at: at(0) }),
                ..StorageSeen::default()
            },
            workload: WorkloadSeen {
                set: Some(&Gate::Ready),
                pod: Some(&Gate::Ready),
                ..WorkloadSeen::default()
            },
            seen: self.looking.as_ref().map_err(Finding::clone),
            action_error: None,
            address: Some("orders-a-0.orders.shop.svc"),
            previous: None,
        }
    }

    /// What is said of the Member `orders-a-1` with this storage.
    fn with_storage(&self, storage: StorageSeen<'_>) -> MemberStatus {
        judge_member(&MemberInputs { storage, ..self.inputs(A1) }).over(None, self.now)
    }

    /// What is found of the Member `orders-a-1` that was shown like this before.
    fn after(&self, previous: &MemberStatus) -> MemberVerdict {
        judge_member(&MemberInputs { previous: Some(previous), ..self.inputs(A1) })
    }
}

/// Judges a Member of this world after a change of its inputs.
fn judged(world: &World, name: &str, change: impl FnOnce(&mut MemberInputs<'_>)) -> MemberVerdict {
    let seen = Seen::in_world(world);
    let mut inputs = seen.inputs(name);
    change(&mut inputs);
    judge_member(&inputs)
}

fn status(world: &World, name: &str, change: impl FnOnce(&mut MemberInputs<'_>)) -> MemberStatus {
    judged(world, name, change).over(None, world.now)
}

fn of(status: &MemberStatus, kind: ConditionType) -> String {
    let condition = conditions::get(&status.conditions, kind).unwrap();
    format!("{}/{}", condition.status, condition.reason)
}

#[track_caller]
fn says(world: &World, kind: ConditionType, change: impl FnOnce(&mut MemberInputs<'_>), expected: &str) {
    let status = status(world, A1, change);
    assert_eq!(of(&status, kind), expected);
    assert_eq!(of(&status, ConditionType::Ready).starts_with("True"), expected.starts_with("True"));
}

#[test]
fn a_member_that_is_well() {
    let status = status(&World::running(), A0, |_| {});
    let kinds: Vec<&str> = status.conditions.iter().map(|condition| condition.type_.as_str()).collect();
    assert_eq!(kinds, MEMBER_CONDITIONS.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    let said: Vec<String> = MEMBER_CONDITIONS.iter().map(|kind| of(&status, *kind)).collect();
    assert_eq!(
        said,
        ["True/AsDesired", "True/Valid", "True/AsDesired", "True/AsDesired", "True/Connected", "True/Joined"]
    );
    assert_eq!((status.role.as_deref(), status.current_state.as_deref()), (Some("primary"), Some("Enabled")));
    assert_eq!(
        (status.history.as_deref(), status.term.as_deref(), status.sequence),
        (Some("h"), Some("5.1"), Some(9))
    );
    assert_eq!(status.free_storage.unwrap().to_string(), "3Gi");
}

#[test]
fn spec_valid() {
    use ConditionType::SpecValid as Kind;
    let world = World::running();
    says(&world, Kind, |_| {}, "True/Valid");
    says(&world, Kind, |inputs| inputs.spec = None, "Unknown/NotObserved");
    says(&world, Kind, |inputs| inputs.generation = 3, "Unknown/NotObserved");
    let mut seen = Seen::in_world(&world);
    let violation = Violation { path: "spec.pool".into(), message: "there is none".into() };
    seen.report.violations.push(violation);
    let invalid = judge_member(&seen.inputs(A1)).over(None, world.now);
    assert_eq!(of(&invalid, Kind), "False/Invalid");
}

#[test]
fn storage_ready() {
    use ConditionType::StorageReady as Kind;
    let world = World::running();
    let claim = |gate| [("data-orders-a-1".to_owned(), gate)];
    let pending = claim(Gate::NotYet { reason: "is not bound".into() });
    let stale = claim(Gate::Stale { reason: "is old".into() });
    let bound = claim(Gate::Ready);
    let seen = Seen::in_world(&world);
    let storage_is = |storage: StorageSeen<'_>, expected: &str| {
        assert_eq!(of(&seen.with_storage(storage), Kind), expected);
    };
    storage_is(StorageSeen { claims: &bound, ..StorageSeen::default() }, "True/AsDesired");
    storage_is(StorageSeen { claims: &pending, ..StorageSeen::default() }, "False/VolumeNotReady");
    storage_is(StorageSeen { claims: &stale, ..StorageSeen::default() }, "Unknown/NotObserved");
    let gone = ["mine".to_owned()];
    storage_is(StorageSeen { not_found: &gone, ..StorageSeen::default() }, "False/VolumeNotFound");
    storage_is(StorageSeen { unobserved: &gone, ..StorageSeen::default() }, "Unknown/ObservationFailed");
    let device = |available, pooled| DeviceSeen {
        name: "/dev/sdb".into(),
        available: Some(available),
        pooled: Some(pooled),
        ..DeviceSeen::default()
    };
    let wanted_devices = &["/dev/sdb".to_owned()][..];
    for (devices, expected) in [
        (vec![device(true, true)], "True/AsDesired"),
        (vec![device(true, false)], "False/DeviceNotReady"),
        (vec![device(false, true)], "False/DeviceNotReady"),
        (vec![], "False/DeviceNotReady"),
    ] {
        storage_is(StorageSeen { wanted_devices, devices: &devices, ..StorageSeen::default() }, expected);
    }
    let mut unseen = World::running();
    unseen.stop_clustering();
    let status =
        Seen::in_world(&unseen).with_storage(StorageSeen { wanted_devices, ..StorageSeen::default() });
    assert_eq!(of(&status, Kind), "Unknown/ClusteringStopped");
}

#[test]
fn workload_ready() {
    use ConditionType::WorkloadReady as Kind;
    let world = World::running();
    let says = |change: fn(&mut MemberInputs<'_>), expected| says(&world, Kind, change, expected);
    says(|_| {}, "True/AsDesired");
    says(|inputs| inputs.workload.set = None, "False/WorkloadNotReady");
    says(|inputs| inputs.workload.name_taken = Some("StatefulSet x"), "False/NameTaken");
    says(|inputs| inputs.workload.held = Some("restart"), "False/ClusteringStopped");
    says(|inputs| inputs.workload.unobserved = Some("503"), "Unknown/ObservationFailed");
    let stale = Gate::Stale { reason: "is old".into() };
    let seen = Seen::in_world(&world);
    let mut inputs = seen.inputs(A1);
    inputs.workload.set = Some(&stale);
    assert_eq!(of(&judge_member(&inputs).over(None, world.now), Kind), "Unknown/NotObserved");
    let parked = status(&World::parked(), A1, |inputs| inputs.workload.at_zero = true);
    assert_eq!(of(&parked, Kind), "True/Parked");
    assert_eq!(of(&parked, ConditionType::Ready), "False/Parked");
}

#[test]
fn agent_connected() {
    use ConditionType::AgentConnected as Kind;
    let world = World::running();
    says(&world, Kind, |_| {}, "True/Connected");
    says(&world, Kind, |inputs| inputs.workload.pod = None, "False/Disconnected");
    let seen = Seen::in_world(&world);
    let other_pod = Gate::NotYet { reason: "is not the Pod whose agent reports".into() };
    let mut inputs = seen.inputs(A1);
    inputs.workload.pod = Some(&other_pod);
    let unseen = judge_member(&inputs).over(None, world.now);
    assert_eq!(of(&unseen, Kind), "False/Disconnected");
    assert_eq!(
        of(&unseen, ConditionType::Joined),
        "Unknown/NotObserved",
        "another Pod's report says nothing"
    );
    assert_eq!((unseen.role, unseen.sequence, unseen.free_storage), (None, None, None));
    let mut lost = World::running();
    lost.lose(A1);
    says(&lost, Kind, |_| {}, "False/Disconnected");
    let mut stopped = World::running();
    stopped.stop_clustering();
    says(&stopped, Kind, |_| {}, "Unknown/ClusteringStopped");
    let mut starting = World::running();
    starting.decision = None;
    says(&starting, Kind, |_| {}, "Unknown/Starting");
}

#[test]
fn joined() {
    use ConditionType::Joined as Kind;
    let with = |report| {
        let mut world = World::running();
        world.says(A1, report);
        world
    };
    says(&World::running(), Kind, |_| {}, "True/Joined");
    says(&with(stopped(7)), Kind, |_| {}, "False/Stopped");
    says(&with(stopped(7)), Kind, |inputs| inputs.action_error = Some("exit 3"), "False/ActionFailed");
    says(&with(stopped(11)), Kind, |_| {}, "False/MemberErrant");
    says(&with(busy(Activity::Joining, runs(Role::Secondary, 3))), Kind, |_| {}, "False/Joining");
    says(&with(busy(Activity::Isolated, runs(Role::Secondary, 3))), Kind, |_| {}, "False/NotJoined");
    says(&with(busy(Activity::Failed, runs(Role::Secondary, 3))), Kind, |_| {}, "False/MemberFailed");
    says(
        &with(Report { application: Application::Unknown, ..stopped(3) }),
        Kind,
        |_| {},
        "Unknown/NotObserved",
    );
    let mut stalled = with(busy(Activity::Joining, runs(Role::Secondary, 3)));
    stalled.now = at(4000);
    says(&stalled, Kind, |_| {}, "False/Stalled");
    let mut fenced = World::running();
    fenced.fence(&[A1]);
    let status = status(&fenced, A1, |inputs| inputs.workload.pod = None);
    assert_eq!(of(&status, Kind), "False/Stopped");
    let mut headless = World::running();
    headless.says(A0, stopped(9));
    says(&headless, Kind, |_| {}, "False/NoPrimary");
    let mut stale = World::running();
    stale.says(A1, change_running(runs(Role::Secondary, 9), |running| running.term = Some(term(2))));
    says(&stale, Kind, |_| {}, "False/NoPrimary");
}

#[test]
fn an_errant_member_is_told_how_to_come_back() {
    let mut world = World::running();
    world.says(A1, stopped(11));
    let status = status(&world, A1, |_| {});
    let joined = conditions::get(&status.conditions, ConditionType::Joined).unwrap();
    assert!(
        joined.message.contains("kubectl muster rejoin orders orders-a-1 --discard"),
        "{}",
        joined.message
    );
}

#[test]
fn an_external_member_has_no_workload_to_look_at() {
    let status = status(&World::running(), A1, |inputs| {
        inputs.external = true;
        inputs.workload = WorkloadSeen::default();
        inputs.storage = StorageSeen::default();
    });
    assert_eq!(of(&status, ConditionType::StorageReady), "True/External");
    assert_eq!(of(&status, ConditionType::WorkloadReady), "True/External");
    assert_eq!(of(&status, ConditionType::Ready), "True/AsDesired");
}

#[test]
fn states() {
    let state =
        |change: fn(&mut MemberInputs<'_>)| status(&World::running(), A1, change).current_state.unwrap();
    assert_eq!(state(|_| {}), "Enabled");
    assert_eq!(state(|inputs| inputs.state = DesiredState::Disabled), "Disabled");
    assert_eq!(state(|inputs| inputs.deleting = true), "Deleting");
}

#[test]
fn a_stop_that_was_confirmed_leaves_its_position_readable() {
    let mut world = World::running();
    world.says(A1, change_held(stopped(7), |held| held.position = "0-1-7".into()));
    world.lose(A1);
    let status = status(&world, A1, |inputs| inputs.workload.pod = None);
    assert_eq!((status.sequence, status.position.as_deref(), status.role), (Some(7), Some("0-1-7"), None));
    assert_eq!(status.free_storage, None);
}

#[test]
fn a_sequence_is_restated_only_with_a_change() {
    let mut world = World::running();
    let first = status(&world, A1, |_| {});
    world.says(A1, runs(Role::Secondary, 50));
    let steady = judged(&world, A1, |_| {});
    assert_eq!(steady.over(Some(&first), at(200)), first, "after a restart the stored one serves");
    let lie = MemberStatus { sequence: Some(70), ..first.clone() };
    assert_eq!(steady.over(Some(&lie), at(200)).sequence, Some(50), "a sequence only grows");
    let remembered = Seen::in_world(&world).after(&first).over(Some(&lie), at(200));
    assert_eq!(remembered.sequence, Some(9), "memory is the truth, not the store");
    world.says(A1, stopped(51));
    let stop = Seen::in_world(&world).after(&first).over(Some(&first), at(200));
    assert_eq!(stop.sequence, Some(51), "it stopped");
    world.says(A1, runs(Role::Primary, 60));
    let role = Seen::in_world(&world).after(&first).over(Some(&first), at(200));
    assert_eq!(role.sequence, Some(60), "its role changed");
}

#[test]
fn free_storage_moves_by_hundredths_and_minutes_and_at_once_across_a_line() {
    let threshold = Threshold { free_storage_min: Some("500".parse().unwrap()), ..Threshold::default() };
    let shown = free_storage(777, 1000, None, &threshold, at(0));
    assert_eq!(shown, Published { bytes: 770, at: at(0) });
    let next = |free, seconds| free_storage(free, 1000, Some(shown), &threshold, at(seconds)).bytes;
    assert_eq!(next(700, 30), 770, "within a minute");
    assert_eq!(next(700, 60), 700);
    assert_eq!(next(779, 90), 770, "the same hundredth");
    assert_eq!(next(499, 1), 490, "across the line");
}

#[test]
fn devices_are_rounded_unique_and_bounded() {
    let world = World::running();
    let device = |n: usize, free| DeviceSeen {
        name: format!("/dev/sd{n}"),
        capacity: Some(1000),
        free: Some(free),
        ..DeviceSeen::default()
    };
    let mut devices: Vec<DeviceSeen> = (0..200).map(|n| device(n, 777)).collect();
    devices.push(device(0, 1));
    let free = Some(Published { bytes: 770, at: world.now });
    let status = Seen::in_world(&world).with_storage(StorageSeen {
        devices: &devices,
        free,
        ..StorageSeen::default()
    });
    assert_eq!(status.devices.len(), 128);
    assert!(status.devices.iter().all(|device| device.free.as_ref().unwrap().bytes() == 770));
    assert_eq!(schema::refused("Member", &status), Vec::<String>::new());
}

#[test]
fn a_new_generation_of_a_member_is_reset_first() {
    let world = World::running();
    let verdict = judged(&world, A1, |inputs| inputs.generation = 3);
    let status = verdict.reset_over(None, world.now).unwrap();
    assert_eq!(status.observed_generation, Some(3));
    assert_eq!(of(&status, ConditionType::WorkloadReady), "Unknown/Reconciling");
    assert_eq!(of(&status, ConditionType::Joined), "True/Joined");
    assert_eq!(schema::refused("Member", &status), Vec::<String>::new());
    let mut stopped = World::running();
    stopped.stop_reconciliation();
    assert_eq!(judged(&stopped, A1, |_| {}).reset_over(None, stopped.now), None);
}

#[test]
fn what_the_cluster_may_count() {
    let truths = judged(&World::running(), A1, |_| {}).truths();
    assert_eq!((truths.storage, truths.workload, truths.ready), (Truth::True, Truth::True, Truth::True));
    let mut lost = World::running();
    lost.lose(A1);
    assert_eq!(judged(&lost, A1, |_| {}).truths().ready, Truth::False);
}
