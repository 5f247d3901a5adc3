//! What a person asked for, once it was accepted: how it is begun, and how it is said to have ended.

use muster_api::Time;
use muster_api::cluster::LastRequest;
use muster_api::names::{RequestAction, RequestResult};
use muster_core::conditions;
use muster_core::manager::fencing::{FenceKind, Proof};
use muster_core::manager::requests::{Ask, Directive, Granted, Request};
use muster_core::status::carry_over;

use super::task::Task;
use crate::context::Context;
use crate::events::{Occasion, Tone};

/// An accepted request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What it says.
    pub request: Request,
    /// What it leads to.
    pub granted: Granted,
}

/// What status is to say about a request. The controller and the manager both speak of requests, and the last word counts:
/// by its number, because times are whole seconds.
#[derive(Clone, Debug)]
pub struct Word {
    /// Larger than that of every word before it.
    pub order: u64,
    /// What is said.
    pub request: LastRequest,
}

impl Word {
    /// A word that is spoken now.
    pub fn now(context: &Context, request: &Request, result: RequestResult, message: &str) -> Self {
        let request = LastRequest {
            id: request.id.clone(),
            action: action(&request.ask).to_string(),
            result: result.to_string(),
            message: conditions::message(message.to_owned()),
            time: Some(Time(conditions::whole_second(context.clock.now()))),
        };
        Self { order: context.words.next(), request }
    }

    /// The last word of a manager that is gone, as the next one repeats it.
    pub(super) fn inherited(self, context: &Context) -> Self {
        let request = carry_over::lost_request(self.request.clone(), context.clock.now());
        let is_news = request != self.request;
        Self { order: if is_news { context.words.next() } else { self.order }, request }
    }
}

/// What is asked for, in one word.
pub const fn action(ask: &Ask) -> RequestAction {
    match ask {
        Ask::Recover { .. } => RequestAction::Recover,
        Ask::Switchover { .. } => RequestAction::Switchover,
        Ask::Fence { .. } => RequestAction::Fence,
        Ask::Forget { .. } => RequestAction::Forget,
        Ask::Rejoin { .. } => RequestAction::Rejoin,
    }
}

impl Task {
    /// Begins what was asked for. A person's word is new each time it is given.
    pub(super) fn take_request(&mut self, asked: Asked) {
        match asked.granted.clone() {
            Granted::Direct(directive) => {
                if let Some(before) = &self.request {
                    let (word, id) = (action(&before.request.ask), &before.request.id);
                    let why =
                        format!("{word} {id} is under way: look again once it has ended, and repeat it");
                    return self.refuse(&asked, &why);
                }
                self.observed.direct(directive, asked.request.expires);
                self.say(&asked, RequestResult::Accepted, "it is being carried out");
                self.request = Some(asked);
            }
            Granted::Fence(members) => {
                let evidence = format!("request {}", asked.request.id);
                let proof = |member: String| Proof {
                    member,
                    kind: FenceKind::Person,
                    instance: None,
                    evidence: evidence.clone(),
                };
                self.touched.extend(members.iter().cloned());
                self.observed.take_proofs(members.into_iter().map(proof));
                self.say(&asked, RequestResult::Done, "the members count as not running");
            }
            Granted::Restore(count) => {
                (self.restore, self.observed.count_spent) = (Some(count), false);
                self.say(&asked, RequestResult::Done, &format!("recovery asks for {count} members"));
            }
        }
    }

    fn refuse(&mut self, asked: &Asked, why: &str) {
        let (word, id) = (action(&asked.request.ask), &asked.request.id);
        let message = format!("{word} {id}: {why}");
        let occasion = Occasion { tone: Tone::Warning, reason: "RequestRefused", message };
        self.context.herald.say(&self.context.caches, &self.cluster, &occasion);
        self.say(asked, RequestResult::Refused, why);
    }

    /// The request under way has ended.
    pub(super) fn end_request(&mut self, result: &Result<(), String>) {
        self.observed.directive = None;
        self.observed.mandate = None;
        let Some(asked) = self.request.take() else { return };
        if let (Granted::Direct(Directive::Forget { members }), Ok(())) = (&asked.granted, result) {
            // Whoever is heard lives on, with another volume; the others are dead, and their place is not taken again.
            let dead = members.iter().filter(|member| self.observed.report_of(member).is_none());
            self.given_up.extend(dead.cloned());
        }
        match result {
            Ok(()) => self.say(&asked, RequestResult::Done, "it was carried out"),
            Err(why) => self.say(&asked, RequestResult::Failed, why),
        }
    }

    /// Clustering is being stopped: nothing that was asked for is carried out any more.
    pub(super) fn end_requests(&mut self) {
        let why = "clustering was stopped before it was carried out: look again and repeat it";
        self.end_request(&Err(why.to_owned()));
        while let Ok(asked) = self.ears.requests.try_recv() {
            self.say(&asked, RequestResult::Failed, why);
        }
    }

    fn say(&mut self, asked: &Asked, result: RequestResult, message: &str) {
        self.next.last_request = Some(Word::now(&self.context, &asked.request, result, message));
        self.touched.insert(String::new());
    }
}
