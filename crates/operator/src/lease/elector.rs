//! The one task that takes, keeps and gives back the Lease.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use super::authority::{Authority, NotLeader, Sent};
use super::calls::{CallError, Calls};
use super::epoch::{self, Epoch};
use super::follow::{Memory, Step};
use super::options::{Options, STOP_TIMEOUT};
use super::record::{self, Sight};
use crate::clock::SharedClock;

/// How often a renewal that meets a conflict is tried again at once: labels of a Lease may change, but not all the time.
const CONFLICTS: usize = 3;
/// How long a leader that was outranked waits before it leads again, the first time; twice as long each further time. An
/// agent that keeps making up epochs, or an operator of the same clusters elsewhere, must not make everything restart all the time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// After that long without being outranked, the wait is short again.
const QUIET: Duration = Duration::from_secs(600);

/// Why the elector gave up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What worked under the last mandate does not end.
    #[error(
        "this operator does not lead any more, and some of its work did not end within {STOP_TIMEOUT:?}; \
         the process must be started anew"
    )]
    StillAtWork,
}

/// Takes the Lease, keeps it, and gives it back.
pub struct Elector {
    calls: Calls,
    options: Options,
    clock: SharedClock,
    authority: Authority,
    memory: Memory,
    /// The highest epoch that was seen anywhere.
    floor: Epoch,
    /// When the last mandate ends, if it was not another that ended it.
    led_until: Option<Instant>,
    pauses: Pauses,
    /// What was said last, so that it is said once.
    said: String,
}

/// The Lease while it is ours.
struct Held {
    sight: Sight,
    epoch: Epoch,
    sent: Sent,
}

/// Why leading ended.
enum Ended {
    Shutdown,
    Outranked(Epoch),
    Lapsed,
    Lost,
}

impl Elector {
    /// One who will want the Lease when it runs.
    pub fn new(client: kube::Client, options: Options, clock: SharedClock) -> Self {
        let calls = Calls::new(client, &options.namespace);
        let authority = Authority::new(clock.clone(), options.timing.deadline);
        let memory = Memory::new(options.identity.clone(), options.timing.duration);
        let pauses = Pauses::default();
        Self {
            calls,
            options,
            clock,
            authority,
            memory,
            floor: 0,
            led_until: None,
            pauses,
            said: String::new(),
        }
    }

    /// What others ask before they act.
    pub fn authority(&self) -> Authority {
        self.authority.clone()
    }

    /// Takes the Lease when it can be taken, keeps it as long as it can be kept, and so on until `shutdown`. Then nothing
    /// may be done any more, and when all work has ended the Lease is given back. Whoever wants to finish something under
    /// the mandate does so before `shutdown`.
    pub async fn run(mut self, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let Some(mut held) = self.follow(shutdown.as_mut()).await else { return Ok(()) };
            let ended = self.lead(&mut held, shutdown.as_mut()).await;
            let idle = self.wind_down(&ended, &mut held).await;
            if matches!(ended, Ended::Shutdown) {
                // Whatever may take effect yet does so before anyone else begins: then the Lease runs out by itself.
                if idle && self.authority.is_unsure(self.options.timing.duration) {
                    tracing::warn!(
                        epoch = held.epoch,
                        "the Lease is not given back: something that was sent was not answered"
                    );
                } else if idle {
                    self.release(held).await;
                }
                return Ok(());
            }
            if !idle {
                return Err(Error::StillAtWork);
            }
        }
    }

    /// Waits for the Lease and takes it; none if `shutdown` comes first.
    async fn follow(&mut self, mut shutdown: impl Future<Output = ()> + Unpin) -> Option<Held> {
        loop {
            let looked = Instant::now();
            let next = match self.look().await {
                Ok(Looked::Held(held)) => return Some(*held),
                Ok(Looked::Again(at)) => at.min(looked + self.options.timing.period),
                Err(error) => {
                    self.say(&error);
                    looked + self.options.timing.period
                }
            };
            tokio::select! {
                biased;
                () = &mut shutdown => return None,
                () = sleep_until(next) => {}
            }
        }
    }

    /// One look at the Lease, and what it asks for.
    async fn look(&mut self) -> Result<Looked, CallError> {
        let seen = self.calls.read().await?;
        self.note_epoch(seen.as_ref());
        let step = self.memory.judge(seen.as_ref());
        let now = Instant::now();
        match (step, seen) {
            (Step::Take, Some(sight)) => Ok(self.take(sight).await?.map_or(Looked::Again(now), Looked::Held)),
            (Step::Keep(from), Some(sight)) => {
                let kept = record::renewed(&sight.lease, self.clock.now());
                self.calls.swap(&kept, self.options.timing.period).await?;
                Ok(Looked::Again(from))
            }
            (Step::Wait(until), Some(sight)) => {
                self.say(&format_args!(
                    "the Lease is held by {:?}; this operator waits",
                    sight.holder().unwrap_or_default()
                ));
                Ok(Looked::Again(until))
            }
            _ => {
                self.create().await?;
                Ok(Looked::Again(now))
            }
        }
    }

    /// Creates the Lease for us; it is taken when nobody can lead under one that was there before.
    async fn create(&mut self) -> Result<(), CallError> {
        let epoch = epoch::next(self.floor, self.clock.now());
        let lease = record::created(&self.options, epoch, self.clock.now());
        let sight = self.calls.create(&lease).await?;
        let leads_yet = self.led_until.is_some_and(|until| sight.at < until);
        let at_once = leads_yet || self.options.new_store;
        let from = if at_once { sight.at } else { sight.at + self.options.timing.duration };
        self.memory.claim(&sight, from);
        tracing::info!(namespace = self.options.namespace, at_once, "created the leader's Lease");
        Ok(())
    }

    /// Takes the Lease under a new epoch.
    async fn take(&mut self, found: Sight) -> Result<Option<Box<Held>>, CallError> {
        let epoch = epoch::next(self.floor, self.clock.now());
        let lease = record::taken(&found.lease, &self.options, epoch, self.clock.now());
        let sent = Sent::now(&self.clock);
        // Whatever the answer is: if this Lease names us from now on, it was right to take it.
        self.memory.claim(&found, sent.at);
        self.floor = self.floor.max(epoch);
        let sight = self.calls.swap(&lease, self.options.timing.deadline).await?;
        if sent.lasts_until(self.options.timing.deadline, &self.clock).is_none() {
            return Ok(None);
        }
        self.said.clear();
        tracing::info!(epoch, namespace = self.options.namespace, "took the leader's Lease");
        Ok(Some(Box::new(Held { sight, epoch, sent })))
    }

    /// Keeps the Lease until something ends it.
    async fn lead(&mut self, held: &mut Held, mut shutdown: impl Future<Output = ()> + Unpin) -> Ended {
        self.authority.lead(held.epoch, held.sent);
        let authority = self.authority.clone();
        let mut next = held.sent.at + self.options.timing.period;
        loop {
            let until = held.sent.at + self.options.timing.deadline;
            tokio::select! {
                biased;
                () = &mut shutdown => return Ended::Shutdown,
                seen = authority.until_outranked() => return Ended::Outranked(seen),
                () = sleep_until(next.min(until)) => {}
            }
            if authority.now() == Err(NotLeader::Lapsed) {
                return Ended::Lapsed;
            }
            next = Instant::now() + self.options.timing.period;
            match self.renew(held, until).await {
                Ok(true) => next = held.sent.at + self.options.timing.period,
                Ok(false) => return Ended::Lost,
                Err(error) => self.say(&error),
            }
        }
    }

    /// Renews the Lease; false if it is not ours any more. An error says that this is not known.
    async fn renew(&mut self, held: &mut Held, until: Instant) -> Result<bool, CallError> {
        let mut tries = 0;
        loop {
            let sent = Sent::now(&self.clock);
            let lease = record::renewed(&held.sight.lease, sent.wall);
            let error = match self.calls.swap(&lease, until.saturating_duration_since(sent.at)).await {
                Ok(sight) => {
                    (held.sight, held.sent) = (sight, sent);
                    self.authority.renew(held.epoch, sent);
                    self.said.clear();
                    return Ok(true);
                }
                Err(error @ CallError::TimedOut { .. }) => return Err(error),
                Err(error) => error,
            };
            // Someone else changed or deleted it, or we changed it and the answer was lost. The API server says of a Lease that is
            // gone that it cannot be created with a version, so no error but a read tells.
            match self.calls.read().await? {
                Some(sight) if self.is_as_held(&sight, held) => held.sight = sight,
                other => {
                    self.note_epoch(other.as_ref());
                    return Ok(false);
                }
            }
            tries += 1;
            if tries == CONFLICTS || !matches!(error, CallError::Conflict { .. }) {
                return Err(error);
            }
        }
    }

    /// Whether this is the Lease that we took, under the epoch under which we took it.
    fn is_as_held(&self, sight: &Sight, held: &Held) -> bool {
        let same_epoch = sight.epoch().and_then(|text| text.parse().ok()) == Some(held.epoch);
        sight.uid() == held.sight.uid() && sight.is_held_by(&self.options.identity) && same_epoch
    }

    /// Ends the mandate, and waits until all that worked under it has ended; false if it does not end. As long as the
    /// Lease is ours it is kept, so that nobody begins before we have ended.
    async fn wind_down(&mut self, ended: &Ended, held: &mut Held) -> bool {
        let period = self.options.timing.period;
        let mut from = Instant::now();
        let (why, mut keep) = match *ended {
            Ended::Shutdown => (NotLeader::Follower, true),
            Ended::Outranked(seen) => {
                self.floor = self.floor.max(seen);
                from += self.pauses.next(from);
                (NotLeader::Outranked { seen }, true)
            }
            Ended::Lapsed => (NotLeader::Lapsed, false),
            Ended::Lost => (NotLeader::Follower, false),
        };
        let until = held.sent.lasts_until(self.options.timing.deadline, &self.clock);
        self.led_until = until.filter(|_| matches!(ended, Ended::Lost | Ended::Outranked(_)));
        self.authority.step_down(why);
        self.memory.claim(&held.sight, from);
        tracing::warn!(epoch = held.epoch, %why, "this operator does not lead any more");
        let authority = self.authority.clone();
        let idle = async {
            let mut idle = std::pin::pin!(authority.until_idle());
            while timeout(period, idle.as_mut()).await.is_err() {
                keep = keep && self.renew(held, Instant::now() + period).await.unwrap_or(true);
            }
        };
        timeout(STOP_TIMEOUT, idle).await.is_ok()
    }

    /// Gives the Lease back. If that fails it runs out by itself.
    async fn release(&mut self, mut held: Held) {
        for _ in 0..CONFLICTS {
            let lease = record::released(&held.sight.lease, self.clock.now());
            match self.calls.swap(&lease, self.options.timing.deadline).await {
                Ok(_) => {
                    tracing::info!(epoch = held.epoch, "gave the leader's Lease back");
                    return;
                }
                Err(CallError::Conflict { .. }) => {}
                Err(error) => {
                    self.say(&error);
                    return;
                }
            }
            match self.calls.read().await {
                Ok(Some(sight)) if self.is_as_held(&sight, &held) => held.sight = sight,
                _ => return,
            }
        }
    }

    /// Remembers the highest epoch that the Lease ever carried.
    fn note_epoch(&mut self, seen: Option<&Sight>) {
        let Some(sight) = seen else { return };
        match epoch::read(sight.epoch(), self.floor, self.clock.now()) {
            Ok(epoch) => self.floor = self.floor.max(epoch),
            Err(unbelievable) => self.say(&unbelievable),
        }
    }

    /// Says it, unless it is what was said last.
    fn say(&mut self, what: &impl std::fmt::Display) {
        let text = what.to_string();
        if text != self.said {
            tracing::warn!(namespace = self.options.namespace, "{text}");
            self.said = text;
        }
    }
}

/// What came of a look at the Lease.
enum Looked {
    Held(Box<Held>),
    /// Look again then, or earlier.
    Again(Instant),
}

/// How long to wait after having been outranked.
#[derive(Debug, Default)]
struct Pauses {
    last: Option<(Instant, Duration)>,
}

impl Pauses {
    fn next(&mut self, now: Instant) -> Duration {
        let pause = match self.last {
            Some((at, pause)) if now.duration_since(at) < QUIET => (pause * 2).min(LONGEST_PAUSE),
            _ => FIRST_PAUSE,
        };
        self.last = Some((now, pause));
        pause
    }
}
