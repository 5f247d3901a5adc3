//! Tests of the assembly: a cluster `orders` of three members, and what is said when something about it changes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use muster_api::member::DesiredState;
use muster_api::names::{
    ANNOTATION_CLUSTERING_STOPPED, ANNOTATION_RECONCILIATION_STOPPED, ConditionType, Role,
};
use muster_api::{Condition, ReplicatedClusterStatus};

use super::*;
use crate::conditions::{self, Truth};
use crate::generation::Gate;
use crate::manager::decide::{Decision, decide};
use crate::manager::fencing::{FenceKind, Proof};
use crate::manager::observed::Observed;
use crate::manager::report::{Activity, Application, Data, Held, Instance, Report, Running};
use crate::manager::roster::{Copies, Entry, Roster};
use crate::manager::stamp::{Stamp, Term};
use crate::manager::terms::{TermList, TermStart};
use crate::manager::wanted::{Engine, Mark, Marks, Wanted, WantedMember};
use crate::pause::{Manager, Stopped};
use crate::scaling::{self, Advice, Free, Hold, PoolAdvice, Published, Stage};
use crate::validation;

mod golden;
mod infrastructure;
mod member;
mod progress;
mod properties;
mod recovery;
mod replication;
mod schema;
mod write;

const EPOCH: u64 = 5;
const GENERATION: i64 = 4;
const A0: &str = "orders-a-0";
const A1: &str = "orders-a-1";
const B0: &str = "orders-b-0";

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_000_000 + seconds)
}

/// Everything that was observed, owned, so that a test changes what it is about.
struct World {
    annotations: BTreeMap<String, String>,
    deleting: bool,
    report: Option<validation::Report>,
    advice: Option<Advice>,
    judged: i64,
    pools: Vec<PoolSeen<'static>>,
    members: Vec<MemberSeen>,
    drivers: Vec<(String, Gate)>,
    name_taken: Vec<String>,
    unobserved: Vec<String>,
    unapplied: Vec<String>,
    held: Vec<String>,
    unheard: Vec<String>,
    reached: BTreeSet<String>,
    manager: Manager,
    reconciliation_stopped: Option<Stopped>,
    observed: Observed,
    wanted: Wanted,
    decision: Option<Decision>,
    formed: bool,
    applied: Option<i64>,
    children_equal: bool,
    service: Option<ServiceSeen<'static>>,
    rollout: Rollout<'static>,
    now: Timestamp,
}

impl World {
    /// A cluster that runs: one primary, two that follow it.
    fn running() -> Self {
        let reports = vec![
            (A0, runs(Role::Primary, 9)),
            (A1, runs(Role::Secondary, 9)),
            (B0, runs(Role::Secondary, 8)),
        ];
        let mut world = Self::of(observed(Some(&roster(&[A0, A1, B0])), reports));
        world.decide();
        world
    }

    fn of(observed: Observed) -> Self {
        let pool = |name| PoolSeen { name, zone: None, free: Some(Published { bytes: 5 << 30, at: at(0) }) };
        Self {
            annotations: BTreeMap::new(),
            deleting: false,
            report: Some(validation::Report::default()),
            advice: Some(advice(vec![Hold::AtSize, Hold::AtSize])),
            judged: GENERATION,
            pools: vec![PoolSeen { zone: Some("zone-a"), ..pool("a") }, pool("b")],
            members: [(A0, "a"), (A1, "a"), (B0, "b")].map(|(name, pool)| seen(name, pool)).to_vec(),
            drivers: Vec::new(),
            name_taken: Vec::new(),
            unobserved: Vec::new(),
            unapplied: Vec::new(),
            held: Vec::new(),
            unheard: Vec::new(),
            reached: [A0, A1, B0].map(str::to_owned).into(),
            manager: Manager::Running,
            reconciliation_stopped: None,
            observed,
            wanted: wanted(),
            decision: None,
            formed: true,
            applied: Some(GENERATION),
            children_equal: true,
            service: Some(ServiceSeen { name: "orders", host: Some("orders.shop.svc"), port: 3306 }),
            rollout: Rollout::default(),
            now: at(100),
        }
    }

    fn decide(&mut self) {
        self.observed.look_around(&self.wanted, self.now);
        self.decision = Some(decide(&self.observed, &self.wanted, self.now));
    }

    fn inputs(&self) -> ClusterInputs<'_> {
        let view = self.decision.as_ref().map(|decision| View {
            observed: &self.observed,
            wanted: &self.wanted,
            decision,
            now: self.now,
        });
        let sizing = self.advice.as_ref().map(|advice| Sizing { advice, pools: &self.pools });
        ClusterInputs {
            object: Object {
                name: "orders",
                generation: GENERATION,
                deleting: self.deleting,
                annotations: Some(&self.annotations),
            },
            spec: self.report.as_ref().map(|verdict| Judged { generation: self.judged, verdict }),
            sizing: sizing.map(|verdict| Judged { generation: self.judged, verdict }),
            members: &self.members,
            drivers: &self.drivers,
            name_taken: &self.name_taken,
            refused: &[],
            unobserved: &self.unobserved,
            unapplied: &self.unapplied,
            clustering: Clustering {
                manager: &self.manager,
                view,
                unheard: &self.unheard,
                reached: &self.reached,
                held: &self.held,
            },
            reconciliation_stopped: self.reconciliation_stopped.as_ref(),
            formed: self.formed,
            applied: self.applied,
            children_equal: self.children_equal,
            engine: EngineFacts {
                client_port: Some(3306),
                target_version: Some("10.11"),
                generation: Some(2),
            },
            service: self.service,
            rollout: self.rollout,
            last_request: None,
            shown_recovery: None,
        }
    }

    fn status(&self) -> ReplicatedClusterStatus {
        judge_cluster(&self.inputs()).over(None, self.now)
    }

    fn stop_clustering(&mut self) {
        self.annotations.insert(ANNOTATION_CLUSTERING_STOPPED.into(), "true".into());
        self.manager = Manager::Stopped(Stopped::default());
        self.decision = None;
    }

    fn stop_reconciliation(&mut self) {
        self.annotations.insert(ANNOTATION_RECONCILIATION_STOPPED.into(), "true".into());
        self.reconciliation_stopped = Some(Stopped::default());
    }

    /// Every pool is at 0, and every application is stopped.
    fn parked() -> Self {
        let reports = [A0, A1, B0].map(|name| (name, stopped(9))).to_vec();
        let mut world = Self::of(observed(Some(&roster(&[A0, A1, B0])), reports));
        world.wanted.parked = true;
        world.advice =
            Some(Advice { parked: true, desired_replicas: 0, ..advice(vec![Hold::Parked, Hold::Parked]) });
        for member in &mut world.members {
            member.at_zero = true;
            member.known.ready = Truth::False;
        }
        world.decide();
        world
    }

    /// Somebody says something else now, and everyone is asked again.
    fn says(&mut self, name: &str, report: Report) {
        tell(&mut self.observed, name, report);
        ask_again(&mut self.observed);
        self.decide();
    }

    fn lose(&mut self, name: &str) {
        self.observed.lose_stream(name);
        self.decide();
    }

    fn fence(&mut self, names: &[&str]) {
        self.observed.take_proofs(names.iter().map(|name| proof(name, FenceKind::Terminated)));
        ask_again(&mut self.observed);
        self.decide();
    }
}

fn seen(name: &str, pool: &str) -> MemberSeen {
    MemberSeen {
        name: name.into(),
        pool: pool.into(),
        zone: None,
        from_pool: true,
        stage: Stage::Joined,
        state: DesiredState::Enabled,
        stored: StoredGates { storage: Gate::Ready, workload: Gate::Ready, ready: Gate::Ready },
        known: MemberTruths { storage: Truth::True, workload: Truth::True, ready: Truth::True },
        spec_current: true,
        version: Some("10.11".into()),
        at_zero: false,
        leave_failed: None,
        capacity: Some(10 << 30),
    }
}

/// One pool for each hold, of as many nodes as the world has in it.
fn advice(holds: Vec<Hold>) -> Advice {
    decided(holds.into_iter().map(scaling::Decision::Hold).collect())
}

fn decided(decisions: Vec<scaling::Decision>) -> Advice {
    let pool = |(decision, nodes): (scaling::Decision, u32)| PoolAdvice {
        decision,
        nodes,
        desired_nodes: nodes,
        free: Free::Known(5 << 30),
        measured: None,
    };
    Advice {
        parked: false,
        pools: decisions.into_iter().zip([2, 1]).map(pool).collect(),
        removed_pools: scaling::Decision::Hold(Hold::AtSize),
        desired_replicas: 3,
        free: Free::Known(10 << 30),
    }
}

fn wanted() -> Wanted {
    let member = |ordinal, pool: &str| WantedMember {
        ordinal: Some(ordinal),
        pool: pool.into(),
        ..WantedMember::default()
    };
    let members = [(A0, member(0, "a")), (A1, member(1, "a")), (B0, member(0, "b"))];
    Wanted {
        cluster: "orders".into(),
        members: members.map(|(name, member)| (name.to_owned(), member)).into(),
        parked: false,
        primaries: 1,
        engine: Engine {
            copies: Copies::Fixed(1),
            elects: false,
            promotes: true,
            demotes: true,
            bootstraps: false,
            adds_devices: false,
            stall_timeout: SignedDuration::from_mins(30),
        },
        allow_loss: false,
        restore: None,
        formed: Marks { found: [Mark { member: A0.into(), volume: A0.into() }].into(), some_unmarked: false },
    }
}

fn term(n: u64) -> Term {
    Term::commanded(Stamp::new(EPOCH, n))
}

fn stopped(sequence: u64) -> Report {
    let terms = TermList::new([TermStart { term: term(1), start: 1 }]);
    let held = Held { history: "h".into(), terms, sequence, complete: true, ..Held::default() };
    Report {
        instance: Instance(1),
        serial: 1,
        round: 0,
        epoch: EPOCH,
        last: None,
        volume: String::new(),
        roster: None,
        application: Application::Stopped,
        data: Data::Held(held),
        recorded: Vec::new(),
        recorded_at: None,
        covered: false,
        evacuated: false,
        reserved: false,
    }
}

fn empty() -> Report {
    Report { data: Data::Held(Held { empty: true, ..Held::default() }), ..stopped(0) }
}

fn runs(role: Role, sequence: u64) -> Report {
    let running = Running {
        role,
        activity: Activity::Serving,
        view: None,
        term: Some(term(1)),
        roster: Some(Stamp::new(EPOCH, 1)),
        synced: true,
        progress: 0,
    };
    Report { application: Application::Running(running), ..stopped(sequence) }
}

fn busy(activity: Activity, report: Report) -> Report {
    change_running(report, |running| running.activity = activity)
}

fn change_running(mut report: Report, change: impl FnOnce(&mut Running)) -> Report {
    if let Application::Running(running) = &mut report.application {
        change(running);
    }
    report
}

fn change_held(mut report: Report, change: impl FnOnce(&mut Held)) -> Report {
    if let Data::Held(held) = &mut report.data {
        change(held);
    }
    report
}

fn roster(names: &[&str]) -> Roster {
    let entry = |(id, name): (u32, &&str)| Entry {
        member: (*name).to_owned(),
        id,
        volume: (*name).to_owned(),
        voter: true,
    };
    let entries = (1..).zip(names).map(entry).collect();
    Roster { entries, next_id: 99, ..Roster::forming(Stamp::new(EPOCH, 1), A0, A0) }
}

/// What a manager knows that heard these members in the present round.
fn observed(roster: Option<&Roster>, reports: Vec<(&str, Report)>) -> Observed {
    let mut observed = Observed::new(EPOCH);
    for (name, report) in reports {
        let report = Report { roster: roster.cloned(), ..report };
        tell(&mut observed, name, report);
    }
    ask_again(&mut observed);
    observed
}

fn tell(observed: &mut Observed, name: &str, mut report: Report) {
    let old = observed.members.get(name).and_then(|seen| seen.report.as_ref());
    report.serial = old.map_or(1, |old| old.serial + 1);
    report.roster = report.roster.or_else(|| old?.roster.clone());
    report.round = observed.round;
    if report.volume.is_empty() {
        name.clone_into(&mut report.volume);
    }
    observed.take_report(name, report, at(0));
}

fn ask_again(observed: &mut Observed) {
    let connected = observed.members.iter().filter(|(_, seen)| seen.connected);
    let heard: Vec<(String, Report)> =
        connected.filter_map(|(name, seen)| Some((name.clone(), seen.report.clone()?))).collect();
    for (name, report) in heard {
        tell(observed, &name, report);
    }
}

fn proof(member: &str, kind: FenceKind) -> Proof {
    Proof { member: member.into(), kind, instance: None, evidence: "seen".into() }
}

fn condition(status: &ReplicatedClusterStatus, kind: ConditionType) -> &Condition {
    conditions::get(&status.conditions, kind).unwrap()
}

/// `True/AsDesired`
fn said(status: &ReplicatedClusterStatus, kind: ConditionType) -> String {
    let condition = condition(status, kind);
    format!("{}/{}", condition.status, condition.reason)
}

fn message(status: &ReplicatedClusterStatus, kind: ConditionType) -> &str {
    &condition(status, kind).message
}
