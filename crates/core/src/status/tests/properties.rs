//! What holds for any inputs: nothing panics, nothing is invented, everything fits its bounds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use muster_api::cluster::{LastRequest, Recovery};
use muster_api::names::{BlockedBy, CLUSTER_CONDITIONS};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::super::write::cluster_needs_write;
use super::*;
use crate::manager::command::Action;
use crate::manager::decide::{Effect, Order, Rule};
use crate::manager::election::Obstacle;
use crate::validation::Violation;

const RULES: [Rule; 8] = [
    Rule::Outranked,
    Rule::Park,
    Rule::SplitBrain,
    Rule::Join,
    Rule::Starting,
    Rule::FailOver,
    Rule::Recover,
    Rule::Form,
];

/// A stream of small choices, from which a whole world is made; when it ends, all else is well.
struct Choices<'c>(std::slice::Iter<'c, u8>);

impl Choices<'_> {
    fn below(&mut self, limit: u8) -> u8 {
        self.0.next().copied().unwrap_or(0) % limit
    }

    /// Rarely true, so that worlds that are well are among those tried.
    fn rarely(&mut self) -> bool {
        self.below(12) == 11
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::from(self.below(u8::try_from(of.len()).unwrap()))].clone()
    }

    fn name(&mut self) -> String {
        let long = "x".repeat(300);
        self.one(&[A0, A1, B0, "orders-c-7", long.as_str(), "", "ünïcödé", A0, A1, B0]).to_owned()
    }

    fn names(&mut self) -> Vec<String> {
        let many = if self.rarely() { 200 } else { 3 };
        (0..self.below(many)).map(|_| self.name()).collect()
    }

    fn gate(&mut self) -> Gate {
        let text = || "has 1 of 2".to_owned();
        match self.below(10) {
            9 => Gate::NotYet { reason: text() },
            8 => Gate::Stale { reason: text() },
            7 => Gate::Failed { reason: "x".repeat(5000) },
            _ => Gate::Ready,
        }
    }

    fn truth(&mut self) -> Truth {
        self.one(&[Truth::True, Truth::True, Truth::True, Truth::True, Truth::False, Truth::Unknown])
    }

    fn held(&mut self) -> Held {
        let start = u64::from(self.below(4));
        let terms = [TermStart { term: term(1), start: 1 }, TermStart { term: term(2), start }];
        let sequence = if self.rarely() { u64::MAX } else { u64::from(self.below(9)) };
        let count = usize::from(self.below(3));
        Held {
            history: self.one(&["h", "h", "h", "g", ""]).to_owned(),
            terms: TermList::new(terms.into_iter().take(count)),
            sequence,
            position: if self.rarely() { "p".repeat(2000) } else { String::new() },
            empty: self.rarely(),
            complete: !self.rarely(),
            left: self.rarely(),
        }
    }

    fn report(&mut self) -> Report {
        let mut report = runs(self.one(&[Role::Primary, Role::Secondary, Role::Secondary]), 5);
        let activities = [Activity::Serving, Activity::Serving, Activity::Donor, Activity::Joining];
        let others = [Activity::Starting, Activity::Isolated, Activity::Failed];
        let activity = if self.rarely() { self.one(&others) } else { self.one(&activities) };
        let view = self.rarely().then(|| self.name());
        let self_made = Term::self_made(Stamp::new(u64::MAX, 3), 7);
        let newest = self.one(&[Some(term(1)), Some(term(1)), Some(term(2)), None, Some(self_made)]);
        report = change_running(report, |running| {
            running.activity = activity;
            running.view = view;
            running.term = newest;
        });
        match self.below(6) {
            0 => report.application = Application::Stopped,
            1 => report.application = Application::Unknown,
            _ => {}
        }
        report.data = if self.rarely() { Data::Unreadable } else { Data::Held(self.held()) };
        report.recorded = if self.rarely() { vec![usize::from(self.below(200)) * 9] } else { Vec::new() };
        report.evacuated = self.rarely();
        report
    }

    fn hold(&mut self) -> Hold {
        let members = self.names();
        let member = self.name();
        match self.below(14) {
            1 => Hold::Joining(members),
            2 => Hold::Leaving(member),
            3 => Hold::FreeUnknown(members),
            4 => Hold::AwaitingReports(members),
            5 => Hold::AtMaximum { limit: 3 },
            6 => Hold::ClusterFull,
            7 => Hold::NoGain(member),
            8 => Hold::NobodyMayGo,
            _ => Hold::AtSize,
        }
    }

    fn decision(&mut self, world: &World) -> Decision {
        let mut decision = decide(&world.observed, &world.wanted, world.now);
        if self.rarely() {
            decision.rule = self.one(&RULES);
        }
        if self.rarely() {
            decision.blocked = Some(Obstacle { by: self.one(BlockedBy::ALL), members: self.names() });
        }
        if self.rarely() {
            decision.no_seed = Some(at(500));
        }
        if self.rarely() {
            decision.waiting = self.names();
            let (member, instance) = (self.name(), Instance(1));
            decision.orders.push(Order { member, instance, action: Action::Seed { forming: false } });
            decision.effects.push(Effect::Parked);
        }
        decision
    }

    fn world(&mut self) -> World {
        let names = [A0, A1, B0];
        let heard: Vec<(&str, Report)> =
            names.iter().filter(|_| !self.rarely()).map(|name| (*name, runs(Role::Secondary, 5))).collect();
        let mut world = World::of(observed(Some(&roster(&names)), heard));
        tell(&mut world.observed, A0, runs(Role::Primary, 5));
        for name in names {
            if self.rarely() {
                tell(&mut world.observed, name, self.report());
            }
            if self.rarely() {
                world.observed.lose_stream(name);
            }
            if self.rarely() {
                world.observed.take_proofs([proof(name, FenceKind::Person)]);
            }
            let member = world.wanted.members.get_mut(name).unwrap();
            (member.disabled, member.leaving) = (self.rarely(), self.rarely());
        }
        ask_again(&mut world.observed);
        self.disturb(&mut world);
        world
    }

    fn disturb(&mut self, world: &mut World) {
        for member in &mut world.members {
            member.stage =
                self.one(&[Stage::Joined, Stage::Joined, Stage::Joined, Stage::Creating, Stage::Leaving]);
            member.stored.storage = self.gate();
            member.stored.ready = self.gate();
            member.known =
                MemberTruths { storage: self.truth(), workload: self.truth(), ready: self.truth() };
            member.spec_current = !self.rarely();
            member.at_zero = self.rarely();
        }
        if self.rarely() {
            world.members.extend((0..600).map(|n| seen(&format!("orders-a-{n}"), "a")));
        }
        world.advice = (!self.rarely()).then(|| advice(vec![self.hold(), self.hold()]));
        if self.rarely() {
            world.wanted.parked = true;
            world.advice = Some(Advice { parked: true, ..advice(vec![Hold::Parked, Hold::Parked]) });
        }
        if self.rarely() {
            let violations = vec![Violation { path: "p".into(), message: "m".repeat(3000) }; 3];
            world.report = Some(validation::Report { violations, unreadable: Vec::new() });
        }
        world.judged = if self.rarely() { 3 } else { GENERATION };
        world.unobserved = if self.rarely() { self.names() } else { Vec::new() };
        world.unapplied = if self.rarely() { self.names() } else { Vec::new() };
        world.name_taken = if self.rarely() { self.names() } else { Vec::new() };
        world.drivers = vec![("csi".to_owned(), self.gate())];
        (world.deleting, world.formed) = (self.rarely(), !self.rarely());
        if self.rarely() {
            world.service = None;
        }
        if self.rarely() {
            world.stop_reconciliation();
            world.applied = self.one(&[Some(3), Some(4), None]);
            world.children_equal = self.rarely();
        }
        world.observed.look_around(&world.wanted, at(self.one(&[0, 98])));
        let decision = self.decision(world);
        world.decision = (!self.rarely()).then_some(decision);
        if self.rarely() {
            world.stop_clustering();
        }
    }
}

fn world() -> impl Strategy<Value = World> {
    proptest::collection::vec(any::<u8>(), 0..250).prop_map(|bytes| Choices(bytes.iter()).world())
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inputs().fmt(f)
    }
}

/// A status that someone emptied, garbled, or filled with plausible lies.
fn garbled() -> impl Strategy<Value = ReplicatedClusterStatus> {
    let statuses = prop_oneof!["True", "False", "Unknown", "", "perhaps"];
    let kind = 0..CLUSTER_CONDITIONS.len() + 1;
    let condition =
        (kind, statuses, any::<i64>(), -100_i64..200).prop_map(|(kind, status, generation, time)| {
            Condition {
                type_: CLUSTER_CONDITIONS.get(kind).map_or("Other".to_owned(), |kind| (*kind).into()),
                status,
                reason: "Lie".into(),
                message: "lie".into(),
                observed_generation: Some(generation),
                last_transition_time: Time(at(time * 1000)),
            }
        });
    (proptest::collection::vec(condition, 0..30), any::<i32>(), any::<i64>(), any::<bool>()).prop_map(
        |(conditions, number, generation, lies)| ReplicatedClusterStatus {
            conditions,
            replicas: Some(number),
            restore_replicas: Some(number % 600),
            observed_generation: Some(generation % 6),
            phase: Some("Running".into()),
            primary: Some("nobody".into()),
            recovery: lies.then(Recovery::default),
            last_request: lies.then(LastRequest::default),
            ..Default::default()
        },
    )
}

/// The same without what the writer may take from the stored status.
fn decided_part(mut status: ReplicatedClusterStatus, about: Option<i64>) -> ReplicatedClusterStatus {
    for condition in &mut status.conditions {
        condition.last_transition_time = Time(at(0));
        if about.is_none() {
            condition.observed_generation = None;
        }
    }
    status.observed_generation = status.observed_generation.filter(|_| about.is_some());
    status.last_request = None;
    status.restore_replicas = None;
    status
}

#[test]
fn among_the_worlds_are_enough_of_each_sort() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut said_of_ready = BTreeMap::new();
    for _ in 0..512 {
        let world = world().new_tree(&mut runner).unwrap().current();
        *said_of_ready.entry(condition(&world.status(), ConditionType::Ready).status.clone()).or_insert(0) +=
            1;
    }
    assert!(["True", "False", "Unknown"].iter().all(|truth| said_of_ready[*truth] > 20), "{said_of_ready:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_inputs_give_one_status_that_the_api_server_takes(world in world()) {
        let status = world.status();
        prop_assert_eq!(&status, &world.status());
        prop_assert_eq!(schema::refused("ReplicatedCluster", &status), Vec::<String>::new());
        prop_assert_eq!(status.conditions.len(), CLUSTER_CONDITIONS.len());
        for condition in &status.conditions {
            prop_assert!(!condition.reason.is_empty() && !condition.message.is_empty(), "{condition:?}");
        }
        if let Some(reset) = judge_cluster(&world.inputs()).reset_over(Some(&status), world.now) {
            prop_assert_eq!(schema::refused("ReplicatedCluster", &reset), Vec::<String>::new());
            prop_assert_eq!(reset.observed_generation, Some(GENERATION));
        }
    }

    #[test]
    fn ready_is_true_only_when_each_of_its_inputs_is_at_this_generation(world in world()) {
        use ConditionType as T;
        let status = world.status();
        let about = status.observed_generation.unwrap();
        let is = |kind| conditions::truth_at(&status.conditions, kind, about);
        if is(T::Ready) == Truth::True {
            let parked = said(&status, T::Ready) == "True/Parked";
            let served = if parked { Truth::False } else { Truth::True };
            prop_assert_eq!(is(T::SpecValid), Truth::True);
            prop_assert_eq!(is(T::InfrastructureReady), Truth::True);
            prop_assert_eq!(is(T::ControlPlaneReady), Truth::True);
            prop_assert_eq!(is(T::Available), served);
            prop_assert_eq!(is(T::ClusteringActive), Truth::True);
            prop_assert!(world.report.as_ref().unwrap().is_valid() && world.judged == about);
            prop_assert!(world.drivers.iter().all(|(_, gate)| gate.is_ready()));
            prop_assert!(world.members.iter().all(|member| member.storage().is_ready() && member.workload().is_ready()));
        }
    }

    #[test]
    fn nobody_who_does_not_look_says_true(world in world()) {
        use ConditionType as T;
        let status = world.status();
        let seen = [T::ControlPlaneReady, T::Available, T::Healthy, T::Recovering, T::ScalingUp, T::ScalingDown,
            T::RollingOut];
        if world.inputs().looking().is_err() {
            for kind in seen {
                prop_assert_eq!(&condition(&status, kind).status, "Unknown");
            }
            prop_assert!(condition(&status, T::Ready).status != "True");
            prop_assert!(status.members.is_none() && status.ready_replicas.is_none() && status.primary.is_none());
            prop_assert!(status.free_storage.is_none() && status.recovery.is_none());
        } else {
            let served = !status.members.as_ref().unwrap().primary.is_empty();
            prop_assert!(served || condition(&status, T::Available).status != "True");
        }
        prop_assert_eq!(status.control_paused.unwrap(), status.conditions.iter().any(|c| c.type_.ends_with("Active") && c.status == "False"));
    }

    #[test]
    fn a_garbled_status_changes_nothing_but_times(world in world(), garbled in garbled()) {
        let verdict = judge_cluster(&world.inputs());
        let about = world.inputs().basis();
        let (clean, over) = (verdict.over(None, world.now), verdict.over(Some(&garbled), world.now));
        prop_assert_eq!(schema::refused("ReplicatedCluster", &over), Vec::<String>::new());
        let restored = over.restore_replicas;
        if about.is_some() {
            prop_assert_eq!(decided_part(clean.clone(), about), decided_part(over, about));
        }
        let told = |picture: super::super::view::Picture<'_>| picture.view.observed.members.values().any(|seen| seen.report.is_some());
        if world.inputs().looking().is_ok_and(told) {
            prop_assert_eq!(restored, clean.restore_replicas);
        }
    }

    #[test]
    fn an_equal_status_is_not_written_and_an_equal_condition_keeps_its_time(one in world(), other in world()) {
        let first = one.status();
        let verdict = judge_cluster(&other.inputs());
        let second = verdict.over(Some(&first), at(7000));
        for condition in &second.conditions {
            let before = first.conditions.iter().find(|c| c.type_ == condition.type_).unwrap();
            let kept = before.last_transition_time == condition.last_transition_time;
            prop_assert_eq!(kept, before.status == condition.status, "{:?}", condition);
        }
        prop_assert_eq!(cluster_needs_write(Some(&second), &verdict.over(Some(&second), at(9000))), false);
    }
}
