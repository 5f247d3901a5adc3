//! Places to listen: on the loopback device, to which an address of another network is added if we may.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::control::command::{self, CommandError};

/// The addresses that were added here, and are removed when no Service has them.
static ADDED: Mutex<BTreeSet<IpAddr>> = Mutex::const_new(BTreeSet::new());

/// Why a place cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListenError {
    /// The place is taken, or not ours.
    #[error("cannot listen on {0}: {1}")]
    Refused(SocketAddr, io::Error),
    /// It is outside loopback, and could not be added.
    #[error("the address {0} is not one of this machine and could not be added to its loopback device: {1}")]
    Elsewhere(IpAddr, CommandError),
}

/// Listens in a place.
pub(super) async fn listen(place: SocketAddr) -> Result<TcpListener, ListenError> {
    match TcpListener::bind(place).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && !place.ip().is_loopback() => {
            add(place.ip()).await.map_err(|error| ListenError::Elsewhere(place.ip(), error))?;
            TcpListener::bind(place).await.map_err(|error| ListenError::Refused(place, error))
        }
        Err(error) => Err(ListenError::Refused(place, error)),
    }
}

fn on_loopback(address: IpAddr) -> String {
    let bits = if address.is_ipv4() { 32 } else { 128 };
    format!("{address}/{bits}")
}

/// What the label of an address that was added by a process begins with; its id follows. Addresses of IPv6 have none.
const LABEL: &str = "lo:muster";

async fn add(address: IpAddr) -> Result<(), CommandError> {
    let mut added = ADDED.lock().await;
    let (place, label) = (on_loopback(address), format!("{LABEL}{}", std::process::id()));
    let mut words = vec!["address", "add", &place, "dev", "lo"];
    if address.is_ipv4() && label.len() <= LONGEST_LABEL {
        words.extend(["label", &label]);
    }
    command::run("ip", &words).await?;
    added.insert(address);
    Ok(())
}

/// As many bytes as Linux takes for a label.
const LONGEST_LABEL: usize = 15;

/// Removes the addresses that a process added which was killed before it could remove them.
pub(super) async fn remove_left_behind() {
    let shown = match command::run("ip", &["-oneline", "-4", "address", "show", "dev", "lo"]).await {
        Ok(shown) => shown,
        // Whoever cannot be asked has none of ours.
        Err(CommandError::Missing(_)) => return,
        Err(error) => return tracing::warn!(%error, "the addresses of the loopback device are not known"),
    };
    let lives = |process: u32| std::path::Path::new("/proc").join(process.to_string()).exists();
    for place in left_behind(&shown, lives) {
        // Another that begins now may have removed it.
        let removed = command::run("ip", &["address", "del", place, "dev", "lo"]).await;
        if let Err(error) = removed {
            tracing::debug!(place, %error, "an address that was left behind is not removed");
        }
    }
}

/// The addresses, each with its bits, whose label names a process that does not live.
fn left_behind(shown: &str, lives: impl Fn(u32) -> bool) -> Vec<&str> {
    let split = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours = split.filter_map(|words| {
        let place = *words.iter().skip_while(|word| **word != "inet").nth(1)?;
        let label = words.iter().find_map(|word| word.trim_end_matches('\\').strip_prefix(LABEL))?;
        let process = label.parse().ok()?;
        (!lives(process)).then_some(place)
    });
    ours.collect()
}

/// Removes the addresses that were added and are in use no more.
pub(super) async fn keep_only(used: &BTreeSet<IpAddr>) {
    let mut added = ADDED.lock().await;
    let unused: Vec<_> = added.difference(used).copied().collect();
    for address in unused {
        let removed = command::run("ip", &["address", "del", &on_loopback(address), "dev", "lo"]).await;
        if let Err(error) = removed {
            tracing::warn!(%address, %error, "an address stays on the loopback device");
        }
        added.remove(&address);
    }
}

/// Removes all addresses that were added to the loopback device; at the end.
pub async fn remove_all() {
    keep_only(&BTreeSet::new()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_of_ours_left_is_left_behind() {
        let shown = r"1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
1: lo    inet 10.0.0.1/32 scope global lo\       valid_lft forever preferred_lft forever
1: lo    inet 10.0.0.2/32 scope global lo:muster17\       valid_lft forever preferred_lft forever
1: lo    inet 10.0.0.3/32 scope global lo:muster18\       valid_lft forever preferred_lft forever
1: lo    inet 10.0.0.4/32 scope global lo:musterx\       valid_lft forever preferred_lft forever";
        assert_eq!(left_behind(shown, |process| process == 18), ["10.0.0.2/32"]);
    }
}
