//! How a command fails: what could not be done to which object, what to do next, and the exit code that scripts read.

use std::time::Duration;

use crate::print::age;

/// Something went wrong; the message says what.
pub const EXIT_ERROR: u8 = 1;
/// The command line was wrong. What clap uses.
pub const EXIT_USAGE: u8 = 2;
/// What was waited for did not come in time; it may still come.
pub const EXIT_TIMEOUT: u8 = 3;
/// The answer is no: a request was refused or failed, a manifest is not valid, what is waited for cannot come any more.
pub const EXIT_NO: u8 = 4;

/// For the help of every command.
pub const EXIT_CODES: &str = "Exit codes: 0 done, or it is so; 1 an error; 2 wrong usage; 3 not in time, it may still come; \
    4 the answer is no (refused, failed, not valid, not confirmed, or it cannot come any more).";

/// Why a command did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// An object that was named does not exist.
    #[error("{object} does not exist; {next}")]
    NotFound {
        /// Which.
        object: String,
        /// How to find the right one.
        next: String,
    },
    /// The server does not know our kinds.
    #[error(
        "this server does not know {kind}: install Muster's definitions (muster crds | kubectl apply --server-side -f -)"
    )]
    NoSuchKind {
        /// The kind.
        kind: String,
    },
    /// The person has no right to do it.
    #[error("you may not {doing}: {why}; ask who administers this cluster, or use another --context")]
    Forbidden {
        /// What was to be done.
        doing: String,
        /// What the server says.
        why: String,
    },
    /// No answer came.
    #[error(
        "cannot {doing}: no connection to {server}: {why}; check that it runs and that the context is the right one (kubectl config current-context)"
    )]
    Unreachable {
        /// What was to be done.
        doing: String,
        /// Its address.
        server: String,
        /// Why.
        why: String,
    },
    /// A call took too long.
    #[error("cannot {doing}: no answer within {}; try again, or with a longer --request-timeout", age::short(*limit))]
    TooSlow {
        /// What was to be done.
        doing: String,
        /// How long was waited.
        limit: Duration,
    },
    /// A call was answered with an error.
    #[error("cannot {doing}: {why}")]
    Call {
        /// What was to be done.
        doing: String,
        /// What the server says.
        why: String,
    },
    /// The kubeconfig is of no use.
    #[error("cannot find out which cluster is meant: {0}; check --kubeconfig, KUBECONFIG and --context")]
    Configuration(String),
    /// A file cannot be read.
    #[error("cannot read {file}: {why}")]
    File {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
    /// The command line asks for what makes no sense.
    #[error("{0}")]
    Usage(String),
    /// It did not come in time.
    #[error("{0}")]
    Timeout(String),
    /// The answer is no.
    #[error("{0}")]
    No(String),
}

impl Failure {
    /// How the program ends.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => EXIT_USAGE,
            Self::Timeout(_) => EXIT_TIMEOUT,
            Self::No(_) => EXIT_NO,
            _ => EXIT_ERROR,
        }
    }
}
