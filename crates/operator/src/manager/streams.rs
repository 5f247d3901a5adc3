//! The streams of a cluster's agents: one for each member that can be reached, opened anew when its address changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::ResourceExt;

use super::facts::Surroundings;
use crate::agents::tls::Tls;
use crate::agents::{Agent, Events, Peer, Watch, watch};
use crate::context::Context;
use crate::metrics::Metrics;

/// By what the operator knows each agent, by member; none where there are no sockets.
pub type Keys = Arc<BTreeMap<String, Tls>>;

/// The streams of one cluster.
pub(super) struct Streams {
    cluster: String,
    epoch: u64,
    events: Events,
    open: BTreeMap<String, Open>,
    metrics: Metrics,
    /// How many streams are wanted, and how many of them are alive, as was last told to the metrics.
    told: (i64, i64),
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.metrics.streams_changed(-self.told.0, -self.told.1);
    }
}

struct Open {
    agent: Agent,
    address: String,
    tls: Option<Tls>,
    _watch: Watch,
}

impl Streams {
    pub(super) fn new(cluster: &str, epoch: u64, metrics: Metrics) -> Self {
        let (events, open) = (Events::new(), BTreeMap::new());
        Self { cluster: cluster.to_owned(), epoch, events, open, metrics, told: (0, 0) }
    }

    /// Counts the streams, for metrics.
    pub(super) fn count(&mut self) {
        let (wanted, alive) = self.events.streams();
        let now = (i64::try_from(wanted).unwrap_or(i64::MAX), i64::try_from(alive).unwrap_or(i64::MAX));
        if now != self.told {
            self.metrics.streams_changed(now.0 - self.told.0, now.1 - self.told.1);
            self.told = now;
        }
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
    }

    /// Closes all streams.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }

    /// The way to this member's agent.
    pub(super) fn agent(&self, member: &str) -> Option<&Agent> {
        self.open.get(member).map(|open| &open.agent)
    }

    /// The host of this member.
    pub(super) fn address(&self, member: &str) -> Option<&str> {
        self.open.get(member).map(|open| open.address.as_str())
    }

    /// Opens and closes streams so that there is one for each member with an address. Returns who has none any more.
    pub(super) fn follow(
        &mut self,
        context: &Context,
        surroundings: &Surroundings,
        keys: Option<&Keys>,
    ) -> Vec<String> {
        let mut addresses = BTreeMap::new();
        for member in &surroundings.members {
            if let Some(address) = surroundings.address(member) {
                addresses.insert(member.name_any(), address);
            }
        }
        let stays = |name: &String, open: &Open| {
            let same_keys = match (&open.tls, keys.and_then(|keys| keys.get(name))) {
                (Some(old), Some(new)) => old.same(new),
                (old, new) => old.is_none() && new.is_none(),
            };
            addresses.get(name) == Some(&open.address) && same_keys
        };
        let gone: Vec<String> = self
            .open
            .iter()
            .filter(|(name, open)| !stays(name, open))
            .map(|(name, _)| name.clone())
            .collect();
        self.open.retain(|name, _| !gone.contains(name));
        for (member, address) in addresses {
            self.open(context, member, address, keys);
        }
        gone
    }

    fn open(&mut self, context: &Context, member: String, address: String, keys: Option<&Keys>) {
        if self.open.contains_key(&member) {
            return;
        }
        let tls = keys.and_then(|keys| keys.get(&member)).cloned();
        let peer = Peer {
            cluster: self.cluster.clone(),
            member: member.clone(),
            address: address.clone(),
            tls: tls.clone(),
        };
        let agent = Agent::new(peer, context.dial.clone()).with_limits(context.agent_limits);
        let watch = watch(agent.clone(), self.epoch, &self.events, context.chance.number());
        self.open.insert(member, Open { agent, address, tls, _watch: watch });
    }
}
