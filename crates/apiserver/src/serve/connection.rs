//! One connection from its first byte to its last.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Verdict};
use super::gate::{Gate, Served, stopped};
use super::limits::{MAX_HEADER_BYTES, MAX_HEADERS, MAX_STREAMS, PING_EVERY, PING_WITHIN};
use super::stream::Stream;

/// The first byte of every TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;
/// What kube-apiserver says to a client that does not speak TLS.
const NOT_TLS: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// Serves a connection until it ends, the server stops, or it has to make room.
pub(super) async fn serve<S: Served>(
    gate: Arc<Gate<S>>,
    tls: TlsAcceptor,
    socket: TcpStream,
    activity: Arc<Activity>,
) {
    let evicted = activity.evicted.notified();
    let served = serve_until_end(gate, tls, socket, Arc::clone(&activity));
    // Nobody is told how a connection ended: the client knows, and strangers would fill the log.
    tokio::select! {
        _ = served => {}
        () = evicted => {}
    }
}

async fn serve_until_end<S: Served>(
    gate: Arc<Gate<S>>,
    tls: TlsAcceptor,
    socket: TcpStream,
    activity: Arc<Activity>,
) -> io::Result<()> {
    // Answers are written whole; waiting for more would delay them.
    socket.set_nodelay(true)?;
    let stalled_for = gate.limits.stalled_for;
    let shake = async {
        let socket = greet(socket).await?;
        tls.accept(Stream::new(socket, stalled_for)).await
    };
    let stream = tokio::select! {
        shaken = timeout(gate.limits.handshake_within, shake) => shaken??,
        () = stopped(gate.stop.clone()) => return Ok(()),
    };
    speak_http(gate, stream, activity).await.map_err(io::Error::other)
}

/// Looks at the first byte, and says what is expected to a client that speaks plain HTTP.
async fn greet(mut socket: TcpStream) -> io::Result<TcpStream> {
    let mut first = [0];
    let peeked = socket.peek(&mut first).await?;
    if peeked == 1 && first[0] == TLS_HANDSHAKE {
        return Ok(socket);
    }
    if first[0].is_ascii_uppercase() {
        socket.write_all(NOT_TLS).await?;
        socket.shutdown().await?;
        // What the client has sent already is taken, lest the answer is lost.
        let mut rest = [0; 4096];
        let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut rest).await;
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "this is not TLS"))
}

async fn speak_http<S, I>(
    gate: Arc<Gate<S>>,
    stream: I,
    activity: Arc<Activity>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>>
where
    S: Served,
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let (gate, activity) = (Arc::clone(&gate), Arc::clone(&activity));
        gate.answer(activity, request)
    });
    let http = builder(gate.limits.idle_for);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let mut stop = pin!(stopped(gate.stop.clone()));
    let mut look = interval(gate.limits.look_every);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut leaving = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => return ended,
            () = &mut stop, if !leaving => {
                leaving = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = look.tick() => match activity.verdict(&gate.limits) {
                Verdict::Fine => {}
                Verdict::Held => return Ok(()),
                Verdict::Unused if leaving => return Ok(()),
                Verdict::Unused => {
                    leaving = true;
                    connection.as_mut().graceful_shutdown();
                }
            },
        }
    }
}

fn builder(idle_for: Duration) -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(idle_for)
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WITHIN)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEADER_BYTES).unwrap_or(u32::MAX));
    http
}
