//! What goes wrong, and with which write or command of the operator: the one that a test plans, or any by chance.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::{EventFault, Fault, Faults, Seen};
use muster_apiserver::watch::{Event, EventKind};
use muster_test_agents as agents;
use rand::Rng;
use rand::rngs::StdRng;

use super::fight::Writers;
use super::oracle::Oracle;
use super::wire::Wire;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A write is refused for now.
    Error,
    /// Someone else changed the object first.
    Conflict,
    /// A write takes effect, and its answer is lost.
    AnswerLost,
    /// The operator dies before a write takes effect.
    CrashBefore,
    /// The operator dies after a write took effect.
    CrashAfter,
    /// What is read next is of the past: by name, and where watches begin anew.
    StaleRead,
    /// The next event is not told; some time later everything is listed anew.
    MissedEvent,
    /// The next events are told late.
    LateEvents,
    /// All watches end, and everything is listed anew.
    Relist,
    /// A command arrives when nobody waits for its answer any more.
    CommandLate,
    /// A command arrives twice.
    CommandRepeated,
    /// A command never arrives, and nobody can know.
    CommandLost,
    /// A command is obeyed, and its answer is lost.
    CommandAnswerLost,
    /// The agent restarts before a command arrives.
    RestartBefore,
    /// The agent obeys a command and restarts before it answers.
    RestartAfter,
    /// The operator dies before it sends a command.
    CrashBeforeCommand,
    /// The operator dies after it sent a command.
    CrashAfterCommand,
}

impl Trouble {
    /// What goes wrong with a write.
    pub(crate) const WRITES: [Self; 9] = [
        Self::Error,
        Self::Conflict,
        Self::AnswerLost,
        Self::CrashBefore,
        Self::CrashAfter,
        Self::StaleRead,
        Self::MissedEvent,
        Self::LateEvents,
        Self::Relist,
    ];
    /// What goes wrong with a command.
    pub(crate) const COMMANDS: [Self; 8] = [
        Self::CommandLate,
        Self::CommandRepeated,
        Self::CommandLost,
        Self::CommandAnswerLost,
        Self::RestartBefore,
        Self::RestartAfter,
        Self::CrashBeforeCommand,
        Self::CrashAfterCommand,
    ];
}

/// How late what is late comes: before anyone gives up waiting for it.
const LATE: Duration = Duration::from_secs(2);
/// How late a command is: after everyone has given up waiting for its answer.
const VERY_LATE: Duration = Duration::from_secs(40);
/// How many events are late.
const LATE_EVENTS: usize = 3;
/// How many changes ago a stale answer is of.
const STALE: u64 = 6;

/// How often what goes wrong while there is a storm, of a thousand each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) writes: u32,
    pub(crate) reads: u32,
    pub(crate) events: u32,
    pub(crate) commands: u32,
    pub(crate) crashes: u32,
}

/// What goes wrong with operators. Cloning gives another handle to the same.
#[derive(Clone, Default)]
pub(crate) struct Troubles(Arc<Mutex<Plan>>);

#[derive(Default)]
struct Plan {
    /// Whether the operator's doings are counted.
    counts: bool,
    writes: usize,
    commands: usize,
    planned: Option<(usize, Trouble)>,
    /// What goes wrong with the first such write, by verb and resource.
    first: Option<(&'static str, &'static str, Trouble)>,
    storm: Option<(StdRng, Rates)>,
    /// The wires of the operator that runs.
    wire: Option<Arc<Wire>>,
    late_events: usize,
    misses_event: bool,
    /// The watches that ended already, while all have to.
    relisted: Option<BTreeSet<u64>>,
    late_reads: bool,
    stale_reads: usize,
    /// Who has to know when a machine is hurt.
    oracle: Option<Oracle>,
    log: Vec<String>,
    /// Who wants to know who writes a status.
    writers: Option<Writers>,
}

impl Troubles {
    /// None yet; this oracle hears of machines that are hurt.
    pub(crate) fn watched_by(oracle: &Oracle) -> Self {
        Self(Arc::new(Mutex::new(Plan { oracle: Some(oracle.clone()), ..Plan::default() })))
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap()
    }

    /// The operator that runs now has these wires.
    pub(crate) fn connect(&self, wire: &Arc<Wire>) {
        self.plan().wire = Some(wire.clone());
    }

    /// Who wants to know who writes a status.
    pub(crate) fn report_to(&self, writers: &Writers) {
        self.plan().writers = Some(writers.clone());
    }

    /// From now on writes and commands count, and the one of this number goes wrong.
    pub(crate) fn arm(&self, planned: Option<(usize, Trouble)>) {
        let mut plan = self.plan();
        (plan.counts, plan.writes, plan.commands, plan.planned) = (true, 0, 0, planned);
    }

    /// From now on writes count, and the first with this verb to this resource goes wrong.
    pub(crate) fn arm_first(&self, verb: &'static str, resource: &'static str, trouble: Trouble) {
        self.arm(None);
        self.plan().first = Some((verb, resource, trouble));
    }

    /// From now on things go wrong by chance.
    pub(crate) fn rage(&self, chance: StdRng, rates: Rates) {
        self.plan().storm = Some((chance, rates));
    }

    /// From now on nothing goes wrong.
    pub(crate) fn end(&self) {
        let mut plan = self.plan();
        (plan.storm, plan.planned, plan.relisted, plan.counts) = (None, None, None, false);
        (plan.late_events, plan.stale_reads, plan.misses_event, plan.late_reads) = (0, 0, false, false);
    }

    /// How many writes and commands there were.
    pub(crate) fn counted(&self) -> (usize, usize) {
        let plan = self.plan();
        (plan.writes, plan.commands)
    }

    /// What was written and commanded since it counts.
    pub(crate) fn log(&self) -> Vec<String> {
        self.plan().log.clone()
    }
}

impl Plan {
    /// What goes wrong with this write or command.
    fn draw(&mut self, number: usize, among: &[Trouble]) -> Option<Trouble> {
        if let Some((_, trouble)) =
            self.planned.take_if(|(at, trouble)| *at == number && among.contains(trouble))
        {
            return Some(trouble);
        }
        let commands = among == Trouble::COMMANDS;
        let (chance, rates) = self.storm.as_mut()?;
        let rate = if commands { rates.commands } else { rates.writes };
        if chance.random_range(0..1000) >= rate {
            return None;
        }
        let trouble = among[chance.random_range(0..among.len())];
        let crashes = format!("{trouble:?}").starts_with("Crash");
        (!crashes || chance.random_range(0..1000) < rates.crashes).then_some(trouble)
    }

    fn hurt(&self) {
        self.oracle.iter().for_each(Oracle::hurt);
    }

    fn die(&mut self) {
        if let Some(wire) = self.wire.take() {
            wire.die();
        }
    }

    fn write(&mut self, seen: &Seen) -> Fault {
        let first =
            self.first.take_if(|(verb, resource, _)| *verb == seen.verb && *resource == seen.resource);
        let first = first.map(|(_, _, trouble)| trouble);
        let trouble = first.or_else(|| self.draw(self.writes, &Trouble::WRITES));
        let (name, part) = (seen.name.as_deref().unwrap_or_default(), seen.subresource.as_deref());
        let number = self.writes;
        self.log.push(format!("write {number}: {} {} {name} {part:?} {trouble:?}", seen.verb, seen.resource));
        match trouble {
            None => return Fault::None,
            Some(Trouble::Error) => {
                return Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order"));
            }
            Some(Trouble::Conflict) => return Fault::Conflict,
            Some(Trouble::AnswerLost) => return Fault::LostAfter,
            Some(Trouble::CrashBefore) => {
                self.die();
                return Fault::LostBefore;
            }
            Some(Trouble::CrashAfter) => self.die(),
            Some(Trouble::StaleRead) => {
                self.stale_reads = 2;
                self.relisted = Some(BTreeSet::new());
            }
            Some(Trouble::MissedEvent) => self.misses_event = true,
            Some(Trouble::LateEvents) => self.late_events = LATE_EVENTS,
            Some(_) => self.relisted = Some(BTreeSet::new()),
        }
        if trouble != Some(Trouble::CrashAfter) {
            // What machines do meanwhile is told late, as if they were hurt.
            self.hurt();
        }
        Fault::None
    }

    fn read(&mut self) -> Fault {
        if std::mem::replace(&mut self.late_reads, false) {
            return Fault::Delay(LATE);
        }
        if self.stale_reads > 0 {
            self.stale_reads -= 1;
            return self.stale();
        }
        let stale = self.stale();
        let Some((chance, rates)) = &mut self.storm else { return Fault::None };
        if chance.random_range(0..1000) >= rates.reads {
            return Fault::None;
        }
        match chance.random_range(0..4) {
            0 => Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order")),
            1 => Fault::LostBefore,
            2 => stale,
            _ => Fault::Delay(Duration::from_millis(chance.random_range(1..3_000))),
        }
    }

    /// What was so some changes ago; what was before this world began, nobody remembers.
    fn stale(&self) -> Fault {
        Fault::Stale(self.oracle.as_ref().map_or(0, Oracle::changes).min(STALE))
    }

    fn event(&mut self, watch: u64) -> EventFault {
        if std::mem::replace(&mut self.misses_event, false) {
            self.late_reads = true;
            return EventFault::Expire;
        }
        if self.late_events > 0 {
            self.late_events -= 1;
            return EventFault::Delay(LATE);
        }
        if self.relisted.as_mut().is_some_and(|ended| ended.len() < WATCHES && ended.insert(watch)) {
            return EventFault::Expire;
        }
        let Some((chance, rates)) = &mut self.storm else { return EventFault::None };
        if chance.random_range(0..1000) >= rates.events {
            return EventFault::None;
        }
        match chance.random_range(0..4) {
            0 => EventFault::Delay(Duration::from_millis(chance.random_range(1..3_000))),
            1 => EventFault::End,
            2 => EventFault::Lost,
            _ => EventFault::Expire,
        }
    }

    fn command(&mut self, seen: &agents::Seen) -> agents::Fault {
        let trouble = self.draw(self.commands, &Trouble::COMMANDS);
        let number = self.commands;
        let what = seen.command().map(|command| (command.stamp, command.action.clone()));
        self.log.push(format!("command {number}: {} {what:?} {trouble:?}", seen.member));
        match trouble {
            None => agents::Fault::None,
            Some(Trouble::CommandLate) => agents::Fault::Late(VERY_LATE),
            Some(Trouble::CommandRepeated) => agents::Fault::Repeated(LATE),
            Some(Trouble::CommandLost) => agents::Fault::Lost,
            Some(Trouble::CommandAnswerLost) => agents::Fault::AnswerLost,
            Some(Trouble::RestartBefore) => {
                self.hurt();
                agents::Fault::RestartBefore
            }
            Some(Trouble::RestartAfter) => {
                self.hurt();
                agents::Fault::RestartAfter
            }
            Some(Trouble::CrashBeforeCommand) => {
                self.die();
                agents::Fault::Lost
            }
            Some(_) => {
                self.die();
                agents::Fault::None
            }
        }
    }
}

/// As many watches as an operator has, at most.
const WATCHES: usize = 16;

fn is_operator(seen: &Seen) -> bool {
    seen.user_agent.starts_with("operator")
}

impl Faults for Troubles {
    fn request(&self, seen: &Seen) -> Fault {
        // The Lease has tests of its own.
        if !is_operator(seen) || seen.resource.ends_with("leases") {
            return Fault::None;
        }
        if seen.resource.ends_with("events") {
            // They are news, and nothing depends on them: nobody pays for keeping them here.
            return Fault::Before(ApiError::new(Reason::Forbidden, "nobody listens"));
        }
        let mut plan = self.plan();
        if !seen.is_write() {
            return plan.read();
        }
        if let Some(writers) = plan.writers.as_ref().filter(|_| seen.subresource.as_deref() == Some("status"))
        {
            writers.writes(&seen.user_agent);
        }
        if plan.counts {
            plan.writes += 1;
        }
        plan.write(seen)
    }

    fn event(&self, watch: &Seen, event: &Event) -> EventFault {
        if !is_operator(watch) || event.kind == EventKind::Bookmark {
            return EventFault::None;
        }
        self.plan().event(watch.number)
    }
}

impl agents::Faults for Troubles {
    fn request(&self, seen: &agents::Seen) -> agents::Fault {
        if seen.instruction.is_none() {
            return agents::Fault::None;
        }
        let mut plan = self.plan();
        if plan.counts {
            plan.commands += 1;
        }
        plan.command(seen)
    }
}
