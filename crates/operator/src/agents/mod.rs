//! How the operator speaks with agents: one request at a time ([`Agent`]), and a stream from each ([`watch()`]).
//!
//! ```text
//! Agent / watch → Dial → TLS socket (or, in tests, in process) → the agent
//! ```
//!
//! Nothing here decides. What an agent says is handed on when it is known to be of the member that was asked; what
//! may or may not have happened is said so.

pub mod call;
pub mod dial;
pub mod events;
pub mod limits;
mod lines;
pub mod tls;
pub mod watch;

pub use self::call::{Agent, CallError};
pub use self::dial::{Dial, DialError, Peer};
pub use self::events::{Event, Events, News};
pub use self::limits::Limits;
pub use self::tls::TlsDial;
pub use self::watch::{Lost, Watch, watch};
