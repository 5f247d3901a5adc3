//! The socket: few connections, short waits, and an end that lets what is in work finish.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::answer::answer;
use super::health::Health;
use crate::metrics::Metrics;

/// The most connections at a time: a kubelet, a Prometheus or two, and people.
const MAX_CONNECTIONS: usize = 64;
/// How long a client may take to ask, and a kept connection may be idle.
const ASK_WITHIN: Duration = Duration::from_secs(30);
/// How long one connection may last: what takes longer to read its answer has gone away.
const LASTS: Duration = Duration::from_secs(600);
/// The most bytes of a request's head: there is nothing long to ask.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// How long answers in work may take once the operator stops.
const STOP_WITHIN: Duration = Duration::from_secs(3);
/// After the machine refused a connection (no more files, no memory): time for some to end.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {error}")]
pub struct ServeError {
    /// Where.
    pub address: SocketAddr,
    /// Why.
    pub error: io::Error,
}

/// A listener that runs. Dropped, it ends at once; [`Running::stop`] lets answers in work end.
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no new connections, and ends when the last answer is given, within a bound.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // The only error is that it has ended in another way, which is as good.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Listens here.
pub async fn start(address: SocketAddr, metrics: Metrics, health: Health) -> Result<Running, ServeError> {
    let failed = |error| ServeError { address, error };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(accept(listener, metrics, health, stopping));
    Ok(Running { address, stop, task })
}

async fn accept(listener: TcpListener, metrics: Metrics, health: Health, mut stop: watch::Receiver<bool>) {
    let turns = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    while let Some(accepted) = next(&listener, &turns, &mut stop).await {
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((socket, turn)) => {
                let (metrics, health, stop) = (metrics.clone(), health.clone(), stop.clone());
                connections.spawn(async move {
                    serve(socket, metrics, health, stop).await;
                    drop(turn);
                });
            }
            Err(_) => tokio::time::sleep(REFUSED_PAUSE).await,
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    // Those that take longer end with the set.
    let _ = tokio::time::timeout(STOP_WITHIN, ended).await;
}

/// The next connection, once there is room for it; none when it is time to stop.
async fn next(
    listener: &TcpListener,
    turns: &Arc<Semaphore>,
    stop: &mut watch::Receiver<bool>,
) -> Option<io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)>> {
    let accepting = async {
        let turn = Arc::clone(turns).acquire_owned().await.map_err(io::Error::other)?;
        let (socket, _) = listener.accept().await?;
        Ok((socket, turn))
    };
    tokio::select! {
        _ = stop.wait_for(|stop| *stop) => None,
        accepted = accepting => Some(accepted),
    }
}

async fn serve(socket: TcpStream, metrics: Metrics, health: Health, mut stop: watch::Receiver<bool>) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let answer = answer(request.method(), request.uri().path(), &metrics, &health);
        async move { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASK_WITHIN)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), service);
    let mut connection = pin!(connection);
    let whole = async {
        tokio::select! {
            // What goes wrong with a connection is its client's to see.
            _ = connection.as_mut() => return,
            _ = stop.wait_for(|stop| *stop) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.as_mut().await;
    };
    let _ = tokio::time::timeout(LASTS, whole).await;
}
