//! Services on one machine: `EndpointSlices` that follow Pods, and TCP proxies on the addresses of Services that follow `EndpointSlices`.
//!
//! ```text
//! Service + Pods ─▶ EndpointSlice                        slices: not beside a real controller manager
//! Service + EndpointSlices ─▶ table ─▶ proxies           what listens where, and to whom it leads
//! ```

mod addresses;
mod names;
mod proxies;
mod proxy;
mod slices;
mod table;

use std::net::Ipv4Addr;

use kube::Client;

/// The network that Services of a machine on its own have their addresses from, as address and number of fixed bits.
///
/// All of 127.0.0.0/8 is on the loopback device of a Linux machine, so these addresses can be listened on without any rights
/// and reach nobody else. The second number keeps them apart from those of Pods (127.77.0.0/16) and from 127.0.0.0/16, where
/// other software listens.
pub const SERVICE_NETWORK: (Ipv4Addr, u8) = (Ipv4Addr::new(127, 78, 0, 0), 16);

/// How Services are served.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether `EndpointSlices` are made here for all Pods; beside a real controller manager only for those with loopback
    /// addresses, which it cannot write.
    pub slices: bool,
}

/// Serves all Services until dropped. Addresses that were added to the loopback device are removed by
/// [`remove_addresses`], or, if there was no time for it, by whoever serves Services next.
pub async fn run(client: Client, options: Options) {
    addresses::remove_left_behind().await;
    tokio::join!(slices::run(client.clone(), options.slices), proxies::run(client));
}

pub use self::addresses::remove_all as remove_addresses;
