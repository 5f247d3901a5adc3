//! The API server on a port: TLS, the token, and bounds on everything a client can do before and after it has shown it.
//!
//! ```text
//! socket → listener → connection (TLS, HTTP/1.1 or HTTP/2) → gate (token, user, turn, body) → the service
//! ```

mod activity;
mod answer;
mod body;
mod certificates;
mod connection;
pub mod files;
mod gate;
pub mod kubeconfig;
pub mod limits;
mod listener;
#[cfg(test)]
mod scratch;
mod stream;
mod token;
mod user;
mod validity;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use self::certificates::CertificateError;
pub use self::gate::Served;
pub use self::limits::Limits;
pub use self::listener::{Running, StartError, start};
pub use self::token::TokenError;

use self::certificates::Authority;
use self::token::Token;

/// Why a server has no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// It has no certificates.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// It has no token.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// By what clients know the server, and the server its administrator.
#[derive(Clone)]
pub struct Identity {
    authority: Arc<Authority>,
    token: Token,
}

impl Identity {
    /// A new one, in memory only.
    pub fn in_memory() -> Result<Self, IdentityError> {
        Ok(Self { authority: Arc::new(Authority::new(Timestamp::now())?), token: Token::random()? })
    }

    /// The one kept in this directory, made if there is none: `ca.crt`, `ca.key` and `token`.
    pub fn kept_in(directory: &Path) -> Result<Self, IdentityError> {
        let authority = Arc::new(Authority::kept_in(directory, Timestamp::now())?);
        Ok(Self { authority, token: Token::kept_in(&directory.join("token"))? })
    }

    /// The certificate that clients trust (PEM).
    pub fn authority(&self) -> &str {
        self.authority.pem()
    }

    /// The administrator's token.
    pub fn token(&self) -> &str {
        self.token.word()
    }
}
