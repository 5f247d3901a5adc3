//! What can go wrong with a control plane for tests.

use muster_test_assets::Missing;
use std::io;

/// Why a control plane did not start, or could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The binaries are not there.
    #[error(transparent)]
    Assets(#[from] Missing),
    /// The machine refused something.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the machine said.
        source: io::Error,
    },
    /// A server ended while it was starting.
    #[error("{server} ended while it was starting; the end of its log:\n{log}")]
    Ended {
        /// Which one.
        server: &'static str,
        /// The last lines of its log.
        log: String,
    },
    /// A server was not ready in time.
    #[error("{server} was not ready within {seconds} s ({answer}); the end of its log:\n{log}")]
    NotReady {
        /// Which one.
        server: &'static str,
        /// How long it was waited for.
        seconds: u64,
        /// The last answer to the question whether it is ready.
        answer: String,
        /// The last lines of its log.
        log: String,
    },
    /// Muster's own kinds could not be installed.
    #[error("cannot install deploy/crds: {0}")]
    Definitions(String),
    /// The kubeconfig could not be read back.
    #[error("cannot use the kubeconfig of the test control plane: {0}")]
    Kubeconfig(#[source] Box<kube::config::KubeconfigError>),
    /// No client could be made.
    #[error("cannot make a client for the test control plane: {0}")]
    Client(#[source] Box<kube::Error>),
}

impl Error {
    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    pub(crate) fn kubeconfig(source: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig(Box::new(source))
    }

    pub(crate) fn client(source: kube::Error) -> Self {
        Self::Client(Box::new(source))
    }

    /// Somebody else took the port between its choice and its use: worth another try with another port.
    pub(crate) fn is_port_taken(&self) -> bool {
        matches!(self, Self::Ended { log, .. } if log.contains("address already in use"))
    }
}
