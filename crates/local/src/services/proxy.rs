//! One proxy: it listens in one place and leads each connection to an endpoint that is ready.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::table::Entry;

/// How many connections one place serves at once; more wait to be accepted. Each holds two sockets.
const MAX_CONNECTIONS: usize = 1024;
/// How long an endpoint on this machine may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How many clients are remembered by one place: beyond that all are forgotten, and stay where they go next.
const MAX_STICKY: usize = 4096;
/// When a connection cannot be accepted, for want of files, how long to wait before the next.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves one place until dropped, with all its connections.
pub(super) async fn serve(listener: TcpListener, entry: watch::Receiver<Entry>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut choice = Choice::default();
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let (client, from) = loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => break accepted,
                    Err(error) => {
                        tracing::debug!(%error, "a connection was not accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        };
        let order = choice.order(&entry.borrow(), from.ip(), Instant::now());
        let entry = entry.clone();
        connections.spawn(async move {
            lead(client, order, entry).await;
            drop(place);
        });
    }
}

/// Which endpoint is next.
#[derive(Default)]
struct Choice {
    next: usize,
    sticky: HashMap<IpAddr, (SocketAddr, Instant)>,
}

impl Choice {
    /// The endpoints in the order in which they are tried for a client.
    fn order(&mut self, entry: &Entry, client: IpAddr, now: Instant) -> Vec<SocketAddr> {
        let mut order: Vec<SocketAddr> = entry.endpoints.iter().copied().collect();
        if order.is_empty() {
            return order;
        }
        let first = self.next % order.len();
        self.next = self.next.wrapping_add(1);
        order.rotate_left(first);
        if let Some(stay) = entry.sticky {
            let known = self.sticky.get(&client).filter(|(_, since)| now - *since < stay);
            if let Some(at) = known.and_then(|(known, _)| order.iter().position(|one| one == known)) {
                order.rotate_left(at);
            }
            if self.sticky.len() >= MAX_STICKY {
                self.sticky.clear();
            }
            self.sticky.insert(client, (order[0], now));
        }
        order
    }
}

/// Leads a connection to the first endpoint that accepts it, until either side ends it or the endpoint goes away.
async fn lead(mut client: TcpStream, order: Vec<SocketAddr>, mut entry: watch::Receiver<Entry>) {
    for endpoint in order {
        let Ok(Ok(mut server)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(endpoint)).await else {
            continue;
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let is_gone = entry.wait_for(|entry| !entry.endpoints.contains(&endpoint));
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            _ = is_gone => {}
        }
        // Nobody may take what was cut off for a whole answer.
        let _ = (client.set_zero_linger(), server.set_zero_linger());
        return;
    }
    let _ = client.set_zero_linger();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sticky: Option<Duration>) -> Entry {
        let endpoints = ["127.77.0.1:1", "127.77.0.2:1", "127.77.0.3:1"].map(|it| it.parse().unwrap());
        Entry { service: Default::default(), sticky, endpoints: endpoints.into() }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_go_round_and_clients_stay_if_asked() {
        let now = Instant::now();
        let client = |last: u8| IpAddr::from([127, 0, 0, last]);
        let mut choice = Choice::default();
        let mut first = |entry: &Entry, last: u8, at: Instant| choice.order(entry, client(last), at)[0].ip();
        let round: Vec<_> = (0..4).map(|_| first(&entry(None), 1, now).to_string()).collect();
        assert_eq!(round, ["127.77.0.1", "127.77.0.2", "127.77.0.3", "127.77.0.1"]);
        let stay = entry(Some(Duration::from_secs(10)));
        let (one, other) = (first(&stay, 1, now), first(&stay, 2, now));
        assert_ne!(one, other);
        let later = now + Duration::from_secs(9);
        assert_eq!((first(&stay, 1, later), first(&stay, 2, later)), (one, other));
        let mut without = stay.clone();
        without.endpoints.retain(|endpoint| endpoint.ip() != one);
        assert_ne!(first(&without, 1, later), one);
    }
}
