//! Where a test makes the server fail: before a request, after its effect, or in the middle of a watch.

use std::time::Duration;

use crate::error::ApiError;
use crate::watch::Event;

/// What a request is about, for whoever decides what goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The how many-th request to this server it is, from 1.
    pub number: u64,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// `group/plural`.
    pub resource: String,
    /// The namespace; none for all of them, or for what has none.
    pub namespace: Option<String>,
    /// The name; none for a collection.
    pub name: Option<String>,
    /// For example `status`.
    pub subresource: Option<String>,
    /// Who sends it.
    pub user_agent: String,
}

impl Seen {
    /// Whether it changes something.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, "get" | "list" | "watch")
    }
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It is served later.
    Delay(Duration),
    /// It is refused and has no effect.
    Before(ApiError),
    /// It takes effect, and is answered with this nevertheless.
    After(ApiError),
    /// The connection breaks, and it has no effect.
    LostBefore,
    /// It takes effect, and the connection breaks before the answer.
    LostAfter,
    /// Someone else changed the object in between.
    Conflict,
    /// A read is answered from a past: so many changes ago, as far as they are kept. A watch that begins with what is
    /// there begins with what was there then, and catches up.
    Stale(u64),
}

/// What happens to an event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventFault {
    /// Nothing.
    None,
    /// It is never told.
    Drop,
    /// It, and with it all that follow, is told later.
    Delay(Duration),
    /// The watch ends before it.
    End,
    /// The connection breaks before it.
    Lost,
    /// The watch ends with 410: the client has to list again.
    Expire,
}

/// Decides what goes wrong.
pub trait Faults: Send + Sync {
    /// What happens to this request.
    fn request(&self, request: &Seen) -> Fault {
        let _ = request;
        Fault::None
    }

    /// What happens to this event.
    fn event(&self, watch: &Seen, event: &Event) -> EventFault {
        let _ = (watch, event);
        EventFault::None
    }
}

/// Nothing goes wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}

/// What a client sees of a broken connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection to the API server was lost")]
pub struct ConnectionLost;
