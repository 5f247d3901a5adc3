//! Whether this process may act, and under which epoch: asked before every write and command.
//!
//! What works under an epoch ([`Work`]) and what it sends ([`Act`]) is counted, so that nobody else begins before all of it
//! has ended: the Lease is given back, or taken anew, when nothing is at work, and given back only if every answer came.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::time::Instant;

use super::epoch::{Epoch, is_believable};
use crate::clock::SharedClock;

/// The right to act, as of the moment of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mandate {
    /// What commands carry.
    pub epoch: Epoch,
    /// When it ends unless it is renewed; a call that begins under it is given up at that time.
    pub until: Instant,
}

/// Why this process may not act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLeader {
    /// It never was leader, or another one is.
    #[error("this operator does not lead; the one that holds the Lease does this work")]
    Follower,
    /// The API server was out of reach, or this process stood still.
    #[error("the Lease was not renewed in time; work goes on when it is taken again")]
    Lapsed,
    /// An agent follows a later epoch.
    #[error(
        "an agent follows epoch {seen}, which is later than ours; work goes on when the Lease carries a higher one"
    )]
    Outranked {
        /// The epoch that the agent follows.
        seen: Epoch,
    },
    /// It is about to end, and begins nothing any more.
    #[error("this operator is stopping; the next leader does this work")]
    Stopping,
    /// Its mandate is a new one, and what was decided under the old one is void.
    #[error("this was begun under epoch {asked}, and epoch {now} has begun since; it is decided anew")]
    OtherEpoch {
        /// Under which it was begun.
        asked: Epoch,
        /// Under which this operator leads.
        now: Epoch,
    },
}

/// What the holder of the Lease may do. Cloning gives another handle to the same.
#[derive(Clone)]
pub struct Authority(Arc<Shared>);

struct Shared {
    clock: SharedClock,
    /// How long a renewal lasts.
    deadline: Duration,
    standing: Mutex<Standing>,
    epochs: watch::Sender<Option<Epoch>>,
    at_work: watch::Sender<usize>,
    outranked: watch::Sender<Option<Epoch>>,
    /// Whether no work is begun any more.
    closed: AtomicBool,
    /// When something that was sent was last given up without an answer.
    unanswered: Mutex<Option<Instant>>,
}

/// Where this process stands.
#[derive(Clone, Copy, Debug)]
enum Standing {
    Leader { epoch: Epoch, sent: Sent },
    Not(NotLeader),
}

/// The moment before a request was sent, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Instant,
    pub(super) wall: Timestamp,
}

impl Sent {
    pub(super) fn now(clock: &SharedClock) -> Self {
        Self { at: Instant::now(), wall: clock.now() }
    }

    /// When the mandate that this request renewed ends; none if it has ended. The monotonic clock stands still while a
    /// machine sleeps, so the time of day may end it too; it never lengthens it.
    pub(super) fn lasts_until(self, deadline: Duration, clock: &SharedClock) -> Option<Instant> {
        let until = self.at + deadline;
        let passed = clock.now().duration_since(self.wall);
        let awake = SignedDuration::try_from(deadline).is_ok_and(|deadline| passed < deadline);
        (Instant::now() < until && awake).then_some(until)
    }
}

impl Authority {
    pub(super) fn new(clock: SharedClock, deadline: Duration) -> Self {
        let standing = Mutex::new(Standing::Not(NotLeader::Follower));
        let (epochs, at_work, outranked) =
            (watch::Sender::default(), watch::Sender::default(), watch::Sender::default());
        let (closed, unanswered) = (AtomicBool::new(false), Mutex::new(None));
        Self(Arc::new(Shared { clock, deadline, standing, epochs, at_work, outranked, closed, unanswered }))
    }

    /// The authority of one that nobody contests, for tests of what works under one. `outranked` ends it.
    pub fn uncontested(epoch: Epoch, clock: SharedClock) -> Self {
        /// Longer than any test, in its own time: 100 years.
        const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
        let authority = Self::new(clock, FOR_EVER);
        authority.lead(epoch, Sent::now(&authority.0.clock));
        authority
    }

    /// Whether this process may act now. To be asked before each write and each command.
    pub fn now(&self) -> Result<Mandate, NotLeader> {
        self.0.mandate(*self.0.standing())
    }

    /// The same for what was begun under this epoch.
    pub fn still(&self, epoch: Epoch) -> Result<Mandate, NotLeader> {
        self.now().and_then(|mandate| of_epoch(mandate, epoch))
    }

    /// The epoch under which managers run; none while they must not. It may go from one to another without a none between
    /// that a slow reader sees: what was begun under another epoch ends.
    pub fn epochs(&self) -> watch::Receiver<Option<Epoch>> {
        self.0.epochs.subscribe()
    }

    /// Notes that something works under this epoch. The Lease is neither released nor taken anew until it is dropped.
    pub fn begin(&self, epoch: Epoch) -> Result<Work, NotLeader> {
        if self.0.closed.load(Ordering::Acquire) {
            return Err(NotLeader::Stopping);
        }
        self.start(|mandate| of_epoch(mandate, epoch)).map(|(work, _)| work)
    }

    /// Notes that something is sent now, by work that was begun before. To be asked last before it is sent.
    pub fn act(&self) -> Result<Act, NotLeader> {
        let (work, mandate) = self.start(Ok)?;
        Ok(Act { work, until: mandate.until, answered: false })
    }

    /// The same for what was begun under this epoch.
    pub fn act_under(&self, epoch: Epoch) -> Result<Act, NotLeader> {
        let (work, mandate) = self.start(|mandate| of_epoch(mandate, epoch))?;
        Ok(Act { work, until: mandate.until, answered: false })
    }

    fn start(
        &self,
        check: impl FnOnce(Mandate) -> Result<Mandate, NotLeader>,
    ) -> Result<(Work, Mandate), NotLeader> {
        // Under the lock: who steps down sees all that has begun, and nothing begins after that.
        let standing = self.0.standing();
        let mandate = self.0.mandate(*standing).and_then(check)?;
        self.0.at_work.send_modify(|count| *count += 1);
        drop(standing);
        Ok((Work { shared: self.0.clone(), epoch: mandate.epoch }, mandate))
    }

    /// No work is begun any more: this process ends. What has begun may be finished.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
    }

    /// Whether something was given up without an answer, and may so take effect yet, within this time.
    pub(super) fn is_unsure(&self, within: Duration) -> bool {
        let last = *self.0.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|at| at.elapsed() < within)
    }

    /// An agent refused us as old: it follows this epoch. At once nothing may be done any more; the elector then reads the
    /// Lease and steps down, or takes it under a higher epoch. An epoch that is not above ours, or that no leader can
    /// have, changes nothing.
    pub fn outranked(&self, seen: Epoch) {
        let mut standing = self.0.standing();
        let Standing::Leader { epoch, .. } = *standing else { return };
        if seen <= epoch {
            return;
        }
        if !is_believable(seen, epoch, self.0.clock.now()) {
            tracing::warn!(
                seen,
                epoch,
                "an agent follows an epoch that no leader can have; it is not followed"
            );
            return;
        }
        *standing = Standing::Not(NotLeader::Outranked { seen });
        self.0.epochs.send_replace(None);
        self.0.outranked.send_replace(Some(seen));
    }

    /// The Lease is ours since this was sent.
    pub(super) fn lead(&self, epoch: Epoch, sent: Sent) {
        let mut standing = self.0.standing();
        *standing = Standing::Leader { epoch, sent };
        self.0.outranked.send_replace(None);
        self.0.epochs.send_replace(Some(epoch));
    }

    /// The Lease was renewed by what was sent then. It does not bring back what has ended.
    pub(super) fn renew(&self, epoch: Epoch, sent: Sent) {
        let mut standing = self.0.standing();
        let ours = self.0.mandate(*standing).is_ok_and(|mandate| mandate.epoch == epoch);
        if ours {
            *standing = Standing::Leader { epoch, sent };
        }
    }

    /// Nothing may be done any more.
    pub(super) fn step_down(&self, why: NotLeader) {
        let mut standing = self.0.standing();
        *standing = Standing::Not(why);
        self.0.epochs.send_replace(None);
    }

    /// Waits until an agent outranks us.
    pub(super) async fn until_outranked(&self) -> Epoch {
        let mut outranked = self.0.outranked.subscribe();
        let seen = outranked.wait_for(Option::is_some).await.map(|seen| *seen);
        // The sender lives as long as this handle.
        seen.ok().flatten().unwrap_or_default()
    }

    /// Waits until nothing is at work.
    pub async fn until_idle(&self) {
        let mut at_work = self.0.at_work.subscribe();
        let _ = at_work.wait_for(|count| *count == 0).await;
    }
}

impl Shared {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mandate(&self, standing: Standing) -> Result<Mandate, NotLeader> {
        match standing {
            Standing::Leader { epoch, sent } => {
                let until = sent.lasts_until(self.deadline, &self.clock).ok_or(NotLeader::Lapsed)?;
                Ok(Mandate { epoch, until })
            }
            Standing::Not(why) => Err(why),
        }
    }
}

fn of_epoch(mandate: Mandate, asked: Epoch) -> Result<Mandate, NotLeader> {
    let now = mandate.epoch;
    if now == asked { Ok(mandate) } else { Err(NotLeader::OtherEpoch { asked, now }) }
}

/// Something that works under an epoch; it has ended when this is dropped.
pub struct Work {
    shared: Arc<Shared>,
    epoch: Epoch,
}

impl Work {
    /// Under which it works.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.shared.at_work.send_modify(|count| *count -= 1);
    }
}

/// A write or a command that is under way. Dropped before it was [answered](Self::answered), for whatever reason, it may take
/// effect yet.
pub struct Act {
    work: Work,
    until: Instant,
    answered: bool,
}

impl Act {
    /// When the mandate ends under which it was sent: it is given up then.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// It is known what became of it.
    pub fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Act {
    fn drop(&mut self) {
        if !self.answered {
            let mut last = self.work.shared.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, RuntimeClock};
    use futures::FutureExt;

    const DEADLINE: Duration = Duration::from_secs(10);

    fn leading(clock: impl Clock + 'static) -> Authority {
        let authority = Authority::new(Arc::new(clock), DEADLINE);
        authority.lead(7, Sent::now(&authority.0.clock));
        authority
    }

    fn clock() -> RuntimeClock {
        RuntimeClock::starting_at(Timestamp::from_second(1_000).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_mandate_ends_by_itself_and_a_late_renewal_does_not_bring_it_back() {
        let authority = leading(clock());
        let until = Instant::now() + DEADLINE;
        tokio::time::advance(Duration::from_millis(9_999)).await;
        assert_eq!(authority.now(), Ok(Mandate { epoch: 7, until }));
        assert_eq!(authority.still(6), Err(NotLeader::OtherEpoch { asked: 6, now: 7 }));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(authority.now(), Err(NotLeader::Lapsed));
        authority.renew(7, Sent::now(&authority.0.clock));
        assert_eq!(authority.now(), Err(NotLeader::Lapsed));
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_slept_wakes_without_a_mandate() {
        struct Slept(RuntimeClock, Mutex<i64>);
        impl Clock for Slept {
            fn now(&self) -> Timestamp {
                self.0.now() + SignedDuration::from_secs(*self.1.lock().unwrap())
            }
        }
        let clock = Arc::new(Slept(clock(), Mutex::new(0)));
        let authority = Authority::new(clock.clone(), DEADLINE);
        authority.lead(7, Sent::now(&authority.0.clock));
        *clock.1.lock().unwrap() = -3_600;
        assert!(authority.now().is_ok(), "a clock that was set back changes nothing");
        *clock.1.lock().unwrap() = 10;
        assert_eq!(authority.now(), Err(NotLeader::Lapsed));
    }

    #[tokio::test(start_paused = true)]
    async fn outranked_ends_it_at_once_unless_the_epoch_is_old_or_absurd() {
        let authority = leading(clock());
        for seen in [0, 7, 1_000 + super::super::MAX_EPOCH_LEAD + 1, u64::MAX] {
            authority.outranked(seen);
            assert!(authority.now().is_ok() && authority.until_outranked().now_or_never().is_none());
        }
        authority.outranked(8);
        authority.outranked(9);
        assert_eq!(authority.now(), Err(NotLeader::Outranked { seen: 8 }));
        assert_eq!(
            (*authority.epochs().borrow(), authority.until_outranked().now_or_never()),
            (None, Some(8))
        );
        authority.lead(9, Sent::now(&authority.0.clock));
        assert!(
            authority.until_outranked().now_or_never().is_none(),
            "it is forgotten with the next mandate"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_counted_and_begins_under_a_mandate_only() {
        let authority = leading(clock());
        assert_eq!(authority.begin(6).err(), Some(NotLeader::OtherEpoch { asked: 6, now: 7 }));
        let (one, other) = (authority.begin(7).unwrap(), authority.begin(7).unwrap());
        authority.step_down(NotLeader::Follower);
        assert_eq!(authority.begin(7).err(), Some(NotLeader::Follower));
        drop(one);
        assert!(authority.until_idle().now_or_never().is_none());
        drop(other);
        assert!(authority.until_idle().now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_sent_counts_as_work_and_is_known_to_have_been_answered_or_not() {
        let authority = leading(clock());
        let act = authority.act().unwrap();
        assert_eq!(act.until(), Instant::now() + DEADLINE);
        assert!(authority.until_idle().now_or_never().is_none());
        act.answered();
        assert!(authority.until_idle().now_or_never().is_some() && !authority.is_unsure(DEADLINE));
        assert_eq!(authority.act_under(6).err(), Some(NotLeader::OtherEpoch { asked: 6, now: 7 }));
        drop(authority.act_under(7).unwrap());
        assert!(authority.is_unsure(DEADLINE));
        tokio::time::advance(DEADLINE).await;
        assert!(!authority.is_unsure(DEADLINE), "it has taken effect by now, or never will");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_stops_begins_nothing_and_may_finish_what_it_began() {
        let authority = leading(clock());
        let _begun = authority.begin(7).unwrap();
        authority.close();
        assert_eq!(authority.begin(7).err(), Some(NotLeader::Stopping));
        authority.act().unwrap().answered();
        authority.step_down(NotLeader::Follower);
        assert_eq!(authority.act().err(), Some(NotLeader::Follower));
    }
}
