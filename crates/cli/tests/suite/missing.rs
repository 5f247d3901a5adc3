//! Data is missing that may have been acknowledged: of Galera's last commits one disk alone may hold some. A person says that it goes on
//! without them, by the command that is offered. Only a scenario in which a disk is lost, half copied or given up asks for this.

use serde_json::Value;

use super::hands::{command, offered};
use super::software::Software;
use super::{Cluster, Writer};

impl Cluster {
    /// From now on, while this client writes, Galera goes on without what is missing. What is lost then is counted where losses are. A
    /// ledger that lacks anything waits until the scenario fails.
    pub(crate) fn goes_on_without_what_is_missing(&self, writer: &Writer) {
        if self.software == Software::Galera {
            self.mending.borrow_mut().goes_on_without(writer);
        }
    }

    /// Does what is offered, where the scenario asked for that.
    pub(super) fn go_on_without(&self, object: &Value) {
        if !self.mending.borrow_mut().may_go_on_without() {
            return;
        }
        if let Some(seed) = self.offered_seed(object) {
            self.obey_if_offered(object, &self.with_seed(&seed));
        }
    }

    /// With whom status offers to go on though data is missing: never one that is empty. None: nothing of that kind is offered
    /// yet, as while nobody has been read.
    pub(crate) fn offered_seed(&self, object: &Value) -> Option<String> {
        let recovery = &object["status"]["recovery"];
        if recovery["blockedBy"] != "DataMissing" {
            return None;
        }
        // In whole: a command that gives up more than this is not what a person wants who knows that the others are there.
        let offers = offered(object);
        let [offer] = offers.as_slice() else { return None };
        let seed = offer.last().filter(|seed| *offer == self.with_seed(seed))?;
        let report = report_of(recovery, seed);
        assert!(report.is_none_or(|it| it["empty"] != true), "what is empty is offered: {object:#}");
        Some(seed.clone())
    }

    /// The command to go on with what this member has.
    pub(crate) fn with_seed(&self, member: &str) -> Vec<String> {
        command(&["recover", &self.name, "--seed", member])
    }
}

/// What a recovery says of this member; none where it does not.
pub(crate) fn report_of<'a>(recovery: &'a Value, member: &str) -> Option<&'a Value> {
    recovery["reported"].as_array()?.iter().find(|report| report["member"] == member)
}
