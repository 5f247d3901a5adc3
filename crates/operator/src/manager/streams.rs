//! The streams of a cluster's agents: one for each member that can be reached, opened anew when its address changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::ResourceExt;

use super::facts::Surroundings;
use crate::agents::tls::Tls;
use crate::agents::{Agent, Events, Peer, Watch, watch};
use crate::context::Context;

/// By what the operator knows each agent, by member; none where there are no sockets.
pub type Keys = Arc<BTreeMap<String, Tls>>;

/// The streams of one cluster.
pub(super) struct Streams {
    cluster: String,
    epoch: u64,
    events: Events,
    open: BTreeMap<String, Open>,
}

struct Open {
    agent: Agent,
    address: String,
    keys: Option<Keys>,
    _watch: Watch,
}

impl Streams {
    pub(super) fn new(cluster: &str, epoch: u64) -> Self {
        Self { cluster: cluster.to_owned(), epoch, events: Events::new(), open: BTreeMap::new() }
    }

    pub(super) fn events(&self) -> &Events {
        &self.events
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
            let same_keys = match (&open.keys, keys) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
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
        let peer =
            Peer { cluster: self.cluster.clone(), member: member.clone(), address: address.clone(), tls };
        let agent = Agent::new(peer, context.dial.clone()).with_limits(context.agent_limits);
        let watch = watch(agent.clone(), self.epoch, &self.events, context.chance.number());
        self.open.insert(member, Open { agent, address, keys: keys.cloned(), _watch: watch });
    }
}
