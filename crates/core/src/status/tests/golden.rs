//! Whole statuses, as a person would read them.

use std::fmt::Write as _;

use muster_api::names::CLUSTER_CONDITIONS;

use super::*;

/// The status in short: what the columns show, and every condition in one line.
fn told(status: &ReplicatedClusterStatus) -> String {
    let mut text = String::new();
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
    let number = |number: Option<i32>| number.map_or("-".to_owned(), |number| number.to_string());
    let _ = writeln!(
        text,
        "{} {} at {} members {} primary {} synced {} errant {} of {}",
        word(&status.phase),
        word(&status.reason),
        status.observed_generation.unwrap_or(-1),
        word(&status.members_ready),
        word(&status.primary),
        number(status.synced_replicas),
        number(status.errant_replicas),
        number(status.replicas),
    );
    for condition in &status.conditions {
        let _ = writeln!(text, "{} {} {}", condition.type_, condition.status, condition.reason);
    }
    if let Some(recovery) = &status.recovery {
        let _ = writeln!(
            text,
            "recovery {} blocked {} missing {:?} seed {} unblock {}",
            recovery.state,
            word(&recovery.blocked_by),
            recovery.missing,
            word(&recovery.seed),
            word(&recovery.unblock),
        );
    }
    if let Some(reason) = &status.failure_reason {
        let _ = writeln!(text, "failure {reason}");
    }
    text
}

#[track_caller]
fn golden(world: &World, expected: &str) -> ReplicatedClusterStatus {
    let status = world.status();
    let kinds: Vec<&str> = status.conditions.iter().map(|condition| condition.type_.as_str()).collect();
    let all: Vec<&str> = CLUSTER_CONDITIONS.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(kinds, all, "all conditions, in order");
    let expected: String =
        expected.trim_start().lines().fold(String::new(), |text, line| text + line.trim() + "\n");
    assert_eq!(told(&status), expected);
    status
}

#[test]
fn running() {
    let status = golden(
        &World::running(),
        "Running AsDesired at 4 members 3/3 primary orders-a-0 synced 3 errant 0 of 3
        Ready True AsDesired
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady True AsDesired
        Available True Serving
        Healthy True AsDesired
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering False Idle
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle",
    );
    assert_eq!(status.control_paused, Some(false));
    assert_eq!(status.current_version.as_deref(), Some("10.11"));
    assert_eq!(status.endpoint.as_ref().map(|e| (e.host.as_str(), e.port)), Some(("orders.shop.svc", 3306)));
    assert_eq!(status.members.as_ref().unwrap().secondary, [B0, A1], "by ordinal, then pool");
    let pools: Vec<_> =
        status.pools.iter().map(|p| (p.name.as_str(), p.zone.as_deref(), p.nodes, p.ready_nodes)).collect();
    assert_eq!(pools, [("a", Some("zone-a"), Some(2), Some(2)), ("b", Some("b"), Some(1), Some(1))]);
    assert_eq!(status.free_storage.as_ref().map(ToString::to_string).as_deref(), Some("10Gi"));
    let domains: Vec<_> =
        status.failure_domains.iter().map(|d| (d.name.as_str(), &d.attributes["members"])).collect();
    assert_eq!(domains, [("b", &"1".to_owned()), ("zone-a", &"2".to_owned())]);
}

#[test]
fn forming() {
    let mut world = World::of(observed(None, vec![(A0, empty()), (A1, empty())]));
    world.wanted.formed = Marks::default();
    world.formed = false;
    for member in &mut world.members {
        member.stage = Stage::Creating;
        member.known.ready = Truth::False;
    }
    world.members[2].stored.workload = Gate::NotYet { reason: "has 0 of 1 ready".into() };
    world.decide();
    golden(
        &world,
        "Provisioning MemberNotReady at 4 members 0/3 primary - synced 0 errant - of 3
        Ready False MemberNotReady
        SpecValid True Valid
        InfrastructureReady False MemberNotReady
        ControlPlaneReady False Forming
        Available False Forming
        Healthy False Forming
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering False Idle
        ScalingUp True InProgress
        ScalingDown False Idle
        RollingOut False Idle",
    );
}

#[test]
fn failover_blocked_by_a_missing_member() {
    let mut world = World::running();
    world.lose(A0);
    world.members[0].known.ready = Truth::False;
    let status = golden(
        &world,
        "Recovering MemberMissing at 4 members 2/3 primary - synced 2 errant - of 3
        Ready False NoPrimary
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady Unknown AgentsUnreachable
        Available False NoPrimary
        Healthy False NoPrimary
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering True Blocked
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle
        recovery Blocked blocked MemberMissing missing [\"orders-a-0\"] seed - unblock kubectl muster fence orders orders-a-0 # only when you made sure that none of them runs
        failure MemberMissing",
    );
    let recovery = status.recovery.unwrap();
    assert_eq!(recovery.expected, [A0, B0, A1]);
    assert_eq!(
        recovery.reported.iter().map(|r| (r.member.as_str(), r.sequence)).collect::<Vec<_>>(),
        [(B0, Some(8)), (A1, Some(9))]
    );
    assert!(message_of(&world, ConditionType::Available).contains("perhaps serving: orders-a-0"));
}

fn message_of(world: &World, kind: ConditionType) -> String {
    message(&world.status(), kind).to_owned()
}

#[test]
fn split_brain() {
    let mut world = World::running();
    world.says(A1, runs(Role::Primary, 12));
    world.now = at(200);
    world.decide();
    golden(
        &world,
        "Recovering EqualTerms at 4 members 3/3 primary 2 primaries synced 3 errant 0 of 3
        Ready False SplitBrain
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady False SplitBrain
        Available False SplitBrain
        Healthy False SplitBrain
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering True Blocked
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle
        recovery Blocked blocked EqualTerms missing [] seed - unblock kubectl muster recover orders --seed orders-a-0 # stops the others (orders-a-1), their data is kept as errant
        kubectl muster recover orders --seed orders-a-1 # stops the others (orders-a-0), their data is kept as errant
        failure EqualTerms",
    );
}

#[test]
fn parked() {
    let status = golden(
        &World::parked(),
        "Provisioned Parked at 4 members 0/0 primary - synced 0 errant - of 3
        Ready True Parked
        SpecValid True Valid
        InfrastructureReady True Parked
        ControlPlaneReady True Parked
        Available False Parked
        Healthy True Parked
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering False Idle
        ScalingUp False Parked
        ScalingDown False Parked
        RollingOut False Idle",
    );
    assert_eq!(status.failure_reason, None);
}

#[test]
fn clustering_stopped() {
    let mut world = World::running();
    world.stop_clustering();
    let status = golden(
        &world,
        "Paused ClusteringStopped at 4 members - primary - synced - errant - of 3
        Ready Unknown ClusteringStopped
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady Unknown ClusteringStopped
        Available Unknown ClusteringStopped
        Healthy Unknown ClusteringStopped
        ClusteringActive False ClusteringStopped
        ReconciliationActive True Active
        Recovering Unknown ClusteringStopped
        ScalingUp Unknown ClusteringStopped
        ScalingDown Unknown ClusteringStopped
        RollingOut Unknown ClusteringStopped",
    );
    assert_eq!(status.control_paused, Some(true));
    assert_eq!(status.members, None);
    assert_eq!((status.ready_replicas, status.available_replicas), (None, None));
    assert_eq!((status.updated_replicas, status.desired_replicas), (Some(3), Some(3)));
    assert!(status.pools.iter().all(|pool| pool.free_storage.is_none() && pool.ready_nodes.is_none()));
}

#[test]
fn reconciliation_stopped() {
    let mut world = World::running();
    world.stop_reconciliation();
    world.applied = Some(3);
    world.judged = 3;
    let status = golden(
        &world,
        "Paused ReconciliationStopped at 3 members 3/3 primary orders-a-0 synced 3 errant 0 of 3
        Ready True AsDesired
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady True AsDesired
        Available True Serving
        Healthy True AsDesired
        ClusteringActive True Active
        ReconciliationActive False ReconciliationStopped
        Recovering False Idle
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle",
    );
    let about = |kind| condition(&status, kind).observed_generation;
    assert_eq!((about(ConditionType::ReconciliationActive), about(ConditionType::Ready)), (Some(4), Some(3)));
}

#[test]
fn no_seed() {
    let mut world = World::of(observed(Some(&roster(&[A0, A1])), vec![(A0, stopped(9)), (A1, stopped(9))]));
    world.wanted.members.remove(B0);
    world.members.truncate(2);
    world.observed.failed_seeds.members = [A0.to_owned(), A1.to_owned()].into();
    world.observed.failed_seeds.attempts = 2;
    world.observed.failed_seeds.last = Some(at(95));
    world.decide();
    golden(
        &world,
        "Failed NoSeed at 4 members 2/3 primary - synced 0 errant - of 2
        Ready False Outage
        SpecValid True Valid
        InfrastructureReady True AsDesired
        ControlPlaneReady False Outage
        Available False NoPrimary
        Healthy False Outage
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering False NoSeed
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle
        recovery NoSeed blocked - missing [] seed - unblock kubectl delete pod -l muster.dev/member=orders-a-0 # a new run of its agent starts over
        failure NoSeed",
    );
}

#[test]
fn deleting() {
    let mut world = World::running();
    world.deleting = true;
    let status = golden(
        &world,
        "Deleting Deleting at 4 members 3/3 primary orders-a-0 synced 3 errant 0 of 3
        Ready False Deleting
        SpecValid True Valid
        InfrastructureReady False Deleting
        ControlPlaneReady True AsDesired
        Available True Serving
        Healthy True AsDesired
        ClusteringActive True Active
        ReconciliationActive True Active
        Recovering False Idle
        ScalingUp False Idle
        ScalingDown False Idle
        RollingOut False Idle",
    );
    assert_eq!(status.failure_reason, None);
}

#[test]
fn a_deletion_that_waits_says_so() {
    let mut world = World::running();
    world.deleting = true;
    world.stop_reconciliation();
    let status = world.status();
    assert_eq!(
        (status.phase.as_deref(), status.reason.as_deref()),
        (Some("Deleting"), Some("ReconciliationStopped"))
    );
    assert!(message(&status, ConditionType::ReconciliationActive).contains("deletion waits until"));
}
