//! Sees that no agent obeys a leader of the past.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use muster_protocol::{COMMAND_PATH, Instruction, Outcome};
use muster_test_agents::{Body, Fleet};

/// What was seen between operators and agents. Cloning gives another handle to the same.
#[derive(Clone, Default)]
pub struct Epochs(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    commands: usize,
    wrong: Vec<String>,
}

impl Epochs {
    /// The way to the agents of this fleet, whose members are all in this namespace.
    pub fn on(
        &self,
        fleet: &Fleet,
        namespace: &str,
    ) -> impl Fn(Request<Full<Bytes>>) -> BoxFuture<'static, io::Result<Response<Body>>>
    + Clone
    + Send
    + Sync
    + 'static {
        let (dial, fleet, epochs, namespace) =
            (fleet.dial(), fleet.clone(), self.clone(), namespace.to_owned());
        move |request| {
            if request.uri().path() != COMMAND_PATH {
                return dial(request);
            }
            let (dial, fleet, epochs, namespace) =
                (dial.clone(), fleet.clone(), epochs.clone(), namespace.clone());
            Box::pin(async move {
                let (parts, body) = request.into_parts();
                let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                let instruction: Option<Instruction> = serde_json::from_slice(&bytes).ok();
                let known = instruction
                    .as_ref()
                    .and_then(|it| fleet.with(&namespace, &it.command.member, |node| node.volume.epoch));
                let answer = dial(Request::from_parts(parts, Full::new(bytes))).await?;
                let (parts, body) = answer.into_parts();
                let bytes = body.collect().await?.to_bytes();
                let outcome: Option<Outcome> = serde_json::from_slice(&bytes).ok();
                if let (Some(instruction), Some(Outcome::Obeyed(_)), Some(known)) =
                    (instruction, outcome, known)
                {
                    epochs.note(&instruction, known);
                }
                let body = Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
                Ok(Response::from_parts(parts, body))
            })
        }
    }

    /// A command was obeyed by an agent that had seen this epoch before it was sent.
    fn note(&self, instruction: &Instruction, known: u64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.commands += 1;
        let command = &instruction.command;
        if command.stamp.epoch < known {
            seen.wrong.push(format!("{} obeyed {:?} under epoch {known}", command.member, command.stamp));
        }
    }

    /// How many commands were obeyed.
    pub fn commands(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).commands
    }

    /// What should not have been obeyed.
    pub fn wrong(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wrong.clone()
    }
}
