//! The managers that run, by cluster: started once, stopped once, and started again where they left off.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use muster_core::manager::observed::Observed;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::asked::Asked;
use super::intent::Intent;
use super::streams::{Keys, Streams};
use super::task::{Ears, Ended, Stop, Task};
use super::view::View;
use super::writes::Writes;
use crate::context::Context;
use crate::key::{Key, Name};
use crate::lease::{Epoch, NotLeader};

/// How many requests of people may wait. Each is taken from an annotation that holds one.
const MAX_REQUESTS: usize = 4;

/// The managers.
#[derive(Clone, Default)]
pub struct Managers(Arc<Mutex<BTreeMap<Name, Handle>>>);

/// One manager, as its cluster's controller holds it.
#[derive(Clone)]
pub struct Handle {
    /// The cluster that it manages: another one of the same name gets its own.
    pub uid: String,
    /// Under which epoch it commands.
    pub epoch: Epoch,
    /// What it tells.
    pub view: watch::Receiver<Arc<View>>,
    intent: watch::Sender<Option<Intent>>,
    keys: watch::Sender<Option<Keys>>,
    changed: Arc<Notify>,
    refresh: Arc<AtomicBool>,
    requests: mpsc::Sender<Asked>,
    stop: watch::Sender<Stop>,
    ended: Arc<Mutex<Option<Observed>>>,
    task: Arc<Task_>,
}

/// Ends the task with the last handle.
struct Task_(JoinHandle<()>);

impl Drop for Task_ {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Handle {
    /// What the manager is to keep from now on.
    pub fn intend(&self, intent: Intent) {
        self.intent.send_if_modified(|old| {
            let new = old.as_ref() != Some(&intent);
            if new {
                *old = Some(intent);
            }
            new
        });
    }

    /// By what it is to know its agents from now on.
    pub fn give_keys(&self, keys: Option<&Keys>) {
        self.keys.send_if_modified(|old| {
            let same = match (&*old, keys) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (old, new) => old.is_none() && new.is_none(),
            };
            if !same {
                *old = keys.cloned();
            }
            !same
        });
    }

    /// Hands on what a person asked for. False: the manager cannot take it.
    pub fn ask(&self, asked: Asked) -> bool {
        self.requests.try_send(asked).is_ok()
    }

    /// Asks for figures that are newer than what was last told: they come with the next line of an agent.
    pub fn refresh(&self) {
        self.refresh.store(true, Ordering::Relaxed);
    }

    /// Tells the manager to stop. It sends nothing any more, waits for the answers it is owed, and says so.
    pub fn stop(&self) {
        self.raise(Stop::Pause);
    }

    /// Tells the manager to end, because this operator does: it sends nothing any more, and waits for what is under way.
    fn end(&self) {
        self.raise(Stop::End);
    }

    fn raise(&self, wish: Stop) {
        self.stop.send_if_modified(|stop| {
            let more = *stop < wish;
            *stop = wish.max(*stop);
            more
        });
    }

    /// Whether it was told to stop.
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow() != Stop::No
    }

    /// Whether its task has ended.
    pub fn has_ended(&self) -> bool {
        self.task.0.is_finished()
    }
}

impl Managers {
    /// The manager of this very cluster under this epoch, if there is one.
    pub fn under(&self, cluster: &Name, uid: &str, epoch: Epoch) -> Option<Handle> {
        self.get(cluster, uid).filter(|handle| handle.epoch == epoch)
    }

    /// The same under whatever epoch it was started, for whoever only looks on.
    pub fn get(&self, cluster: &Name, uid: &str) -> Option<Handle> {
        self.all().get(cluster).filter(|handle| handle.uid == uid).cloned()
    }

    /// Something of this cluster changed.
    pub fn wake(&self, cluster: &Name) {
        if let Some(handle) = self.all().get(cluster) {
            handle.changed.notify_one();
        }
    }

    /// Something changed that may concern any cluster.
    pub fn wake_all(&self) {
        self.all().values().for_each(|handle| handle.changed.notify_one());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Ends the manager of this cluster at once; its applications go on.
    pub fn drop(&self, cluster: &Name) {
        self.all().remove(cluster);
    }

    /// Ends all of them at once.
    pub fn drop_all(&self) {
        self.all().clear();
    }

    /// Tells all of them to end when what is under way has ended.
    pub fn end_all(&self) {
        self.all().values().for_each(Handle::end);
    }

    /// Lets go of those of this epoch and of earlier ones that have ended. They end by themselves with their epoch, when
    /// what they sent has ended; until then nobody leads under the next.
    pub fn forget_ended(&self, epoch: Epoch) {
        self.all().retain(|_, handle| handle.epoch > epoch || !handle.has_ended());
    }

    /// The manager of this cluster, started if there is none under this epoch. `stored_restore` is
    /// `status.restoreReplicas`, which only a starting manager reads.
    pub fn ensure(
        &self,
        context: &Arc<Context>,
        cluster: &Name,
        uid: &str,
        epoch: Epoch,
        stored_restore: Option<i64>,
    ) -> Result<Handle, NotLeader> {
        context.door.authority().still(epoch)?;
        let mut all = self.all();
        let old = all.get(cluster).filter(|handle| handle.uid == uid && handle.epoch == epoch);
        let resumes =
            old.and_then(|handle| handle.ended.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(handle) = old.filter(|handle| resumes.is_none() && !handle.has_ended()) {
            return Ok(handle.clone());
        }
        let mut begins = View::starting();
        let last_word = old.and_then(|handle| handle.view.borrow().last_request.clone());
        begins.last_request = last_word.map(|word| word.inherited(context));
        let handle = start(context, cluster, uid, epoch, resumes, stored_restore, begins)?;
        all.insert(cluster.clone(), handle.clone());
        Ok(handle)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Name, Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(
    context: &Arc<Context>,
    cluster: &Name,
    uid: &str,
    epoch: u64,
    resumes: Option<Observed>,
    stored_restore: Option<i64>,
    begins: View,
) -> Result<Handle, NotLeader> {
    let work = context.door.authority().begin(epoch)?;
    let (view, shown) = watch::channel(Arc::new(begins.clone()));
    let (intent, intent_heard) = watch::channel(None);
    let (keys, keys_heard) = watch::channel(None);
    let (requests, requests_heard) = mpsc::channel(MAX_REQUESTS);
    let (stop, stop_heard) = watch::channel(Stop::No);
    let changed = Arc::new(Notify::new());
    let refresh = Arc::new(AtomicBool::new(false));
    let ended = Arc::new(Mutex::new(None));
    let task = Task {
        context: context.clone(),
        cluster: cluster.clone(),
        ears: Ears {
            intent: intent_heard,
            keys: keys_heard,
            changed: changed.clone(),
            refresh: refresh.clone(),
            requests: requests_heard,
            stop: stop_heard,
        },
        view,
        observed: resumes.map_or_else(|| Observed::new(epoch), Observed::resumed),
        streams: Streams::new(&cluster.name, epoch, context.metrics.clone()),
        lines: BTreeMap::new(),
        heard_at: BTreeMap::new(),
        sent: tokio::task::JoinSet::new(),
        reports: tokio::task::JoinSet::new(),
        asking: BTreeMap::new(),
        writes: Writes::default(),
        began: Instant::now(),
        acts: false,
        stored_restore,
        restore: None,
        request: None,
        given_up: std::collections::BTreeSet::new(),
        out_of_service: BTreeMap::new(),
        next: begins,
        wake: None,
        touched: std::collections::BTreeSet::new(),
        idle: false,
        work,
    };
    tracing::info!(%cluster, epoch, "the manager starts");
    let task = tokio::spawn(run(task, context.clone(), cluster.clone(), ended.clone()));
    let (uid, task) = (uid.to_owned(), Arc::new(Task_(task)));
    Ok(Handle { uid, epoch, view: shown, intent, keys, changed, refresh, requests, stop, ended, task })
}

/// Runs a manager, and keeps what it knew of its commands if it was only paused.
async fn run(task: Task, context: Arc<Context>, cluster: Name, ended: Arc<Mutex<Option<Observed>>>) {
    if let Ended::Paused(observed) = task.run().await {
        tracing::info!(%cluster, "the manager has stopped");
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(*observed);
    }
    context.queue.add(Key::Cluster(cluster));
}
