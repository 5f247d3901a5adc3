//! How long the operator waits for an agent.

use std::time::Duration;

use muster_protocol::{HEARTBEAT, MISSED_HEARTBEATS};

/// For a connection, and then for its TLS: a round trip or three. A host that is gone answers never.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How many TLS handshakes this process has under way. Each takes a millisecond or two of a processor: thousands at once, as
/// when an operator starts or a zone returns, would make each other so late that none is done within its limit. Enough that
/// dozens of agents that hang in theirs keep nobody waiting.
pub const MAX_HANDSHAKES: usize = 256;
/// How long a connection waits for its turn: the agent hangs up on one that says nothing for 5 s.
pub const HANDSHAKE_TURN: Duration = Duration::from_secs(4);
/// For a report: what the agent knows already.
pub const REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// For a new epoch: one fsync on a disk that may be busy.
pub const EPOCH_TIMEOUT: Duration = Duration::from_secs(10);
/// For a command. Some take longer (a `leave` may move all data); what became of those is in a later report, or in the
/// answer to the very same command.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a stream may say nothing.
pub const SILENCE: Duration = HEARTBEAT.saturating_mul(MISSED_HEARTBEATS);

/// The pause before the second try to connect; each further one is twice as long.
pub const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two tries: so long a member that has returned may go unheard.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a stream has to live before the next pause is the first again: one that breaks at once, again and again, is no
/// success.
pub const STEADY: Duration = Duration::from_secs(2);

/// The waits, for those who need others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a report.
    pub report: Duration,
    /// For a new epoch.
    pub epoch: Duration,
    /// For a command.
    pub command: Duration,
    /// How long a stream may say nothing.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { report: REPORT_TIMEOUT, epoch: EPOCH_TIMEOUT, command: COMMAND_TIMEOUT, silence: SILENCE }
    }
}
