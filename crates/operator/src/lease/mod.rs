//! Who leads: leader election by a Lease that is compared and swapped, and the epoch under which the leader commands.
//!
//! Why there are never two leaders at once, whatever clocks, networks and people do:
//!
//! - A leader's mandate ends [`RENEW_DEADLINE`] after it *sent* the last renewal that was answered. [`Authority::now`] looks at the
//!   clock at each question, so that a process that was stopped for a while has no mandate when it goes on.
//! - Another operator takes a held Lease only when it has seen that very version of it for [`LEASE_DURATION`] by its own monotonic clock,
//!   and the compare-and-swap proves that it is still that version. What is sent is seen later than it was sent, so its time begins
//!   later than the leader's and is longer. Nobody compares `renewTime` with a clock; it is there for people.
//! - A Lease that is not there says nothing: its leader may not have noticed yet. Whoever creates it waits for [`LEASE_DURATION`]
//!   before it takes what it created. Only who creates it while its own mandate still lasts need not wait.
//! - A Lease is free at once only if its holder released it after all its work had ended: no holder, and a duration of one second. A person who
//!   only empties `holderIdentity` makes the next leader wait.
//!
//! A Lease is ours when its uid and its holder are those that we wrote. Every taking is a new epoch, also of what is still ours: after a lapsed
//! renewal, a deleted or edited Lease, or an agent that follows a later epoch ([`Authority::outranked`]). Managers follow
//! [`Authority::epochs`]: they stop when it changes, and the next taking waits until they have ([`Work`]) and until all that they sent has ended ([`Act`]).

mod authority;
mod calls;
mod elector;
mod epoch;
mod follow;
mod options;
mod others;
mod record;

pub use authority::{Act, Authority, Mandate, NotLeader, Work};
pub use calls::CallError;
pub use elector::{Elector, Error};
pub use epoch::{Epoch, MAX_EPOCH_LEAD};
pub use options::{
    BadTiming, CALL_TIMEOUT, Identity, LEASE_DURATION, Options, RENEW_DEADLINE, RENEW_PERIOD, STOP_TIMEOUT,
    Timing,
};
pub use others::Others;
