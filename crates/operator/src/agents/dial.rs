//! The way to an agent: HTTP requests to one peer, over whatever there is.

use std::fmt;
use std::io;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use muster_protocol::AGENT_PORT;

use super::tls::Tls;

/// The body of an answer, which may be a stream without end.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;
/// An answer on its way.
pub type Dialling = BoxFuture<'static, Result<Response<Body>, DialError>>;

/// An agent, and how it is known and reached.
#[derive(Clone)]
pub struct Peer {
    /// The cluster that it must name.
    pub cluster: String,
    /// The member that it must name.
    pub member: String,
    /// `host[:port]`.
    pub address: String,
    /// By what both sides know each other; none only where there is no socket.
    pub tls: Option<Tls>,
}

impl Peer {
    /// `host:port`, with the agents' port where the address names none.
    pub fn authority(&self) -> String {
        let address = self.address.as_str();
        let after_brackets = address.rsplit_once(']').map_or(address, |(_, rest)| rest);
        let bare_v6 = !address.starts_with('[') && address.matches(':').count() > 1;
        if bare_v6 {
            format!("[{address}]:{AGENT_PORT}")
        } else if after_brackets.contains(':') {
            address.to_owned()
        } else {
            format!("{address}:{AGENT_PORT}")
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} at {}", self.cluster, self.member, self.authority())
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The request was never sent.
    #[error("{0}")]
    NotSent(String),
    /// It was sent, or part of it; whether it arrived is not known.
    #[error("{0}")]
    Broken(String),
}

/// Sends requests to agents.
pub trait Dial: Send + Sync {
    /// Sends this request, whose address is that of the peer, and waits for the head of the answer.
    fn dial(&self, peer: &Peer, request: Request<Full<Bytes>>) -> Dialling;
}

/// What answers in process, without a socket. It finds the agent by the address in the request. An error of the kind
/// `ConnectionRefused` says that nothing was sent.
impl<F> Dial for F
where
    F: Fn(Request<Full<Bytes>>) -> BoxFuture<'static, io::Result<Response<Body>>> + Send + Sync,
{
    fn dial(&self, _: &Peer, request: Request<Full<Bytes>>) -> Dialling {
        let answer = self(request);
        Box::pin(async move {
            answer.await.map_err(|error| match error.kind() {
                io::ErrorKind::ConnectionRefused => DialError::NotSent(error.to_string()),
                _ => DialError::Broken(error.to_string()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_port_gets_the_agents() {
        for (address, authority) in [
            ("db-1", "db-1:7443"),
            ("db-1.example.org:9000", "db-1.example.org:9000"),
            ("10.0.0.1", "10.0.0.1:7443"),
            ("::1", "[::1]:7443"),
            ("[::1]", "[::1]:7443"),
            ("[::1]:9000", "[::1]:9000"),
        ] {
            let peer = Peer { cluster: "c".into(), member: "m".into(), address: address.into(), tls: None };
            assert_eq!(peer.authority(), authority);
        }
    }
}
