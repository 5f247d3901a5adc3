//! One run of an action that ends by itself: bounded in time and output, killed as a whole when it takes too long or nobody waits for it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use muster_api::names::Action;
use muster_protocol::Failure;

use crate::process::output::{Collected, Tail, collect};
use crate::process::spawn::{Family, Recipe};

/// How long the last words of a process that has ended may take to arrive: a process that it left behind may hold its output open.
pub const LAST_WORDS: Duration = Duration::from_millis(500);

/// What came of an action.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its exit code; None when it was killed, by whomever.
    pub code: Option<i32>,
    /// What it said on its standard output.
    pub said: Collected,
    /// How it ended, in words.
    pub how: String,
    /// The last lines it said.
    pub tail: String,
}

impl Done {
    /// Whether it ended well, and said no more than is read.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0) && !self.said.cut
    }

    /// As a failure.
    pub fn failure(&self, action: Action) -> Failure {
        Failure { action: action.to_string(), how: self.how.clone(), output: self.tail.clone() }
    }

    fn never_ran(how: String) -> Self {
        Self { code: None, said: Collected::default(), how, tail: String::new() }
    }
}

/// Runs an action to its end. Dropped, it kills it.
pub async fn run(recipe: &Recipe, family: &Family, limit: Duration) -> Done {
    let started = async { recipe.spawn(family)?.go().await };
    let mut running = match started.await {
        Ok(running) => running,
        Err(error) => return Done::never_ran(format!("it could not be started: {error}")),
    };
    let (tail, said) = (Tail::default(), Arc::new(Mutex::new(Collected::default())));
    let (out, err) = running.output();
    let unheard = Arc::new(Mutex::new(Collected::default()));
    let listening = async {
        let out = async {
            if let Some(out) = out {
                collect(out, Arc::clone(&said), tail.clone()).await;
            }
        };
        let err = async {
            if let Some(err) = err {
                collect(err, unheard, tail.clone()).await;
            }
        };
        tokio::join!(out, err);
    };
    tokio::pin!(listening);
    let ended = async {
        tokio::select! {
            status = running.wait() => (status, false),
            () = &mut listening => (running.wait().await, true),
        }
    };
    let (code, how) = match tokio::time::timeout(limit, ended).await {
        Ok((Ok(status), heard)) => {
            if !heard {
                // Whoever still holds its output open says nothing that counts.
                let _ = tokio::time::timeout(LAST_WORDS, listening).await;
            }
            (status.code(), describe(status))
        }
        Ok((Err(error), _)) => (None, format!("its end is not known: {error}")),
        Err(_) => (None, format!("it did not end within {} s", limit.as_secs())),
    };
    drop(running);
    let said = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Done { code, said, how, tail: tail.text() }
}

/// How a process ended, in words.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}
