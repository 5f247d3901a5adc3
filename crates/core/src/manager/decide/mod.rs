//! The manager's decision: five rules, the first that applies.
//!
//! [`decide`] is a pure function of what was observed. It never waits and never remembers: whoever calls it carries
//! out what it says, feeds back what happened, and asks again.

mod fail_over;
mod form;
mod join;
mod leave;
mod orphans;
mod park;
mod recover;
mod replace;
mod reserve;
mod scene;
mod self_electing;
mod split_brain;
mod unanswered;
mod upkeep;

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};

use self::scene::Scene;
pub(super) use self::split_brain::{are_apart, is_split, undisputed};
use super::command::Action;
use super::election::{Obstacle, Winner};
use super::observed::Observed;
use super::report::Instance;
use super::roster::{Change, Entry, Roster};
use super::wanted::{Mark, Wanted};

/// How long a command may stay unanswered before the manager stops waiting for it.
pub const ANSWER_LIMIT: SignedDuration = SignedDuration::from_secs(30);
/// How long two views, or too many primaries, must be seen before they are more than a change of hands.
pub const SPLIT_LIMIT: SignedDuration = SignedDuration::from_secs(5);

/// Which rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An agent follows a later leader: this one has nothing to say any more.
    Outranked,
    /// All pools are at 0.
    Park,
    /// Rule 1: two views, or more primaries than wanted.
    SplitBrain,
    /// Rule 2: a primary serves, the others join it.
    Join,
    /// A primary runs and does not serve yet.
    Starting,
    /// Rule 3: some applications run, none is primary.
    FailOver,
    /// Rule 4: no application runs, data exists.
    Recover,
    /// Rule 5: nothing was ever there.
    Form,
}

/// A command to send now, with the newest roster if it carries one ([`Action::carries_roster`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// To whom.
    pub member: String,
    /// To which run of its agent.
    pub instance: Instance,
    /// What to do.
    pub action: Action,
}

/// Something to do that is not a command to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Write this mark on every claim of the cluster that has none.
    MarkFormed(Mark),
    /// This member has left, or never took part: its Pod may go.
    Release(String),
    /// Its Pod is outdated and its application is stopped: the Pod may be deleted, for a new one to take its place.
    Replace(String),
    /// Every application is stopped: the `StatefulSet`s may go to 0.
    Parked,
    /// Tell people that this member was elected although these voters were not read.
    WarnOfLoss(Winner),
    /// What the person asked for is done, or cannot be done (any more), for this reason.
    RequestEnded(Result<(), String>),
    /// The engine's `leave` failed on this member: it stays, and is asked again later.
    LeaveFailed(String),
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rule that applies.
    pub rule: Rule,
    /// Commands to send.
    pub orders: Vec<Order>,
    /// A roster to make, before any of the orders is sent.
    pub roster: Option<Change>,
    /// Other things to do.
    pub effects: Vec<Effect>,
    /// Whether every agent is to be asked for a report, and every proof to be looked at again, in this round.
    pub ask: bool,
    /// What someone has to do first.
    pub blocked: Option<Obstacle>,
    /// No seed could be started: the next try is at that time.
    pub no_seed: Option<Timestamp>,
    /// Members whose answers are awaited.
    pub waiting: Vec<String>,
    /// Decide again at this time even if nothing happens.
    pub wake: Option<Timestamp>,
}

impl Decision {
    fn new(rule: Rule) -> Self {
        Self {
            rule,
            orders: Vec::new(),
            roster: None,
            effects: Vec::new(),
            ask: false,
            blocked: None,
            no_seed: None,
            waiting: Vec::new(),
            wake: None,
        }
    }

    fn order(&mut self, scene: &Scene<'_>, member: &str, action: Action) {
        if self.orders.iter().any(|order| order.member == member) {
            return;
        }
        let heard = if action == Action::Stop { scene.stoppable(member) } else { scene.commandable(member) };
        if let Some(seen) = scene.observed.members.get(member)
            && scene.now < seen.rests_until()
        {
            self.wake_at(seen.rests_until());
        }
        if let Some(report) = heard {
            self.orders.push(Order { member: member.to_owned(), instance: report.instance, action });
        }
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }
}

/// What the manager does now.
pub fn decide(observed: &Observed, wanted: &Wanted, now: Timestamp) -> Decision {
    let scene = Scene::new(observed, wanted, now);
    if observed.outranked() {
        return Decision::new(Rule::Outranked);
    }
    if let Some(why) = observed.void_mandate(now) {
        let rest = Observed { directive: None, mandate: None, ..observed.clone() };
        let mut decision = decide(&rest, wanted, now);
        decision.effects.push(Effect::RequestEnded(Err(why)));
        return decision;
    }
    let mut decision = rules(&scene);
    replace::where_nothing_serves(&scene, &mut decision);
    if let Some(mandate) = &observed.mandate {
        decision.wake_at(mandate.until);
    }
    reserve::reserve(&scene, &mut decision);
    unanswered::settle(&scene, &mut decision);
    unanswered::stop_stalled(&scene, &mut decision);
    decision
}

fn rules(scene: &Scene<'_>) -> Decision {
    if scene.wanted.parked {
        return park::park(scene);
    }
    if let Some(decision) = split_brain::mend(scene) {
        return decision;
    }
    if scene.wanted.engine.elects {
        return self_electing::keep(scene);
    }
    if let Some(primary) = scene.serving() {
        return join::tend(scene, primary);
    }
    let unready: Vec<String> = scene.primaries_that_run().map(str::to_owned).collect();
    if !unready.is_empty() {
        let mut decision = Decision { waiting: unready, ..Decision::new(Rule::Starting) };
        orphans::stop(scene, &mut decision);
        return decision;
    }
    if scene.observed.running().next().is_some() {
        return fail_over::fail_over(scene);
    }
    if scene.data_exists() { recover::recover(scene) } else { form::form(scene) }
}

/// The roster that a person's word starts anew: this member alone, whatever the others hold.
fn roster_of_one(roster: Option<&Roster>, member: &str, volume: &str) -> Change {
    let next_id = roster.map_or(1, |roster| roster.next_id);
    let id = roster.and_then(|roster| roster.entry(member)).map_or(next_id, |entry| entry.id);
    let lineage = roster.map_or(volume, |roster| roster.lineage.as_str()).to_owned();
    let entry = Entry { member: member.to_owned(), id, volume: volume.to_owned(), voter: true };
    Change { lineage, entries: vec![entry], before: None, next_id: next_id.max(id + 1) }
}
