//! Doing what was commanded, once it is written down.

use std::sync::Arc;

use muster_api::names::{Action, Role};
use muster_core::manager::stamp::Term;
use muster_core::manager::terms::TermList;

use super::agent::Inner;
use super::live::{App, Live};
use super::start::again;
use crate::memory::Memory;
use crate::memory::command::Work;

impl Inner {
    /// Does it; true when it succeeded. Dropped in between it leaves nothing running that is not known.
    pub(super) async fn work(self: &Arc<Self>, work: &Work) -> bool {
        match work {
            Work::Done(answer) => answer.succeeded,
            Work::Start(start) => self.start(start).await,
            Work::Promote(term) => self.promote(*term).await,
            Work::Bootstrap(term) => self.lead(Action::Bootstrap, *term).await,
            Work::Demote => self.demote().await,
            Work::Stop => self.stop().await,
            Work::Leave => {
                self.run(Action::Leave, true, Vec::new()).await.is_none_or(|done| done.succeeded())
            }
        }
    }

    async fn promote(self: &Arc<Self>, term: Term) -> bool {
        if self.engine.actions.get(Action::Promote).is_some() {
            return self.lead(Action::Promote, term).await;
        }
        if !self.stop_for_another_role().await {
            return false;
        }
        // It has applied what it had received: the term begins behind that.
        let sequence = self.live().data.sequence();
        let corrected = move |live: &Live| {
            let memory = &live.memory;
            let others = memory.terms.entries().iter().filter(|entry| entry.term != term).copied();
            let mut terms = TermList::new(others);
            terms.begin(term, sequence);
            Some(Memory { terms, ..memory.clone() })
        };
        if self.commit(corrected).await.is_err() {
            return false;
        }
        self.start_again(Role::Primary).await
    }

    /// Makes the running application lead in this term, by this action.
    async fn lead(self: &Arc<Self>, action: Action, term: Term) -> bool {
        // If it is seen as primary from now on, it is so in this term.
        self.change_app(|app| {
            app.offered = Some(term);
            app.turn += 1;
        });
        if self.hand_out_roster().await.is_err() {
            return false;
        }
        let version = self.live().handed;
        let done = self.run(action, true, Vec::new()).await;
        let succeeded = done.is_some_and(|done| done.succeeded());
        if succeeded {
            self.change_app(|app| {
                app.take_lead(term);
                app.turn += 1;
                // It was told with what it was promoted.
                (app.told, app.roster) = (version, version);
            });
        }
        self.ask_status().await;
        succeeded
    }

    async fn demote(self: &Arc<Self>) -> bool {
        if self.engine.actions.get(Action::Demote).is_some() {
            let done = self.run(Action::Demote, true, Vec::new()).await;
            let succeeded = done.is_some_and(|done| done.succeeded());
            if succeeded {
                self.change_app(|app| {
                    (app.leads, app.led, app.offered) = (false, false, None);
                    app.turn += 1;
                });
            }
            self.ask_status().await;
            return succeeded;
        }
        self.stop_for_another_role().await && self.start_again(Role::Secondary).await
    }

    async fn stop_for_another_role(self: &Arc<Self>) -> bool {
        self.stop().await && self.is_settled().await
    }

    async fn start_again(self: &Arc<Self>, role: Role) -> bool {
        let start = {
            let live = self.live();
            again(role, &live.memory, live.history())
        };
        self.start(&start).await
    }

    pub(super) fn change_app(&self, change: impl FnOnce(&mut App)) {
        self.change(|live| live.app.as_mut().map(change));
    }
}

impl App {
    /// It leads in this term.
    pub(super) fn take_lead(&mut self, term: Term) {
        (self.leads, self.led, self.offered, self.term) = (true, false, None, Some(term));
        self.cut_off = false;
    }
}
