//! What is lost. A ledger loses nothing. A commit of Galera is on the disk of the member that answered and in the memory of the others:
//! when all crash at nearly the same time the last ones may be lost, which is counted and written down. Nothing else may be.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::clients::Acknowledgements;
use super::software::Software;
use super::{Cluster, Entry, Writer};

/// The account of one cluster.
#[derive(Default)]
pub(crate) struct Losses {
    /// All who ever wrote.
    clients: Vec<Acknowledgements>,
    /// What was there when it was last counted.
    seen: BTreeSet<Entry>,
    lost: BTreeSet<Entry>,
    text: String,
}

impl Losses {
    /// Someone writes, too.
    pub(super) fn listen_to(&mut self, writer: &Writer) {
        self.clients.push(writer.acknowledgements());
    }

    /// All that any client was told of, but for what is known to be lost.
    fn acknowledged(&self) -> Vec<Entry> {
        let told = self.clients.iter().flat_map(Acknowledgements::so_far);
        told.filter(|entry| !self.lost.contains(entry)).collect()
    }
}

impl Cluster {
    /// Waits until it is Ready, serves, and every member has every entry that was ever acknowledged and is not counted as lost.
    pub(crate) fn holds_all(&self, writer: &Writer) {
        self.until_ready();
        self.until_more(writer, 5);
        let acknowledged = self.losses.borrow().acknowledged();
        let object = self.until_ready();
        let members = object["status"]["members"]["ready"].as_array().unwrap().clone();
        assert!(!members.is_empty(), "{object}");
        for member in members {
            self.has(member.as_str().unwrap(), &acknowledged);
        }
        println!("{}: {} acknowledged entries are there", self.name, acknowledged.len());
        self.losses.borrow_mut().seen.extend(acknowledged);
    }

    /// All crashed, and clients are served again. Of Galera's it is counted what was acknowledged last and is lost; nothing may be that
    /// was there when it was last counted. A ledger's are all there, which is asked in the end.
    pub(crate) fn counts_losses(&self, after: &str) {
        if self.software != Software::Galera {
            return;
        }
        let mut losses = self.losses.borrow_mut();
        let acknowledged = losses.acknowledged();
        let rows = self.rows();
        let more: BTreeSet<Entry> = acknowledged.iter().filter(|row| !rows.contains(row)).cloned().collect();
        let numbers: Vec<u64> = more.iter().map(|(number, _)| *number).collect();
        let told = acknowledged.len();
        let line = format!(
            "{}, after {after}: {told} rows acknowledged, {} more lost {numbers:?}",
            self.name,
            more.len()
        );
        println!("{line}");
        writeln!(losses.text, "{line}").unwrap();
        // For people, whether the test fails or not.
        let record = format!("galera-losses-{:?}-{}.txt", crate::KIND, self.name);
        std::fs::write(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(record), &losses.text).unwrap();
        let old: Vec<&Entry> = more.intersection(&losses.seen).collect();
        assert!(old.is_empty(), "after {after}: {old:?} were there long before, and are lost");
        losses.lost.extend(more);
        losses.seen = rows;
    }
}
