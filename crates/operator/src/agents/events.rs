//! What streams say, kept for one slow reader: of each stream the newest line, and whether it was lost around it.
//!
//! However slow the reader is, a stream holds no more than two entries here, so nothing has to be dropped by chance and
//! no agent is kept from being read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use muster_protocol::Line;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::watch::Lost;

/// The most that is kept of one stream: a line, and the loss before or after it.
const KEPT: usize = 2;

/// Something a stream has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose stream.
    pub member: String,
    /// What it says.
    pub news: News,
}

/// What a stream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The agent said this, which is also a sign of life if nothing in it is new.
    Line(Box<Line>),
    /// The agent is not heard any more, or still not.
    Lost(Lost),
}

/// The news of many streams, for one reader.
#[derive(Clone, Default)]
pub struct Events(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    came: Notify,
}

#[derive(Default)]
struct State {
    last: u64,
    streams: BTreeMap<u64, Stream>,
    /// The streams with news, each once, the longest waiting first.
    waiting: VecDeque<u64>,
}

struct Stream {
    member: String,
    news: VecDeque<News>,
    /// Whether the last thing it said was a line.
    alive: bool,
    /// When it said that its last line still holds.
    confirmed: Option<Instant>,
}

impl Events {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next event; waits for one. Dropped while it waits, it has taken nothing.
    pub async fn next(&self) -> Event {
        loop {
            let came = self.0.came.notified();
            if let Some(event) = self.try_next() {
                return event;
            }
            came.await;
        }
    }

    /// The next event, if there is one.
    pub fn try_next(&self) -> Option<Event> {
        let mut state = self.state();
        while let Some(id) = state.waiting.pop_front() {
            let Some(stream) = state.streams.get_mut(&id) else { continue };
            let Some(news) = stream.news.pop_front() else { continue };
            let (member, more) = (stream.member.clone(), !stream.news.is_empty());
            if more {
                state.waiting.push_back(id);
            }
            return Some(Event { member, news });
        }
        None
    }

    /// How many streams there are, and how many of them are alive.
    pub fn streams(&self) -> (usize, usize) {
        let state = self.state();
        (state.streams.len(), state.streams.values().filter(|stream| stream.alive).count())
    }

    pub(super) fn open(&self, member: &str) -> u64 {
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        let stream =
            Stream { member: member.to_owned(), news: VecDeque::new(), alive: false, confirmed: None };
        state.streams.insert(id, stream);
        id
    }

    /// Forgets a stream, and what it said that nobody has read.
    pub(super) fn close(&self, id: u64) {
        let mut state = self.state();
        state.streams.remove(&id);
        state.waiting.retain(|waiting| *waiting != id);
    }

    /// A stream says that all is as its last line said. Nobody needs to be woken for that.
    pub(super) fn confirm(&self, id: u64) {
        let mut state = self.state();
        if let Some(stream) = state.streams.get_mut(&id).filter(|stream| stream.alive) {
            stream.confirmed = Some(Instant::now());
        }
    }

    /// Who said when that the last line still holds, after that line was said.
    pub fn confirmed(&self) -> Vec<(String, Instant)> {
        let state = self.state();
        let streams = state.streams.values();
        streams.filter_map(|stream| Some((stream.member.clone(), stream.confirmed?))).collect()
    }

    pub(super) fn push(&self, id: u64, news: News) {
        let mut state = self.state();
        let Some(stream) = state.streams.get_mut(&id) else { return };
        let is_line = matches!(news, News::Line(_));
        (stream.alive, stream.confirmed) = (is_line, None);
        let idle = stream.news.is_empty();
        if stream.news.back().is_some_and(|last| matches!(last, News::Line(_)) == is_line) {
            stream.news.pop_back();
        }
        stream.news.push_back(news);
        if stream.news.len() > KEPT {
            stream.news.pop_front();
        }
        if idle {
            state.waiting.push_back(id);
        }
        drop(state);
        self.0.came.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
