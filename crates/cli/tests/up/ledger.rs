//! The ledger of a stage: who serves, and what was acknowledged.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use kube::Api;
use muster_ledger::client::{Appended, Client as Ledger};

use super::stage::{PATIENCE, Stage};

impl Stage {
    pub(crate) fn until_ready(&self) {
        self.until("it is Ready", Self::is_whole);
    }

    pub(crate) fn primary(&self) -> String {
        self.cluster().status.and_then(|status| status.primary).unwrap_or_default()
    }

    pub(crate) fn port(&self) -> String {
        std::fs::read_to_string(self.root.join("data/port")).unwrap().trim().to_owned()
    }

    /// Where clients are sent.
    fn address(&self) -> String {
        let endpoint = self.cluster().status.and_then(|status| status.endpoint).unwrap();
        format!("{}:{}", endpoint.host, endpoint.port)
    }

    /// Appends entries of these numbers, each again and again until it is acknowledged.
    pub(crate) fn append(&self, from: u32, to: u32) -> Vec<(u64, String)> {
        self.append_all((from..=to).map(|number| format!("entry {number}")))
    }

    /// Appends these entries, each again and again until it is acknowledged.
    pub(crate) fn append_all(&self, entries: impl IntoIterator<Item = String>) -> Vec<(u64, String)> {
        let began = Instant::now();
        let mut acknowledged = Vec::new();
        let mut client = None;
        for entry in entries {
            loop {
                assert!(began.elapsed() < PATIENCE, "waited until {entry} is acknowledged: {}", self.told());
                let connected = client.take().map_or_else(|| Ledger::connect(&self.address()), Ok);
                match connected.and_then(|mut ledger| ledger.append(&entry).map(|answer| (ledger, answer))) {
                    Ok((ledger, Appended::Acknowledged(sequence))) => {
                        client = Some(ledger);
                        acknowledged.push((sequence, entry));
                        break;
                    }
                    // Refused, unknown or cut off: it is tried again, and may then be there twice.
                    _ => std::thread::park_timeout(Duration::from_millis(50)),
                }
            }
        }
        acknowledged
    }

    pub(crate) fn entries(&self) -> Vec<(u64, String)> {
        let read = || Ledger::connect(&self.address())?.read(1, 10_000);
        let entries = RefCell::new(Vec::new());
        self.until("all entries can be read", |_| read().map(|all| entries.replace(all)).is_ok());
        entries.into_inner()
    }
}

/// How many Pods there are.
pub(crate) fn pods_of(stage: &Stage) -> usize {
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(stage.kubernetes(), "default");
    stage.runtime.block_on(pods.list(&kube::api::ListParams::default())).unwrap().items.len()
}
