//! Accepts connections, as many as there may be, until it is told to stop.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::activity::Activity;
use super::certificates::{Authority, SERVING_SPARE_DAYS, after_days};
use super::connection;
use super::gate::{Gate, Served, stopped};
use super::limits::{Limits, Turns};
use super::{CertificateError, Identity, validity};

/// After the machine refused a connection (no more files, no memory): time for some to end.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// The protocols offered, the better one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A server that runs. Dropped, it ends at once; [`Running::stop`] lets requests in work end.
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients call it.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Ends it: nothing new is taken, watches are ended, what is in work is finished within a bound.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // The only error is that it has ended in another way, which is as good.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Serves this service on this socket.
pub fn start<S: Served>(
    listener: std::net::TcpListener,
    identity: &Identity,
    limits: Limits,
    service: S,
) -> Result<Running, StartError> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    let tls = TlsAcceptor::from(Arc::new(tls(Arc::clone(&identity.authority))?));
    let (stop, stopping) = watch::channel(false);
    let turns = Turns::new(&limits);
    let gate = Arc::new(Gate { service, token: identity.token.clone(), limits, turns, stop: stopping });
    let accepting = tokio::spawn(accept(listener, tls, gate));
    Ok(Running { address, stop, accepting })
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The socket is of no use.
    #[error("cannot listen: {0}")]
    Socket(#[from] io::Error),
    /// There is no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

fn tls(authority: Arc<Authority>) -> Result<ServerConfig, StartError> {
    let now = Timestamp::now();
    let serving = Serving { current: Mutex::new(authority.issue(now)?), authority };
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(serving));
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

/// The certificate served with, made anew before it ends.
struct Serving {
    authority: Arc<Authority>,
    current: Mutex<Arc<CertifiedKey>>,
}

impl Serving {
    fn certificate(&self, now: Timestamp) -> Arc<CertifiedKey> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = current.cert.first().and_then(|certificate| validity::ends(certificate));
        let soon = after_days(now, SERVING_SPARE_DAYS).ok();
        // If none can be made, the old one may still do.
        if ends <= soon
            && let Ok(renewed) = self.authority.issue(now)
        {
            *current = renewed;
        }
        Arc::clone(&current)
    }
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Serving")
    }
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.certificate(Timestamp::now()))
    }
}

async fn accept<S: Served>(listener: TcpListener, tls: TlsAcceptor, gate: Arc<Gate<S>>) {
    let mut stop = pin!(stopped(gate.stop.clone()));
    let mut tasks = JoinSet::new();
    let open = Open::new(gate.limits.connections);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = tasks.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => admit(&open, &mut tasks, socket, &tls, &gate),
                Err(_) => tokio::time::sleep(REFUSED_PAUSE).await,
            },
        }
    }
    drop(listener);
    let ended = async { while tasks.join_next().await.is_some() {} };
    // What is still in work after that is cut off when the set is dropped.
    let _ = tokio::time::timeout(gate.limits.stop_within, ended).await;
}

fn admit<S: Served>(
    open: &Arc<Open>,
    tasks: &mut JoinSet<()>,
    socket: TcpStream,
    tls: &TlsAcceptor,
    gate: &Arc<Gate<S>>,
) {
    let activity = Activity::new();
    let Some(place) = open.enter(&activity) else { return };
    let (tls, gate) = (tls.clone(), Arc::clone(gate));
    tasks.spawn(async move {
        connection::serve(gate, tls, socket, activity).await;
        drop(place);
    });
}

/// The connections that are open, oldest first.
struct Open {
    most: usize,
    places: Mutex<(u64, BTreeMap<u64, Arc<Activity>>)>,
}

impl Open {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, places: Mutex::new((0, BTreeMap::new())) })
    }

    /// A place for a connection. When all are taken, the oldest one on which nobody has shown the token yet makes room; if
    /// there is none such, the newcomer is turned away.
    fn enter(self: &Arc<Self>, activity: &Arc<Activity>) -> Option<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, open) = &mut *places;
        if open.len() >= self.most {
            let stranger = open.iter().find(|(_, activity)| !activity.is_known()).map(|(id, _)| *id)?;
            open.remove(&stranger)?.evicted.notify_one();
        }
        let id = *next;
        *next += 1;
        open.insert(id, Arc::clone(activity));
        Some(Place { open: Arc::clone(self), id })
    }
}

/// A place that is given back when the connection is over.
struct Place {
    open: Arc<Open>,
    id: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.places.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_house_shows_strangers_out_and_nobody_else() {
        let open = Open::new(2);
        let (known, stranger, newcomer) = (Activity::new(), Activity::new(), Activity::new());
        let _watch = known.begin(None);
        let _first = open.enter(&known).unwrap();
        let second = open.enter(&stranger).unwrap();
        let _third = open.enter(&newcomer).unwrap();
        stranger.evicted.notified().await;
        let _watch = newcomer.begin(None);
        assert!(open.enter(&Activity::new()).is_none(), "all who are there have shown the token");
        drop(second);
        assert!(open.enter(&Activity::new()).is_none(), "its place was taken already");
    }

    #[test]
    fn a_certificate_that_ends_soon_is_made_anew() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let authority = Arc::new(Authority::new(now).unwrap());
        let serving = Serving { current: Mutex::new(authority.issue(now).unwrap()), authority };
        let first = serving.certificate(now);
        assert!(Arc::ptr_eq(&first, &serving.certificate(after_days(now, 300).unwrap())));
        assert!(!Arc::ptr_eq(&first, &serving.certificate(after_days(now, 340).unwrap())));
    }
}
