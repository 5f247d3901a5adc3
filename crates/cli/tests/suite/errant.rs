//! Members that are errant are given up by a person, who looks first what that costs.
//!
//! A primary that died with a write that nobody acknowledged is errant when it comes back. Only a scenario in which a primary dies
//! while clients write asks for this: in any other nobody is errant, and whoever is called so stays so until the scenario fails.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::clients::Acknowledgements;
use super::cluster::{condition, leader};
use super::software::Software;
use super::{Cluster, Entry, Writer};

/// How far two statuses are apart that call a member of Galera errant before it is: a primary says how far it has applied, which for a
/// moment may be less than what someone has who stopped.
const SURELY: Duration = Duration::from_secs(5);

/// What a person does while a scenario waits, and knows then.
#[derive(Default)]
pub(crate) struct Mending {
    /// What must not be given up. While one of these clients writes the errant are.
    clients: Vec<Acknowledgements>,
    /// While one of these writes it goes on without data that is missing.
    without: Vec<Acknowledgements>,
    /// Who is called errant: since when, and when it was last looked.
    called: BTreeMap<String, (Instant, Instant)>,
    /// Who was looked at: what is on its disk from then on may be half a copy.
    given_up: BTreeSet<String>,
}

impl Cluster {
    /// From now on, while this client writes, whoever is errant is given up, as status says, but nothing that this client was told of.
    pub(crate) fn gives_up_the_errant(&self, writer: &Writer) {
        self.mending.borrow_mut().clients.push(writer.acknowledgements());
    }

    /// Gives up who is errant, where the scenario asked for that.
    pub(super) fn mend(&self, object: &Value) {
        let mut errant = listed(object, "errant");
        if self.software == Software::Galera {
            errant
                .extend(listed(object, "failed").into_iter().filter(|member| is_unreadable(object, member)));
        }
        let mut mending = self.mending.borrow_mut();
        mending.forget_whoever_is_gone();
        mending.hear(&errant);
        let Some(leader) = leader(object).filter(|_| !mending.clients.is_empty()) else { return };
        for member in errant {
            if self.software == Software::Galera {
                if !mending.is_surely_errant(&member) {
                    continue;
                }
                // What a stopped server holds cannot be read: what goes with it is counted where losses are.
                println!("{member} is errant, or cannot be read, and given up");
            } else if !mending.given_up.contains(&member) {
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
    fn held_only_by(&self, member: &str, leader: &str) -> Option<Vec<Entry>> {
        // In this order: the leader has more with every moment.
        let held = self.on_disk(member)?;
        let leads: BTreeSet<Entry> = self.read(leader).ok()?.into_iter().collect();
        Some(held.into_iter().filter(|entry| !leads.contains(entry)).collect())
    }
}

fn listed(object: &Value, what: &str) -> BTreeSet<String> {
    let names = object["status"]["members"][what].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Whether status says that nobody can tell what this member has. Whoever sends a copy to a member of Galera and dies at a certain moment
/// leaves that behind: a person discards it, as with one that is errant.
fn is_unreadable(object: &Value, member: &str) -> bool {
    let said = condition(object, "Healthy").and_then(|healthy| healthy["message"].as_str());
    said.is_some_and(|text| text.contains(&format!("{member} is stopped, and its data could not be read")))
}

impl Mending {
    /// While this client writes it goes on without data that is missing.
    pub(super) fn goes_on_without(&mut self, writer: &Writer) {
        self.without.push(writer.acknowledgements());
    }

    /// Whether it does now.
    pub(super) fn may_go_on_without(&mut self) -> bool {
        self.forget_whoever_is_gone();
        !self.without.is_empty()
    }

    /// What a scenario asked for is over with its last client. Until then what the others were told of must not be given up either.
    fn forget_whoever_is_gone(&mut self) {
        for asked in [&mut self.clients, &mut self.without] {
            if asked.iter().all(Acknowledgements::are_all) {
                asked.clear();
            }
        }
    }

    /// These are called errant now.
    fn hear(&mut self, errant: &BTreeSet<String>) {
        let now = Instant::now();
        self.given_up.retain(|member| errant.contains(member));
        // Where nobody looked for so long it may have been called otherwise in between.
        self.called.retain(|member, (_, last)| errant.contains(member) && now - *last < SURELY);
        for member in errant {
            self.called.entry(member.clone()).or_insert((now, now)).1 = now;
        }
    }

    /// Whether two statuses called it so that are far enough apart, and none between them did not.
    fn is_surely_errant(&self, member: &str) -> bool {
        self.called.get(member).is_some_and(|(since, last)| *last - *since >= SURELY)
    }

    /// Whether it is rightly called errant, and nobody was told of what goes with it.
    fn judge(&self, member: &str, leader: &str, differs: &[Entry]) {
        assert!(!differs.is_empty(), "{member} is called errant, and {leader} has all that it holds");
        for client in &self.clients {
            let told: BTreeSet<Entry> = client.so_far().into_iter().collect();
            let lost: Vec<_> = differs.iter().filter(|entry| told.contains(entry)).collect();
            assert!(lost.is_empty(), "only {member} has what was acknowledged, and {leader} leads: {lost:?}");
        }
        println!("{member} is errant, and gives up {} entries that nobody was told of", differs.len());
    }
}
