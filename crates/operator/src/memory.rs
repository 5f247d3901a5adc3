//! What the controllers remember of each cluster between passes. It is lost with the process, and nothing needs it then.
//!
//! A memory belongs to one epoch: another leader may have written since an earlier one, so a pass never sees what was
//! remembered under another epoch than its own.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use muster_api::cluster::Recovery;
use muster_api::member::MemberStatus;
use muster_core::pause::Stopped;
use muster_core::scaling::{Gain, Published};
use muster_core::status::MemberTruths;
use muster_core::validation::Report;

use crate::agents::tls::Tls;
use crate::child::AppliedChildren;
use crate::cluster::Checked;
use crate::cluster::observe::ReadSecrets;
use crate::credentials::Credentials;
use crate::key::Name;
use crate::lease::Epoch;
use crate::manager::Intent;
use crate::manager::asked::Word;
use crate::manager::streams::Keys;
use crate::news::{ClusterTold, MemberTold};

/// What is remembered, by cluster.
#[derive(Clone, Default)]
pub struct Memories(Arc<Mutex<HashMap<Name, Shared>>>);

/// The memory of one cluster. Locked for moments only, never while something is waited for.
pub type Shared = Arc<Mutex<Memory>>;

/// What is remembered of one cluster.
#[derive(Default)]
pub struct Memory {
    /// Which cluster: another one of the same name starts anew.
    pub uid: String,
    /// Under which epoch this was remembered.
    pub epoch: Epoch,
    /// The newest generation that was seen.
    pub generation: Option<i64>,
    /// The last generation that was applied.
    pub applied: Option<i64>,
    /// What the checks found, and at which generation.
    pub report: Option<(i64, Report)>,
    /// What that was found with.
    pub checked: Option<Checked>,
    /// The Secrets, as they were last read.
    pub secrets: Option<ReadSecrets>,
    /// What the manager was last asked to keep.
    pub intent: Option<Intent>,
    /// The authority of its agents.
    pub credentials: Option<Arc<Credentials>>,
    /// By what agents are known.
    pub keys: Option<Keys>,
    /// The keys of external Members, and the version of the Secret that they were read from.
    pub external: BTreeMap<String, (String, Tls)>,
    /// When members of each pool last came, joined or went.
    pub pools_changed: BTreeMap<String, Timestamp>,
    /// The members of each pool and how far they had come, as of then.
    pub pool_stages: BTreeMap<String, BTreeMap<String, u8>>,
    /// What members that were created for their storage brought.
    pub gains: BTreeMap<String, Gain>,
    /// The free storage of each pool, as it is shown.
    pub shown_free: BTreeMap<String, Published>,
    /// `status.recovery` as it was last assembled.
    pub shown_recovery: Option<Recovery>,
    /// The last request that was judged.
    pub last_request: Option<Word>,
    /// Set once this process has written the status.
    pub shown: bool,
    /// What this process wrote into it last.
    pub told: Option<ClusterTold>,
    /// Set once reconciliation has really stopped.
    pub stopped: Option<Stopped>,
    /// What was applied of the cluster's own children.
    pub children: AppliedChildren,
    /// What is remembered of each Member.
    pub members: BTreeMap<String, MemberMemory>,
    /// When the operator began to look after this cluster.
    pub since: Option<Timestamp>,
}

/// What is remembered of one Member.
#[derive(Clone, Default)]
pub struct MemberMemory {
    /// Which Member.
    pub uid: String,
    /// The newest generation that was seen.
    pub generation: Option<i64>,
    /// The last generation that was applied.
    pub applied: Option<i64>,
    /// What its own controller found.
    pub truths: Option<MemberTruths>,
    /// Whether that was found with what the manager sees: before that, nothing is known of its agent.
    pub looked: bool,
    /// Its status as it was last assembled.
    pub previous: Option<MemberStatus>,
    /// Its free storage as it is shown.
    pub shown_free: Option<Published>,
    /// What was applied of its children.
    pub children: AppliedChildren,
    /// What this process wrote into its status last.
    pub told: Option<MemberTold>,
    /// When its certificate was last looked at.
    pub certificate: Option<Timestamp>,
}

impl Memories {
    /// The memory of this very cluster under this epoch, empty if there is none.
    pub fn of(&self, cluster: &Name, uid: &str, epoch: Epoch) -> Shared {
        let mut all = self.all();
        let shared = all.entry(cluster.clone()).or_default();
        let known = {
            let memory = lock(shared);
            (memory.uid.as_str(), memory.epoch) == (uid, epoch)
        };
        if !known {
            // Another one, not the old one emptied: whoever still holds that writes into what nobody reads.
            let memory = Memory { uid: uid.to_owned(), epoch, ..Memory::default() };
            *shared = Arc::new(Mutex::new(memory));
        }
        shared.clone()
    }

    /// Forgets a cluster.
    pub fn forget(&self, cluster: &Name) {
        self.all().remove(cluster);
    }

    /// Lets go of what was remembered under this epoch and those before it, which nobody sees any more.
    pub fn forget_until(&self, epoch: Epoch) {
        self.all().retain(|_, memory| lock(memory).epoch > epoch);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Name, Shared>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a memory.
pub fn lock(shared: &Shared) -> MutexGuard<'_, Memory> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// The memory of this very Member, empty if there is none.
    pub fn member(&mut self, name: &str, uid: &str) -> &mut MemberMemory {
        let member = self.members.entry(name.to_owned()).or_default();
        if member.uid != uid {
            *member = MemberMemory { uid: uid.to_owned(), ..MemberMemory::default() };
        }
        member
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sees_what_was_remembered_of_another_cluster_or_under_another_epoch() {
        let (memories, name) = (Memories::default(), Name::new("ns", "orders"));
        let first = memories.of(&name, "u", 7);
        lock(&first).applied = Some(3);
        assert_eq!(lock(&memories.of(&name, "u", 7)).applied, Some(3));
        let second = memories.of(&name, "u", 8);
        assert_eq!(lock(&second).applied, None, "no task had to clear it first");
        lock(&second).applied = Some(4);
        lock(&first).applied = Some(5);
        assert_eq!(lock(&memories.of(&name, "u", 8)).applied, Some(4), "who came too late changes nothing");
        // Told of the end of the last epoch only after the next has begun.
        memories.forget_until(7);
        assert_eq!(lock(&memories.of(&name, "u", 8)).applied, Some(4));
        memories.forget_until(8);
        assert_eq!(lock(&memories.of(&name, "u", 8)).applied, None);
        lock(&memories.of(&name, "u", 8)).applied = Some(6);
        assert_eq!(lock(&memories.of(&name, "v", 8)).applied, None, "another cluster of that name");
    }
}
