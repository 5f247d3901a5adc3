//! The digest of a recovery: equal as long as a person would decide the same.
//!
//! It covers all that status shows, except the sequence and position of members that run: those move by themselves.
//! It also covers which run of an agent was last heard of a missing member: who vouches that it is dead does not
//! vouch for a later run of it.
//!
//! FNV-1a with 64 bits, written out here. It is not cryptographic and need not be: it guards a person against acting
//! on old news, not against someone who may write requests anyway.

use std::fmt::Write as _;

use muster_api::cluster::Recovery;

use super::super::view::Picture;
use super::missing;
use crate::manager::report::Report;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The digest, in hexadecimal digits.
pub(super) fn digest(recovery: &Recovery, picture: &Picture<'_>) -> String {
    format!("{:016x}", fnv1a(canonical(recovery, picture).as_bytes()))
}

/// What is covered, as text: one fact in a line, each value quoted so that none can pass for two.
fn canonical(recovery: &Recovery, picture: &Picture<'_>) -> String {
    let observed = picture.view.observed;
    let mut text = String::new();
    let Recovery { state, expected, reported, missing: _, seed, blocked_by, unblock, digest: _ } = recovery;
    let _ = writeln!(text, "{state:?} {seed:?} {blocked_by:?} {unblock:?}");
    let _ = writeln!(text, "expected {expected:?}");
    for report in reported {
        let now = observed.report_of(&report.member);
        let running = now.and_then(Report::running).map(|app| (app.role, app.activity));
        let _ = write!(text, "{:?} {:?} {:?} {:?}", report.member, report.history, report.term, report.empty);
        match running {
            Some(running) => {
                let _ = writeln!(text, " {running:?}");
            }
            None => {
                let _ = writeln!(text, " {:?} {:?}", report.sequence, report.position);
            }
        }
    }
    for name in missing(picture) {
        let seen = observed.members.get(name);
        let run = seen.and_then(|seen| seen.report.as_ref()).map(|report| report.instance);
        let start = seen.and_then(|seen| seen.unanswered_start).map(|sent| sent.stamp);
        let _ = writeln!(text, "missing {name:?} {run:?} {start:?}");
    }
    text
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn known_values_of_fnv_1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
