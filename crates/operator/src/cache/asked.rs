//! What was read by name because the watch owes it: it is laid here for whoever keeps the store, who alone changes that.
//!
//! What the watch tells of an object after it was asked for is newer than the answer may be. So an answer counts only as long as
//! the watch has not told that the object is gone: else what is gone would be kept until all is told anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::key::Name;

/// The answers that nobody has taken yet: no more than there are objects that we wrote and have not seen again.
pub(super) struct Asked<K> {
    answers: Mutex<BTreeMap<Name, Asking<K>>>,
    came: Notify,
}

struct Asking<K> {
    /// The object that was known under this name when it was asked for.
    known: Option<String>,
    answer: Option<Answer<K>>,
}

/// What was found.
pub(super) enum Answer<K> {
    /// It is like this.
    Is(Box<K>),
    /// What was known under this name, of this uid, is not to be seen any more.
    Gone(Option<String>),
}

impl<K> Default for Asked<K> {
    fn default() -> Self {
        Self { answers: Mutex::new(BTreeMap::new()), came: Notify::new() }
    }
}

impl<K> Asked<K> {
    /// This is about to be read; `known` is the uid of what is known under this name.
    pub(super) fn ask(&self, name: &Name, known: Option<String>) {
        self.all().insert(name.clone(), Asking { known, answer: None });
    }

    /// This was read. None: there is no such object, or none that is watched.
    pub(super) fn answer(&self, name: &Name, found: Option<K>) {
        if let Some(asking) = self.all().get_mut(name) {
            asking.answer = Some(match found {
                Some(object) => Answer::Is(Box::new(object)),
                None => Answer::Gone(asking.known.clone()),
            });
            self.came.notify_one();
        }
    }

    /// The watch has told that the objects are gone of whose names this is not true.
    pub(super) fn retain(&self, there: impl Fn(&Name) -> bool) {
        self.all().retain(|name, _| there(name));
    }

    /// Waits until there may be answers.
    pub(super) async fn came(&self) {
        self.came.notified().await;
    }

    /// The answers.
    pub(super) fn take(&self) -> Vec<(Name, Answer<K>)> {
        let mut all = self.all();
        let answered: Vec<Name> =
            all.iter().filter(|(_, asking)| asking.answer.is_some()).map(|(name, _)| name.clone()).collect();
        answered.into_iter().filter_map(|name| Some((name.clone(), all.remove(&name)?.answer?))).collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Name, Asking<K>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
