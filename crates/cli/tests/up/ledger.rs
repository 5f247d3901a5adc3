//! The ledger of a stage: who serves, and what was acknowledged.

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

    pub(crate) fn client(&self) -> Ledger {
        Ledger::connect(&self.address()).unwrap()
    }

    /// Appends entries of these numbers, each again and again until it is acknowledged.
    pub(crate) fn append(&self, from: u32, to: u32) -> Vec<(u64, String)> {
        let began = Instant::now();
        let mut acknowledged = Vec::new();
        let mut client = None;
        for number in from..=to {
            let entry = format!("entry {number}");
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
        self.client().read(1, 10_000).unwrap()
    }
}

/// How many Pods there are.
pub(crate) fn pods_of(stage: &Stage) -> usize {
    let pods: Api<k8s_openapi::api::core::v1::Pod> = Api::namespaced(stage.kubernetes(), "default");
    stage.runtime.block_on(pods.list(&kube::api::ListParams::default())).unwrap().items.len()
}
