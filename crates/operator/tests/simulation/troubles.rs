//! What goes wrong, and with which write or command of the operator: the one that a test plans, or any by chance.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use muster_apiserver::error::{ApiError, Reason};
use muster_apiserver::server::faults::{EventFault, Fault, Faults, Seen};
use muster_apiserver::store::Change;
use muster_apiserver::watch::{Event, EventKind};
use muster_core::manager::command::Action;
use muster_test_agents as agents;
use rand::Rng;
use rand::rngs::StdRng;

use super::fight::Writers;
use super::oracle::Oracle;
use super::untold::Untold;
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
    /// What was written is never told. In a storm it may also be the event of anyone's write that is lost: nobody waits for what
    /// others do, so that is only made up for when everything is listed anew, which it is some time later.
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
    /// What goes wrong with a command, and with an epoch that is told.
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

/// What the operator does to others, each of which is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It writes an object.
    Write,
    /// It commands an agent.
    Command,
    /// It tells an agent its epoch.
    Epoch,
}

impl Deed {
    pub(crate) const ALL: [Self; 3] = [Self::Write, Self::Command, Self::Epoch];

    /// What can go wrong with it.
    pub(crate) const fn troubles(self) -> &'static [Trouble] {
        match self {
            Self::Write => &Trouble::WRITES,
            Self::Command | Self::Epoch => &Trouble::COMMANDS,
        }
    }
}

/// What is planned to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) deed: Deed,
    /// The how many-th such deed, from 1.
    pub(crate) number: usize,
    pub(crate) trouble: Trouble,
}

/// What became of what was planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Came {
    /// Nothing yet: it was not reached.
    #[default]
    Not,
    /// It was begun, and nobody has met it yet: nothing was read, or told, since.
    Begun,
    /// Somebody met it.
    Met,
}

/// How long a write that failed rests before it is tried again, with some room.
const TRIED_AGAIN: Duration = Duration::from_secs(2);
/// How late what is late comes: before anyone gives up waiting for it.
const LATE: Duration = Duration::from_secs(2);
/// How late a command is: after everyone has given up waiting for its answer.
const VERY_LATE: Duration = Duration::from_secs(40);
/// How much later than usual everything is known when events or reads are late: as late as one of them is, and the pause
/// before a watch is opened anew, with some room.
const KNOWN_LATE: Duration = LATE.saturating_mul(2);
/// How much later than usual everything is known when an event never comes: until what it was about is read.
const READ_LATE: Duration = Duration::from_secs(8);
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
    /// How many deeds of each kind there were.
    done: [usize; Deed::ALL.len()],
    planned: Option<Planned>,
    came: Came,
    /// What goes wrong with the first such write, by verb and resource.
    first: Option<(&'static str, &'static str, Trouble)>,
    storm: Option<(StdRng, Rates)>,
    /// The wires of the operator that runs.
    wire: Option<Arc<Wire>>,
    late_events: usize,
    misses_event: bool,
    untold: Option<Untold>,
    /// The watches that ended already, while all have to.
    relisted: Option<BTreeSet<u64>>,
    late_reads: usize,
    stale_reads: usize,
    /// Whether the status that met a conflict meets another one when it is swapped by what it was made from.
    conflicts_again: bool,
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

    /// From now on all deeds count, and the planned one goes wrong.
    pub(crate) fn arm(&self, planned: Option<Planned>) {
        let mut plan = self.plan();
        (plan.counts, plan.done, plan.planned, plan.came) = (true, [0; Deed::ALL.len()], planned, Came::Not);
    }

    /// What became of what was planned.
    pub(crate) fn came(&self) -> Came {
        self.plan().came
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
        (plan.storm, plan.planned, plan.relisted, plan.untold) = (None, None, None, None);
        (plan.late_events, plan.late_reads, plan.stale_reads, plan.misses_event) = (0, 0, 0, false);
        plan.counts = false;
    }

    pub(crate) fn see(&self, change: &Change) {
        self.plan().untold.iter_mut().for_each(|untold| untold.see(change));
    }

    /// How many deeds of this kind there were.
    pub(crate) fn counted(&self, deed: Deed) -> usize {
        self.plan().done[deed as usize]
    }

    /// What was written and commanded since it counts.
    pub(crate) fn log(&self) -> Vec<String> {
        self.plan().log.clone()
    }
}

impl Plan {
    /// Counts a deed, and says what goes wrong with it.
    fn draw(&mut self, deed: Deed) -> Option<Trouble> {
        let done = &mut self.done[deed as usize];
        *done += usize::from(self.counts);
        let number = *done;
        if let Some(planned) = self.planned.take_if(|it| it.deed == deed && it.number == number) {
            self.begin(planned.trouble);
            return Some(planned.trouble);
        }
        let (chance, rates) = self.storm.as_mut()?;
        let rate = if deed == Deed::Write { rates.writes } else { rates.commands };
        if chance.random_range(0..1000) >= rate {
            return None;
        }
        let among = deed.troubles();
        let trouble = among[chance.random_range(0..among.len())];
        let crashes = format!("{trouble:?}").starts_with("Crash");
        (!crashes || chance.random_range(0..1000) < rates.crashes).then_some(trouble)
    }

    /// What was planned begins. What is about later reads and events is met by them.
    fn begin(&mut self, trouble: Trouble) {
        let later = [Trouble::StaleRead, Trouble::MissedEvent, Trouble::LateEvents, Trouble::Relist];
        self.came = if later.contains(&trouble) { Came::Begun } else { Came::Met };
    }

    /// A read or an event met what was planned for it.
    fn meet(&mut self) {
        if self.came == Came::Begun {
            self.came = Came::Met;
        }
    }

    fn hurt(&self) {
        self.oracle.iter().for_each(Oracle::hurt);
    }

    /// What is stored is told late.
    fn tell_late(&self) {
        self.oracle.iter().for_each(|oracle| oracle.hurt_silently(KNOWN_LATE));
    }

    fn die(&mut self) {
        if let Some(wire) = self.wire.take() {
            wire.die();
        }
    }

    fn write(&mut self, seen: &Seen) -> Fault {
        let first =
            self.first.take_if(|(verb, resource, _)| *verb == seen.verb && *resource == seen.resource);
        let drawn = self.draw(Deed::Write);
        if let Some((_, _, trouble)) = first {
            self.begin(trouble);
        }
        let trouble = first.map(|(_, _, trouble)| trouble).or(drawn);
        let (name, part) = (seen.name.as_deref().unwrap_or_default(), seen.subresource.as_deref());
        let number = self.done[Deed::Write as usize];
        self.log.push(format!("write {number}: {} {} {name} {part:?} {trouble:?}", seen.verb, seen.resource));
        if trouble.is_some() {
            self.oracle.iter().for_each(|oracle| oracle.stun(TRIED_AGAIN));
        }
        let again = std::mem::take(&mut self.conflicts_again);
        match trouble {
            None if again && seen.verb == "patch" && part == Some("status") => return Fault::Conflict,
            None => return Fault::None,
            Some(Trouble::Error) => {
                return Fault::Before(ApiError::new(Reason::ServiceUnavailable, "out of order"));
            }
            Some(Trouble::Conflict) => {
                // Every other time it has to be read again.
                self.conflicts_again = number.is_multiple_of(2);
                return Fault::Conflict;
            }
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
            Some(Trouble::MissedEvent) if self.storm.is_none() || number.is_multiple_of(2) => {
                self.untold = Some(Untold::of(seen));
                self.oracle.iter().for_each(|oracle| oracle.hurt_silently(READ_LATE));
                return Fault::None;
            }
            Some(Trouble::MissedEvent) => self.misses_event = true,
            Some(Trouble::LateEvents) => self.late_events = LATE_EVENTS,
            Some(_) => self.relisted = Some(BTreeSet::new()),
        }
        if trouble != Some(Trouble::CrashAfter) {
            self.tell_late();
        }
        Fault::None
    }

    fn read(&mut self) -> Fault {
        if self.late_reads > 0 {
            self.late_reads -= 1;
            self.meet();
            return Fault::Delay(LATE);
        }
        if self.stale_reads > 0 {
            self.stale_reads -= 1;
            self.meet();
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

    fn event(&mut self, watch: &Seen, event: &Event) -> EventFault {
        if self.untold.take_if(|untold| untold.is(watch, event)).is_some() {
            self.meet();
            return EventFault::Drop;
        }
        if std::mem::replace(&mut self.misses_event, false) {
            self.late_reads = 1;
            return EventFault::Expire;
        }
        if self.late_events > 0 {
            self.late_events -= 1;
            self.meet();
            return EventFault::Delay(LATE);
        }
        if self.relisted.as_mut().is_some_and(|ended| ended.len() < WATCHES && ended.insert(watch.number)) {
            if self.stale_reads == 0 {
                self.meet();
            }
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

    fn command(&mut self, seen: &agents::Seen, deed: Deed) -> agents::Fault {
        let trouble = self.draw(deed);
        let number = self.done[deed as usize];
        let what = seen.command().map(|command| (command.stamp, command.action.clone()));
        self.log.push(format!("{deed:?} {number}: {} {what:?} {trouble:?}", seen.member));
        // It is sent, whatever becomes of it; unless its sender dies first.
        if let Some((_, action @ (Action::Stop | Action::Demote))) = what
            && let Some(oracle) =
                self.oracle.as_ref().filter(|_| trouble != Some(Trouble::CrashBeforeCommand))
        {
            oracle.told_to_end(&seen.member, action.word());
        }
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
        self.plan().untold.take_if(|untold| untold.is_under_way());
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
        plan.write(seen)
    }

    fn event(&self, watch: &Seen, event: &Event) -> EventFault {
        if !is_operator(watch) || event.kind == EventKind::Bookmark {
            return EventFault::None;
        }
        self.plan().event(watch, event)
    }
}

impl agents::Faults for Troubles {
    fn request(&self, seen: &agents::Seen) -> agents::Fault {
        let deed = match &seen.instruction {
            Some(_) => Deed::Command,
            None if seen.is_epoch() => Deed::Epoch,
            None => return agents::Fault::None,
        };
        self.plan().command(seen, deed)
    }
}
