//! `ControlPlaneReady`, `Available` and `Healthy`: True, False and Unknown, and who is the cause.

use super::*;

/// The three, in this order, each `status/reason`.
fn three(world: &World) -> [String; 3] {
    let status = world.status();
    [ConditionType::ControlPlaneReady, ConditionType::Available, ConditionType::Healthy]
        .map(|kind| said(&status, kind))
}

#[track_caller]
fn after(change: impl FnOnce(&mut World), expected: [&str; 3]) -> ReplicatedClusterStatus {
    let mut world = World::running();
    change(&mut world);
    world.decide();
    assert_eq!(three(&world), expected);
    world.status()
}

#[test]
fn all_is_well() {
    after(|_| {}, ["True/AsDesired", "True/Serving", "True/AsDesired"]);
}

#[test]
fn a_secondary_that_stopped() {
    let status =
        after(|world| world.says(A1, stopped(7)), ["False/NotJoined", "True/Serving", "False/NotJoined"]);
    assert_eq!(message(&status, ConditionType::Healthy), "orders-a-1 is stopped");
    assert_eq!((status.phase.as_deref(), status.reason.as_deref()), (Some("Degraded"), Some("NotJoined")));
}

#[test]
fn a_secondary_that_is_not_heard_cannot_be_known_to_have_joined() {
    let status = after(
        |world| world.lose(A1),
        ["Unknown/AgentsUnreachable", "True/Serving", "False/AgentsUnreachable"],
    );
    assert_eq!(said(&status, ConditionType::Ready), "Unknown/NotObserved");
}

#[test]
fn a_secondary_that_is_proven_dead_has_not_joined() {
    after(|world| world.fence(&[A1]), ["False/NotJoined", "True/Serving", "False/AgentsUnreachable"]);
}

#[test]
fn a_secondary_that_lags_has_joined() {
    let lagging = change_running(runs(Role::Secondary, 3), |running| running.synced = false);
    let status =
        after(|world| world.says(A1, lagging), ["True/AsDesired", "True/Serving", "False/NotSynced"]);
    assert_eq!((status.synced_replicas, status.available_replicas), (Some(2), Some(3)));
}

#[test]
fn a_disk_without_which_no_write_has_enough_copies() {
    let exchanged = || Report { volume: "new".into(), ..runs(Role::Secondary, 9) };
    after(|world| world.says(A1, exchanged()), ["False/Joining", "True/Serving", "True/AsDesired"]);
    let status = after(
        |world| {
            world.wanted.engine.copies = Copies::Fixed(3);
            world.says(A1, exchanged());
        },
        ["False/Joining", "True/Serving", "False/VolumeLost"],
    );
    let said = message(&status, ConditionType::Healthy);
    assert!(said.ends_with("to give it up: kubectl muster forget orders orders-a-1"), "{said}");
}

#[test]
fn a_member_is_not_ready_before_its_copies_count() {
    let mut uncounted = roster(&[A0, A1, B0]);
    uncounted.version = Stamp::new(EPOCH, 2);
    uncounted.entries[2].voter = false;
    let knows = |report| Report { roster: Some(uncounted.clone()), ..report };
    let status = after(
        |world| {
            world.says(A0, knows(runs(Role::Primary, 9)));
            world.says(A1, knows(runs(Role::Secondary, 9)));
            world.says(B0, knows(runs(Role::Secondary, 9)));
        },
        ["False/Joining", "True/Serving", "True/AsDesired"],
    );
    let said = message(&status, ConditionType::ControlPlaneReady);
    assert_eq!(said, "copies are not counted yet: orders-b-0");
    assert_eq!(said, message(&status, ConditionType::Ready).trim_start_matches("ControlPlaneReady: "));
}

#[test]
fn nobody_is_told_ready_while_an_outage_would_ask_for_those_who_counted_before() {
    let mut two = roster(&[A0, A1, B0]);
    two.entries[2].voter = false;
    let counting = two.with_vote(B0, B0, true).issue(Stamp::new(EPOCH, 2));
    let settled = counting.settled().issue(Stamp::new(EPOCH, 3));
    let tell = |world: &mut World, rosters: [&Roster; 3]| {
        for ((name, role), roster) in
            [(A0, Role::Primary), (A1, Role::Secondary), (B0, Role::Secondary)].into_iter().zip(rosters)
        {
            world.says(name, Report { roster: Some(roster.clone()), ..runs(role, 9) });
        }
    };
    let waits = ["False/Joining", "True/Serving", "True/AsDesired"];
    let status = after(|world| tell(world, [&counting, &counting, &counting]), waits);
    let said = message(&status, ConditionType::ControlPlaneReady);
    assert_eq!(said, "what was written before the last member joined is being copied");
    let status = after(|world| tell(world, [&settled, &counting, &settled]), waits);
    let said = message(&status, ConditionType::ControlPlaneReady);
    assert_eq!(said, "not told yet whose copies count: orders-a-1");
    let all_well = ["True/AsDesired", "True/Serving", "True/AsDesired"];
    after(|world| tell(world, [&settled, &settled, &settled]), all_well);
}

#[test]
fn copies_that_never_count_are_not_waited_for() {
    let all_well = ["True/AsDesired", "True/Serving", "True/AsDesired"];
    let mut uncounted = roster(&[A0, A1, B0]);
    uncounted.version = Stamp::new(EPOCH, 2);
    uncounted.entries[2].voter = false;
    let knows = |report| Report { roster: Some(uncounted.clone()), ..report };
    let tell = |world: &mut World, last: Report| {
        world.says(A0, knows(runs(Role::Primary, 9)));
        world.says(A1, knows(runs(Role::Secondary, 9)));
        world.says(B0, knows(last));
    };
    let mute = Report { data: Data::Unreadable, ..runs(Role::Secondary, 9) };
    after(|world| tell(world, mute), all_well);
    after(
        |world| {
            world.wanted.engine.elects = true;
            tell(world, runs(Role::Secondary, 9));
        },
        all_well,
    );
}

#[test]
fn members_that_join_or_fail_are_told_apart() {
    let joining = busy(Activity::Joining, runs(Role::Secondary, 3));
    after(|world| world.says(A1, joining), ["False/Joining", "True/Serving", "False/Joining"]);
    let failed = busy(Activity::Failed, runs(Role::Secondary, 3));
    let status =
        after(|world| world.says(A1, failed), ["False/MemberFailed", "True/Serving", "False/MemberFailed"]);
    assert_eq!(status.members.unwrap().failed, [A1]);
    let mut world = World::running();
    for _ in 0..3 {
        let joining = busy(Activity::Joining, runs(Role::Secondary, 3));
        world.says(A1, change_running(joining, |running| running.synced = false));
        world.says(A1, stopped(3));
    }
    assert_eq!(three(&world), ["False/MemberFailed", "True/Serving", "False/MemberFailed"]);
    let unreadable = Report { data: Data::Unreadable, ..stopped(0) };
    after(|world| world.says(A1, unreadable), ["False/MemberFailed", "True/Serving", "False/MemberFailed"]);
}

#[test]
fn an_errant_member_is_named_and_not_fixed() {
    let status = after(
        |world| world.says(A1, stopped(11)),
        ["False/MemberErrant", "True/Serving", "False/MemberErrant"],
    );
    assert_eq!(status.errant_replicas, Some(1));
    assert_eq!(status.members.unwrap().errant, [A1]);
    assert_eq!(status.failure_reason.as_deref(), Some("MemberErrant"));
}

/// While clients write, what a member held when it stopped is more than the primary was last heard to have.
#[test]
fn nobody_is_called_errant_by_old_news_of_the_primary() {
    let mut world = World::running();
    tell(&mut world.observed, A1, stopped(11));
    world.decide();
    assert_eq!(three(&world), ["False/NotJoined", "True/Serving", "False/NotJoined"]);
    assert!(world.decision.as_ref().unwrap().ask, "the primary is asked");
    world.says(A0, runs(Role::Primary, 12));
    assert_eq!(world.status().errant_replicas, Some(0));
    assert!(!world.decision.as_ref().unwrap().ask);
}

#[test]
fn a_disabled_member_may_be_absent() {
    let disable = |world: &mut World| world.wanted.members.get_mut(A1).unwrap().disabled = true;
    let all_well = ["True/AsDesired", "True/Serving", "True/AsDesired"];
    after(
        |world| {
            disable(world);
            world.says(A1, stopped(7));
        },
        all_well,
    );
    after(
        |world| {
            disable(world);
            world.lose(A1);
        },
        all_well,
    );
}

#[test]
fn a_primary_of_an_older_term_serves_nobody() {
    let newer = change_running(runs(Role::Secondary, 9), |running| running.term = Some(term(2)));
    let mut world = World::running();
    world.says(A1, newer);
    assert_eq!(three(&world), ["False/StaleTerm", "False/StaleTerm", "False/StaleTerm"]);
}

#[test]
fn a_total_outage() {
    let reports = [A0, A1, B0].map(|name| (name, stopped(9))).to_vec();
    let mut world = World::of(observed(Some(&roster(&[A0, A1, B0])), reports));
    world.decide();
    assert_eq!(three(&world), ["False/Outage", "False/NoPrimary", "False/Outage"]);
    assert_eq!(world.status().errant_replicas, None, "without a primary nobody can tell");
}

#[test]
fn fewer_primaries_than_wanted() {
    let change = |world: &mut World| world.wanted.primaries = 2;
    let status = after(change, ["False/TooFewPrimaries", "True/Serving", "False/TooFewPrimaries"]);
    assert!(message(&status, ConditionType::ControlPlaneReady).starts_with("1 of 2 primaries serve"));
}

#[test]
fn members_that_see_different_views() {
    let view = |report, view: &str| change_running(report, |running| running.view = Some(view.to_owned()));
    let change = |world: &mut World| {
        world.says(A0, view(runs(Role::Primary, 9), "x"));
        world.says(A1, view(runs(Role::Secondary, 9), "y"));
    };
    let status = after(change, ["False/NotJoined", "True/Serving", "False/NotJoined"]);
    assert!(!message(&status, ConditionType::Healthy).is_empty());
}

#[test]
fn without_a_service_clients_find_nobody() {
    let status =
        after(|world| world.service = None, ["True/AsDesired", "False/NotServing", "True/AsDesired"]);
    assert_eq!((status.service_name, status.endpoint), (None, None));
}

/// The Service finds a primary by the label of its Pod: one primary that carries it is enough.
#[test]
fn without_a_labelled_primary_clients_are_sent_to_nobody() {
    let served = ["True/AsDesired", "True/Serving", "True/AsDesired"];
    let reach =
        |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    after(|world| world.reached = reach(&[A0]), served);
    for reached in [reach(&[]), reach(&[A1, B0])] {
        let nobody = ["True/AsDesired", "False/NotServing", "True/AsDesired"];
        let status = after(|world| world.reached = reached, nobody);
        assert!(message(&status, ConditionType::Available).contains(A0));
        assert_eq!(said(&status, ConditionType::Ready), "False/NotServing");
    }
}

#[test]
fn nobody_is_looking() {
    let mut world = World::running();
    world.stop_clustering();
    assert_eq!(three(&world), ["Unknown/ClusteringStopped"; 3].map(str::to_owned));
    let mut world = World::running();
    world.decision = None;
    world.manager = Manager::Starting;
    world.unheard = vec![B0.into()];
    assert_eq!(three(&world), ["Unknown/Starting"; 3].map(str::to_owned));
    assert!(message(&world.status(), ConditionType::Available).contains(B0));
    world.decide();
    assert_eq!(three(&world), ["Unknown/Starting"; 3].map(str::to_owned), "whatever it saw so far");
    let mut world = World::running();
    let later = Report { epoch: EPOCH + 1, ..runs(Role::Secondary, 9) };
    tell(&mut world.observed, A1, later);
    world.decide();
    assert_eq!(three(&world), ["Unknown/NotObserved"; 3].map(str::to_owned));
}

#[test]
fn a_stop_that_is_not_finished_is_not_a_stop() {
    let mut world = World::running();
    world.annotations.insert(ANNOTATION_CLUSTERING_STOPPED.into(), "true".into());
    world.manager = Manager::Stopping { waiting_for: A0.into() };
    let status = world.status();
    assert_eq!(said(&status, ConditionType::ClusteringActive), "True/Stopping");
    assert_eq!(said(&status, ConditionType::Ready), "True/AsDesired");
}

#[test]
fn a_parked_cluster_tells_who_failed() {
    let mut world = World::parked();
    world.says(A1, Report { data: Data::Unreadable, ..stopped(0) });
    assert_eq!(said(&world.status(), ConditionType::Healthy), "False/MemberFailed");
}

#[test]
fn while_parking_the_members_stop() {
    let mut world = World::running();
    world.wanted.parked = true;
    world.advice = Some(Advice { parked: true, ..advice(vec![Hold::Parked, Hold::Parked]) });
    world.decide();
    assert_eq!(three(&world), ["False/Stopping", "True/Serving", "False/Stopping"]);
    world.says(A0, busy(Activity::Failed, runs(Role::Primary, 9)));
    assert_eq!(three(&world), ["False/Stopping", "False/Parked", "False/Stopping"]);
}
