//! Cases in which our server is known to differ still: told, but not demanded. The list is to become empty.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::case::Case;

/// One case on a line, quoted.
static CASES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| include_str!("pending.txt").lines().collect());

/// How the list names a case.
pub(crate) fn line(case: &Case) -> String {
    format!("{:?}", format!("{}: {}", case.topic, case.name))
}

/// Whether a case is not demanded yet. `MUSTER_DEMAND=1` demands all.
pub(crate) fn is_pending(case: &Case) -> bool {
    CASES.contains(line(case).as_str()) && std::env::var_os("MUSTER_DEMAND").is_none()
}

/// Every case of the list is there.
#[test]
fn pending_cases_exist() {
    let known: BTreeSet<String> = crate::case::all().iter().map(line).collect();
    let some = std::env::var_os("MUSTER_CASE").is_some();
    for case in CASES.iter().filter(|_| !some) {
        assert!(known.contains(*case), "there is no case {case}");
    }
}
