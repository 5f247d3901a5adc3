//! The number of a command, and the terms that commands start.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of one command: the leader's epoch, then a counter within that leader's process.
///
/// Stamps are compared in that order, so nothing an older leader sent can pass for newer than what the present one
/// sent. Rosters are versioned by the stamp of the command that made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The leader's epoch, as written in its Lease.
    pub epoch: u64,
    /// Grows with every command of that leader's process.
    pub n: u64,
}

impl Stamp {
    /// The stamp `n` of `epoch`.
    pub const fn new(epoch: u64, n: u64) -> Self {
        Self { epoch, n }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.n)
    }
}

/// A reign: every seeding and every promotion starts one.
///
/// A commanded term is the stamp of its command. A term that an agent had to make itself, because it found its
/// application primary without a command, is the last stamp that agent obeyed plus the member's id: newer than
/// anything that member did on command, and equal to nothing that another member has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Term {
    /// The command that started it, or the last one obeyed before it.
    pub stamp: Stamp,
    /// 0 when commanded, else the id of the member whose agent made it.
    pub maker: u32,
}

impl Term {
    /// The term that the command with this stamp starts.
    pub const fn commanded(stamp: Stamp) -> Self {
        Self { stamp, maker: 0 }
    }

    /// The term that the agent of the member with this id makes after having obeyed `last`.
    pub const fn self_made(last: Stamp, id: u32) -> Self {
        Self { stamp: last, maker: id }
    }

    /// Whether Muster commanded this term.
    pub const fn is_commanded(self) -> bool {
        self.maker == 0
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_commanded() {
            write!(f, "{}", self.stamp)
        } else {
            write!(f, "{}+{}", self.stamp, self.maker)
        }
    }
}

impl From<Term> for String {
    fn from(term: Term) -> Self {
        term.to_string()
    }
}

impl TryFrom<String> for Term {
    type Error = NotATerm;

    fn try_from(text: String) -> Result<Self, NotATerm> {
        text.parse()
    }
}

/// A text that is not a term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a term: expected <epoch>.<n>, or <epoch>.<n>+<member id>")]
pub struct NotATerm(String);

impl FromStr for Term {
    type Err = NotATerm;

    fn from_str(text: &str) -> Result<Self, NotATerm> {
        let parse = || {
            let (stamp, maker) = match text.split_once('+') {
                Some((stamp, maker)) => (stamp, maker.parse::<u32>().ok().filter(|&id| id > 0)?),
                None => (text, 0),
            };
            let (epoch, n) = stamp.split_once('.')?;
            Some(Self { stamp: Stamp::new(epoch.parse().ok()?, n.parse().ok()?), maker })
        };
        parse().ok_or_else(|| NotATerm(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_is_compared_before_number() {
        assert!(Stamp::new(2, 1) > Stamp::new(1, 9));
        assert!(Stamp::new(2, 2) > Stamp::new(2, 1));
    }

    #[test]
    fn a_self_made_term_is_newer_than_the_command_before_it_and_older_than_the_next() {
        let own = Term::self_made(Stamp::new(7, 3), 2);
        assert!(own > Term::commanded(Stamp::new(7, 3)));
        assert!(own < Term::commanded(Stamp::new(7, 4)));
        assert_ne!(own, Term::self_made(Stamp::new(7, 3), 1));
    }

    #[test]
    fn a_term_reads_back_as_it_is_written() {
        for term in [Term::commanded(Stamp::new(1_767_225_600, 12)), Term::self_made(Stamp::new(5, 0), 3)] {
            assert_eq!(term.to_string().parse(), Ok(term));
        }
        for bad in ["", "5", "5.", ".5", "5.1+", "5.1+0", "5.1+x", "-1.2"] {
            assert!(bad.parse::<Term>().is_err(), "{bad}");
        }
    }
}
