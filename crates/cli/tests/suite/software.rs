//! The software of which a cluster is made: what the scenarios have to know of it, so that the same ones run with each.

use serde_json::{Value, json};

/// Which software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each target has one of them")]
pub(crate) enum Software {
    /// Muster's own log. One leads, and what it acknowledged is on the disks of most.
    Ledger,
    /// `MariaDB` Galera. All take writes, and what one acknowledged is on its own disk and in the others' memory.
    Galera,
}

/// A version of Galera that only the tests have: the same software under another name, so that there is something to roll to.
pub(crate) const NEXT_GALERA: &str = "10.11-next";

impl Software {
    /// The engine's name.
    pub(crate) const fn engine(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Galera => "galera",
        }
    }

    /// The version that clusters begin with, and the one that they are rolled to.
    pub(crate) const fn versions(self) -> [&'static str; 2] {
        match self {
            Self::Ledger => ["1.0", "1.1"],
            Self::Galera => ["10.11", NEXT_GALERA],
        }
    }

    /// What clusters begin with: members of Galera as small as they can be, because many run on one machine.
    pub(crate) fn parameters(self) -> Value {
        match self {
            Self::Ledger => json!({}),
            Self::Galera => {
                json!({"gcache_size": "16M", "innodb_buffer_pool_size": "32M", "innodb_log_file_size": "16M"})
            }
        }
    }

    /// A parameter that changes nothing of what the scenarios see.
    pub(crate) const fn parameter(self) -> &'static str {
        match self {
            Self::Ledger => "append_timeout_seconds",
            Self::Galera => "long_query_time",
        }
    }

    /// How large volumes are.
    pub(crate) const fn capacity(self) -> &'static str {
        match self {
            Self::Ledger => "64Mi",
            Self::Galera => "512Mi",
        }
    }

    /// Whether this command is the server itself.
    pub(crate) fn is_server(self, words: &[&[u8]]) -> bool {
        let begins = |name: &[u8]| words.first().is_some_and(|word| word.ends_with(name));
        match self {
            Self::Ledger => {
                begins(b"muster-ledger")
                    && words.get(1).is_some_and(|word| matches!(*word, b"seed" | b"primary" | b"secondary"))
            }
            // The same program also looks how far data goes; then it serves nobody.
            Self::Galera => begins(b"mariadbd") && words.iter().any(|word| word.starts_with(b"--read-only=")),
        }
    }
}
