//! One connection: one request, one answer.

use std::io;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::answer::Body;
use super::timed::Timed;
use super::{HEAD, UNREAD};

/// The largest head of a request: ours have a few lines.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Serves the request of this connection. What goes wrong with it is its client's to see.
pub(super) async fn serve<S, F>(stream: S, respond: impl Fn(Request<Incoming>) -> F)
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = io::Result<Response<Body>>>,
{
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD_BYTES).keep_alive(false);
    let connection = server.serve_connection(TokioIo::new(Timed::new(stream, UNREAD)), service_fn(respond));
    let _ = connection.await;
}
