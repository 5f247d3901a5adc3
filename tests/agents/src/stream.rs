//! The stream of an agent: a line on every change, and a heartbeat.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, StreamBody};
use muster_core::manager::report::Instance;
use muster_protocol::{HEARTBEAT, Line, MISSED_HEARTBEATS};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::{broken, refused};
use crate::fleet::{Body, Inner};
use crate::pace::until;
use crate::state::{Key, State};

/// After how long a stream that says nothing counts as lost.
const SILENCE: Duration = HEARTBEAT.saturating_mul(MISSED_HEARTBEATS);

struct Stream {
    fleet: Weak<Inner>,
    key: Key,
    run: Instance,
    cuts: u64,
    news: watch::Receiver<u64>,
    /// Moves when only what moves all the time has moved.
    drift: watch::Receiver<u64>,
    heartbeat: Option<Duration>,
    /// When the next line is due if nothing happens.
    beat: Option<Instant>,
    /// What was said last.
    said: Option<Line>,
    /// Since when nothing comes through.
    silent: Option<Instant>,
    /// Whether the first line was said.
    begun: bool,
}

/// What a stream does next.
enum Next {
    Say(Bytes),
    /// Nothing comes through.
    Silence,
    /// Nothing will come any more, and nobody says so.
    SilenceForEver,
    End(io::Error),
}

/// Opens the stream of this member's present run.
pub(crate) fn open(inner: &Arc<Inner>, key: &Key) -> io::Result<Response<Body>> {
    let (run, cuts, news, drift, heartbeat) = {
        let state = inner.state();
        let run = state.run(key).ok_or_else(|| refused("connection refused"))?;
        let extra = state.members.get(key).ok_or_else(|| refused("connection refused"))?;
        let (news, drift) = (extra.news.subscribe(), extra.drift.subscribe());
        (run, extra.cuts, news, drift, state.pace.heartbeat)
    };
    let fleet = Arc::downgrade(inner);
    let stream = Stream {
        fleet,
        key: key.clone(),
        run,
        cuts,
        news,
        drift,
        heartbeat,
        beat: None,
        said: None,
        silent: None,
        begun: false,
    };
    let lines = stream::unfold(Some(stream), |stream| async move {
        let mut stream = stream?;
        match stream.next().await {
            Ok(line) => Some((Ok(http_body::Frame::data(line)), Some(stream))),
            Err(error) => Some((Err(error), None)),
        }
    });
    let body = BodyExt::boxed_unsync(StreamBody::new(lines));
    Response::builder().header(CONTENT_TYPE, "application/json").body(body).map_err(io::Error::other)
}

impl Stream {
    async fn next(&mut self) -> io::Result<Bytes> {
        loop {
            if std::mem::replace(&mut self.begun, true) && !self.something_happens().await {
                return Err(broken("the agents are gone"));
            }
            self.beat = self.heartbeat.map(|pause| Instant::now() + pause);
            let Some(inner) = self.fleet.upgrade() else { return Err(broken("the agents are gone")) };
            let next = self.look(&mut inner.state());
            drop(inner);
            match next {
                Next::Say(line) => {
                    self.silent = None;
                    return Ok(line);
                }
                Next::Silence => self.fall_silent()?,
                Next::SilenceForEver if self.heartbeat.is_some() => std::future::pending::<()>().await,
                Next::SilenceForEver => {
                    until(Instant::now() + SILENCE).await;
                    return Err(broken("timed out"));
                }
                Next::End(error) => return Err(error),
            }
        }
    }

    /// Waits until there may be something to say. False: the fleet is gone.
    async fn something_happens(&mut self) -> bool {
        loop {
            let beat = self.beat;
            tokio::select! {
                biased;
                changed = self.news.changed() => return changed.is_ok(),
                changed = self.drift.changed() => match changed {
                    Ok(()) => drop(self.beat.get_or_insert_with(|| Instant::now() + HEARTBEAT)),
                    Err(_) => return false,
                },
                () = until(beat.unwrap_or_else(Instant::now)), if beat.is_some() => return true,
            }
        }
    }

    /// Nothing comes through. Without heartbeats nobody would notice: then the stream breaks off when someone would have.
    fn fall_silent(&mut self) -> io::Result<()> {
        if self.heartbeat.is_some() {
            return Ok(());
        }
        let ends = *self.silent.get_or_insert_with(Instant::now) + SILENCE;
        if ends <= Instant::now() {
            return Err(broken("timed out"));
        }
        self.beat = Some(ends);
        Ok(())
    }

    fn look(&mut self, state: &mut State) -> Next {
        let current = state.run(&self.key) == Some(self.run);
        let Some(extra) = state.members.get(&self.key) else { return Next::End(broken("the agent is gone")) };
        if extra.dark_runs.contains(&self.run) {
            return Next::SilenceForEver;
        }
        if extra.isolated {
            return Next::Silence;
        }
        if !current || extra.cuts != self.cuts {
            return Next::End(broken("connection reset"));
        }
        let Some(line) = state.line(&self.key, 0) else { return Next::End(broken("connection reset")) };
        let same = |said: &Line| {
            let mut alike = line.clone();
            alike.report.serial = said.report.serial;
            *said == alike
        };
        if self.said.as_ref().is_some_and(same) {
            return Next::Say(Bytes::from_static(b"\n"));
        }
        let text = serde_json::to_vec(&line);
        self.said = Some(line);
        match text {
            Ok(text) => {
                let mut line = BytesMut::from(text.as_slice());
                line.put_u8(b'\n');
                Next::Say(line.freeze())
            }
            Err(error) => Next::End(io::Error::other(error)),
        }
    }
}
