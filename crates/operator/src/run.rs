//! The operator as a whole: watches, workers, managers and the Lease, started together and stopped in order.

mod ears;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument;

use self::ears::Ears;
use crate::agents::{Dial, Limits};
use crate::cache::guard::LATE;
use crate::cache::{Caches, Guard, watch_all};
use crate::clock::SharedClock;
use crate::context::{Chance, Context, Count, Numbers};
use crate::door::Door;
use crate::events::{self, Herald};
use crate::key::{Key, Name};
use crate::lease::Authority;
use crate::manager::Managers;
use crate::memory::Memories;
use crate::metrics::Metrics;
use crate::pass::PassError;
use crate::queue::{Queue, Then};
use crate::serve::Health;
use crate::{cluster, engine, member};

/// How many passes run at once.
pub const WORKERS: usize = 16;
/// How long one pass may take: every call in it is bounded, so this is for what nobody foresaw.
pub const PASS_LIMIT: Duration = Duration::from_secs(120);

/// How long passes, writes and commands that are under way may take to end when the operator stops: as long as one call, and
/// then a report, take at most.
pub const LAST_WORK: Duration = Duration::from_secs(10);

/// What an operator is made of.
pub struct Parts {
    /// The API server.
    pub client: Client,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Who may act.
    pub authority: Authority,
    /// The time of day.
    pub clock: SharedClock,
    /// The way to agents.
    pub dial: Arc<dyn Dial>,
    /// How long agents are waited for.
    pub agent_limits: Limits,
    /// The image that agents are copied from.
    pub agent_image: String,
    /// Chance.
    pub chance: Chance,
    /// The name of this process.
    pub identity: String,
    /// The namespaces that other operators look after; none while that is not known.
    pub elsewhere: watch::Receiver<Option<Arc<BTreeSet<String>>>>,
    /// What can be measured.
    pub metrics: Metrics,
    /// Whether all is well with this process.
    pub health: Health,
}

/// What [`Health`] waits for before the operator is ready.
pub const NEEDS: &str = "the objects of Kubernetes";
/// How often the operator shows that it is alive; far below what [`Health`] allows.
const TURN: Duration = Duration::from_secs(10);

/// An operator that runs. Dropped, it ends at once, as if it had been killed.
pub struct Operator {
    context: Arc<Context>,
    managers: Managers,
    tasks: JoinSet<()>,
    watches: JoinSet<()>,
}

/// A part of the operator has broken. What it worked on is left half done, and nobody would do its work any more.
#[derive(Debug, thiserror::Error)]
#[error("a part of the operator broke: {0}")]
pub struct Broken(tokio::task::JoinError);

impl Operator {
    /// Starts an operator. It acts while it has the authority to.
    pub fn start(parts: Parts) -> Self {
        let guard = Guard::default();
        let door = Door::new(parts.client.clone(), parts.authority.clone(), guard);
        let (herald, said) = Herald::new(parts.clock.clone(), parts.identity);
        let caches = Arc::new(Caches::default());
        let context = Arc::new(Context {
            door: door.clone(),
            namespace: parts.namespace.clone(),
            caches: caches.clone(),
            queue: Queue::new(),
            memories: Memories::default(),
            herald,
            clock: parts.clock,
            dial: parts.dial,
            agent_limits: parts.agent_limits,
            agent_image: parts.agent_image,
            chance: parts.chance,
            numbers: Numbers::default(),
            words: Count::default(),
            elsewhere: parts.elsewhere,
            metrics: parts.metrics,
        });
        context.metrics.measure(&context.queue);
        let managers = Managers::default();
        let ears = Ears { context: context.clone(), managers: managers.clone() };
        let watches = watch_all(&parts.client, parts.namespace.as_deref(), &caches, &ears, &context.chance);
        let mut tasks = JoinSet::new();
        tasks.spawn(events::send(door, said));
        tasks.spawn(follow_epochs(context.clone(), managers.clone()));
        tasks.spawn(follow_others(context.clone()));
        tasks.spawn(ask_for_what_is_owed(context.clone()));
        tasks.spawn(stay_alive(context.clone(), parts.health));
        for _ in 0..WORKERS {
            tasks.spawn(work(context.clone(), managers.clone()));
        }
        Self { context, managers, tasks, watches }
    }

    /// What its parts work with.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its managers.
    pub fn managers(&self) -> &Managers {
        &self.managers
    }

    /// Waits until a part of it breaks. A worker that is gone keeps its object from ever being looked at again, and a watch
    /// that is gone keeps everyone from the truth: then only another process helps.
    pub async fn failed(&mut self) -> Broken {
        loop {
            let ended = tokio::select! {
                Some(ended) = self.tasks.join_next() => ended,
                Some(ended) = self.watches.join_next() => ended,
                else => std::future::pending().await,
            };
            if let Err(error) = ended
                && error.is_panic()
            {
                return Broken(error);
            }
        }
    }

    /// Stops: nothing is begun any more, and what is under way ends. What does not end within [`LAST_WORK`] is cut off, and
    /// then the Lease is not given back ([`crate::lease::Act`]).
    pub async fn stop(mut self) {
        let authority = self.context.door.authority();
        authority.close();
        self.context.queue.close();
        self.managers.end_all();
        drop(tokio::time::timeout(LAST_WORK, authority.until_idle()).await);
        self.managers.drop_all();
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Works on one key after the other.
async fn work(context: Arc<Context>, managers: Managers) {
    context.caches.until_synced().await;
    while let Some(key) = context.queue.take().await {
        let began = tokio::time::Instant::now();
        // Whatever is logged on the way says of which object, and of which generation of it.
        let span = tracing::info_span!("pass", object = %key, generation = generation(&context, &key));
        let (then, failed) = bounded_pass(&context, &managers, &key).instrument(span).await;
        context.metrics.passed(key.kind(), began.elapsed(), failed);
        context.queue.done(&key, then, context.chance.fraction());
    }
}

/// One pass: what comes after it, and in one word what kept it from succeeding.
async fn bounded_pass(
    context: &Arc<Context>,
    managers: &Managers,
    key: &Key,
) -> (Then, Option<&'static str>) {
    match tokio::time::timeout(PASS_LIMIT, pass(context, managers, key)).await {
        Ok(Ok(then)) => (then, None),
        Ok(Err(PassError::NotLeader(why))) => {
            tracing::debug!(%why, "leaves it to the leader");
            (Then::Rest, Some("NotLeader"))
        }
        Ok(Err(error)) => {
            tracing::warn!(reason = error.reason(), %error, "a pass failed and is tried again");
            (Then::Retry, Some(error.reason()))
        }
        Err(_) => {
            tracing::error!(limit = PASS_LIMIT.as_secs(), "a pass took too long and is tried again");
            (Then::Retry, Some("TookTooLong"))
        }
    }
}

/// The generation of an object as the caches show it; none once it is gone.
fn generation(context: &Context, key: &Key) -> Option<i64> {
    let caches = &context.caches;
    match key {
        Key::Cluster(name) => caches.clusters.get(name)?.metadata.generation,
        Key::Member(name) => caches.members.get(name)?.metadata.generation,
        Key::Engine(name) => caches.engines.get(&Name::new("", name))?.metadata.generation,
    }
}

async fn pass(context: &Arc<Context>, managers: &Managers, key: &Key) -> Result<Then, PassError> {
    // Who does not lead keeps its caches warm, and does nothing.
    let mandate = context.door.authority().now()?;
    let work = context.door.authority().begin(mandate.epoch)?;
    match key {
        Key::Cluster(name) => cluster::reconcile(context, managers, name, work.epoch()).await,
        Key::Member(name) => member::reconcile(context, managers, name, work.epoch()).await,
        Key::Engine(name) => engine::reconcile(context, name).await,
    }
}

/// With a new epoch everything is looked at anew. What was remembered and managed under the last one is seen by nobody any
/// more (see [`Memories::of`] and [`Managers::under`]), so it does not matter when it is let go of here.
async fn follow_epochs(context: Arc<Context>, managers: Managers) {
    let mut epochs = context.door.authority().epochs();
    let mut known = *epochs.borrow();
    context.caches.until_synced().await;
    loop {
        let epoch = *epochs.borrow_and_update();
        context.metrics.leads(epoch);
        if epoch != known {
            if let Some(last) = epoch.map_or(known, |new| new.checked_sub(1)) {
                managers.forget_ended(last);
                context.memories.forget_until(last);
            }
            known = epoch;
        }
        if epoch.is_some() {
            for engine in context.caches.engines.all() {
                context.queue.add(Key::Engine(kube::ResourceExt::name_any(engine.as_ref())));
            }
            for cluster in context.caches.clusters.all() {
                context.queue.add(Key::Cluster(Name::of(cluster.as_ref())));
            }
            for member in context.caches.members.all() {
                context.queue.add(Key::Member(Name::of(member.as_ref())));
            }
        }
        if epochs.changed().await.is_err() {
            return;
        }
    }
}

/// When another operator comes or goes, the clusters of its namespace are looked at anew.
async fn follow_others(context: Arc<Context>) {
    let mut elsewhere = context.elsewhere.clone();
    while elsewhere.changed().await.is_ok() {
        for cluster in context.caches.clusters.all() {
            context.queue.add(Key::Cluster(Name::of(cluster.as_ref())));
        }
        for member in context.caches.members.all() {
            context.queue.add(Key::Member(Name::of(member.as_ref())));
        }
    }
}

/// Has what the watches owe looked at: a manager writes, too, and no pass may be due that would notice.
async fn ask_for_what_is_owed(context: Arc<Context>) {
    context.caches.until_synced().await;
    loop {
        tokio::time::sleep(LATE).await;
        if context.door.authority().now().is_err() {
            continue;
        }
        for cluster in context.door.guard().owed(&context.caches) {
            context.queue.add(Key::Cluster(cluster));
        }
    }
}

/// Says that this process is ready, and again and again that it is alive: a runtime that hangs does not.
async fn stay_alive(context: Arc<Context>, health: Health) {
    context.caches.until_synced().await;
    health.synced(NEEDS);
    loop {
        health.turned();
        tokio::time::sleep(TURN).await;
    }
}
