//! The stream of an agent: a line on every change, and a heartbeat.

use std::io;
use std::sync::{Arc, Weak};

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, StreamBody};
use muster_core::manager::report::Instance;
use muster_protocol::HEARTBEAT;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::{broken, refused};
use crate::fleet::{Body, Inner};
use crate::pace::until;
use crate::state::{Key, State};

struct Stream {
    fleet: Weak<Inner>,
    key: Key,
    run: Instance,
    cuts: u64,
    news: watch::Receiver<u64>,
    /// When the next heartbeat is due.
    beat: Instant,
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
    let (run, cuts, news) = {
        let state = inner.state();
        let run = state.run(key).ok_or_else(|| refused("connection refused"))?;
        let extra = state.members.get(key).ok_or_else(|| refused("connection refused"))?;
        (run, extra.cuts, extra.news.subscribe())
    };
    let fleet = Arc::downgrade(inner);
    let stream = Stream { fleet, key: key.clone(), run, cuts, news, beat: Instant::now(), begun: false };
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
            if self.begun {
                let ended = tokio::select! {
                    biased;
                    changed = self.news.changed() => changed.is_err(),
                    () = until(self.beat) => false,
                };
                if ended {
                    return Err(broken("the agents are gone"));
                }
            }
            self.begun = true;
            self.beat = Instant::now() + HEARTBEAT;
            let Some(inner) = self.fleet.upgrade() else { return Err(broken("the agents are gone")) };
            let next = self.look(&mut inner.state());
            drop(inner);
            match next {
                Next::Say(line) => return Ok(line),
                Next::Silence => {}
                Next::SilenceForEver => std::future::pending::<()>().await,
                Next::End(error) => return Err(error),
            }
        }
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
        match state.line(&self.key, 0).map(|line| serde_json::to_vec(&line)) {
            Some(Ok(text)) => {
                let mut line = BytesMut::from(text.as_slice());
                line.put_u8(b'\n');
                Next::Say(line.freeze())
            }
            Some(Err(error)) => Next::End(io::Error::other(error)),
            None => Next::End(broken("connection reset")),
        }
    }
}
