//! Clients are served, or served again after an outage: waited for while a person does what a person has to do meanwhile.

use std::time::Duration;

use serde_json::Value;

use super::cluster::leader;
use super::{Cluster, PATIENCE, Writer};

/// How long it may take until clients are served: who died more than once is started later each time, and whoever is errant is given up
/// first, by a command that may have to be given again.
const OUTAGE: Duration = PATIENCE.saturating_mul(2);
/// How many entries say that someone serves: the last answer of the one before may be counted late.
const SERVED: usize = 5;

impl Cluster {
    /// Waits until so many more entries were acknowledged.
    pub(crate) fn until_more(&self, writer: &Writer, more: usize) {
        let wanted = writer.count() + more;
        self.until_within(OUTAGE, &format!("{more} more entries are acknowledged"), |_| {
            writer.count() >= wanted
        });
    }

    /// Waits until someone leads and clients are served, and says who.
    pub(crate) fn until_served(&self, writer: &Writer) -> String {
        self.until_served_while(writer, |_| {})
    }

    /// The same, and every status until then is looked at.
    pub(crate) fn until_served_while(&self, writer: &Writer, look: impl Fn(&Value)) -> String {
        let wanted = writer.count() + SERVED;
        let object = self.until_within(OUTAGE, "someone leads and clients are served", |it| {
            look(it);
            leader(it).is_some() && writer.count() >= wanted
        });
        leader(&object).unwrap()
    }
}
