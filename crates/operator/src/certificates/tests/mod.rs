//! What is shared by the tests: a time, a cluster, and what chance gives.

mod content;
mod handshake;
mod rotation;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{AgentCa, ClusterName, MemberName, SecretData};
use crate::clock::{Clock, SharedClock};

fn now() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn chance(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

fn orders() -> ClusterName {
    ClusterName::new("shop", "orders")
}

fn member() -> MemberName {
    orders().member("orders-a-0")
}

fn ca() -> AgentCa {
    AgentCa::new(&orders(), now(), &mut chance(1)).unwrap()
}

/// So many days later.
fn days(days: u64) -> Duration {
    super::DAY * u32::try_from(days).unwrap()
}

/// What another one holds.
fn with(data: &SecretData, key: &str, value: &[u8]) -> SecretData {
    let mut data = data.clone();
    data.insert(key.to_owned(), ByteString(value.to_vec()));
    data
}

fn without(data: &SecretData, key: &str) -> SecretData {
    let mut data = data.clone();
    data.remove(key);
    data
}

/// A clock that a test sets.
struct Set(Mutex<Timestamp>);

impl Clock for Set {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

fn clock_at(at: Timestamp) -> SharedClock {
    Arc::new(Set(Mutex::new(at)))
}
