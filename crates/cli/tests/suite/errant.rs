//! Members that are errant are given up by a person, who looks first what that costs.
//!
//! A primary that died with a write that nobody acknowledged is errant when it comes back. Only a scenario in which a primary dies
//! while clients write asks for this: in any other nobody is errant, and whoever is called so stays so until the scenario fails.

use std::collections::BTreeSet;

use serde_json::Value;

use super::clients::Acknowledgements;
use super::cluster::leader;
use super::{Cluster, Writer};

/// What is known while members are given up.
#[derive(Default)]
pub(crate) struct Mending {
    /// What must not be given up.
    clients: Vec<Acknowledgements>,
    /// Who was looked at: what is on its disk from then on may be half a copy.
    given_up: BTreeSet<String>,
}

impl Cluster {
    /// From now on whoever is errant is given up, as status says, but nothing that this client was told of.
    pub(crate) fn gives_up_the_errant(&self, writer: &Writer) {
        self.mending.borrow_mut().clients.push(writer.acknowledgements());
    }

    /// Gives up who is errant, where the scenario asked for that.
    pub(super) fn mend(&self, object: &Value) {
        let errant = object["status"]["members"]["errant"].as_array().into_iter().flatten();
        let errant: BTreeSet<String> = errant.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let mut mending = self.mending.borrow_mut();
        mending.given_up.retain(|member| errant.contains(member));
        let Some(leader) = leader(object).filter(|_| !mending.clients.is_empty()) else { return };
        for member in errant {
            if !mending.given_up.contains(&member) {
                // Without one of them nothing can be said yet.
                let Some(differs) = self.held_only_by(&member, &leader) else { continue };
                mending.judge(&member, &leader, &differs);
                mending.given_up.insert(member.clone());
            }
            // It may be refused, as what was seen may be over by now; and an operator that is killed takes a request along.
            let words = ["muster", "rejoin", &self.name, &member, "--discard", "--yes", "--timeout=20s"];
            println!("{:?}", self.world().try_kubectl(&words));
        }
    }

    /// What is on the disk of this member, and the leader does not have.
    fn held_only_by(&self, member: &str, leader: &str) -> Option<Vec<(u64, String)>> {
        // In this order: the leader has more with every moment.
        let held = self.on_disk(member)?;
        let leads: BTreeSet<(u64, String)> = self.read(leader).ok()?.into_iter().collect();
        Some(held.into_iter().filter(|entry| !leads.contains(entry)).collect())
    }
}

impl Mending {
    /// Whether it is rightly called errant, and nobody was told of what goes with it.
    fn judge(&self, member: &str, leader: &str, differs: &[(u64, String)]) {
        assert!(!differs.is_empty(), "{member} is called errant, and {leader} has all that it holds");
        for client in &self.clients {
            let told: BTreeSet<(u64, String)> = client.so_far().into_iter().collect();
            let lost: Vec<_> = differs.iter().filter(|entry| told.contains(entry)).collect();
            assert!(lost.is_empty(), "only {member} has what was acknowledged, and {leader} leads: {lost:?}");
        }
        println!("{member} is errant, and gives up {} entries that nobody was told of", differs.len());
    }
}
