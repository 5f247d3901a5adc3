//! What Galera loses. A commit is on the disk of the member that answered, and in the memory of the others: when all crash at nearly
//! the same time the last ones may be lost, which is counted and written down. Nothing else may be.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::stage::Stage;

/// The account of one test.
pub(crate) struct Losses {
    /// Where it is written down for people, whether the test fails or not.
    record: PathBuf,
    text: String,
    /// The rows that were there when it was last counted.
    seen: BTreeSet<u64>,
    lost: BTreeSet<u64>,
}

impl Losses {
    pub(crate) fn new(test: &str) -> Self {
        let record = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("galera-losses-{test}.txt"));
        Self { record, text: String::new(), seen: BTreeSet::new(), lost: BTreeSet::new() }
    }

    /// Someone with all data lived on, or stopped in order: not one more of the acknowledged rows is lost.
    pub(crate) fn are_no_more(&mut self, stage: &Stage, after: &str, acknowledged: &[u64]) {
        let more = self.count(stage, after, acknowledged);
        assert!(more.is_empty(), "after {after}, with a member that had them: {more:?} are lost");
    }

    /// All crashed: what was acknowledged last may be lost, but nothing that was there when it was last counted.
    pub(crate) fn are_counted(&mut self, stage: &Stage, after: &str, acknowledged: &[u64]) {
        let before = self.seen.clone();
        let more = self.count(stage, after, acknowledged);
        let old: Vec<&u64> = more.intersection(&before).collect();
        assert!(old.is_empty(), "after {after}: {old:?} were there long before, and are lost");
    }

    /// The acknowledged rows that were not known to be lost, and are.
    fn count(&mut self, stage: &Stage, after: &str, acknowledged: &[u64]) -> BTreeSet<u64> {
        let rows = stage.rows();
        let lost = acknowledged.iter().filter(|number| !rows.contains(number)).copied();
        let more: BTreeSet<u64> = lost.filter(|number| !self.lost.contains(number)).collect();
        let told = acknowledged.len();
        let line = format!("after {after}: {told} rows acknowledged, {} more lost {more:?}", more.len());
        println!("{line}");
        writeln!(self.text, "{line}").unwrap();
        std::fs::write(&self.record, &self.text).unwrap();
        self.lost.extend(&more);
        self.seen = rows;
        more
    }
}
