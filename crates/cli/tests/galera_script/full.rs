//! A volume without room: what is known of the data is told all the same, and nothing is begun that would not know it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use muster_test_assets::skip;

use super::member::{Member, NOBODY, UUID};
use super::position;

/// A small filesystem at a directory, for as long as this lives.
struct Mount(PathBuf);

impl Mount {
    /// None: it may not be mounted here.
    fn small(at: PathBuf) -> Option<Self> {
        let options = ["-t", "tmpfs", "-o", "size=64k", "none"];
        let mounted = Command::new("mount").args(options).arg(&at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }

    /// Leaves no room.
    fn fill(&self) {
        let mut file = File::create(self.0.join("fill")).unwrap();
        while file.write_all(&[0; 512]).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("fill")).unwrap();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

#[test]
fn a_position_that_cannot_be_kept_is_told_all_the_same() {
    for (name, does) in [
        ("cp", "head -c 20 \"$1\" >\"$2\"; exit 1"),
        ("sync", "exit 1"),
        ("mv", "case $2 in */grastate.dat) exit 1 ;; esac; exec /bin/mv \"$@\""),
    ] {
        let member = Member::new(&format!("unkept-{name}")).installed().state(UUID, -1);
        let member = member.recovers(&format!("{UUID}:7")).program(name, does);
        let before = member.read("data/grastate.dat");
        for _ in 0..2 {
            assert_eq!(member.says("sequence"), (0, position(7)), "{name}");
            assert_eq!(member.read("data/grastate.dat"), before, "{name}");
            assert!(!member.has("data/grastate.new"), "{name}");
        }
        assert_eq!(member.recoveries(), 2, "{name}: it is asked each time");
        // It would begin another history.
        assert!(member.complains("seed").contains("cannot be written down"), "{name}");
        assert!(!member.has("started"), "{name}");
    }
}

#[test]
fn a_seed_whose_position_was_not_kept_keeps_it_first() {
    let member = Member::new("late").installed().state(UUID, -1).recovers(&format!("{UUID}:7"));
    assert_eq!(member.says("seed").0, 0);
    let state = member.read("data/grastate.dat");
    assert!(state.contains("seqno:   7\n") && state.contains("safe_to_bootstrap: 1"), "{state}");
    assert!(member.has("started"));
    let unsent = Member::new("late-unsent").installed().state(NOBODY, -1).file("data/sst_in_progress", "");
    let unsent = unsent.recovers(&format!("{UUID}:7"));
    assert_eq!(unsent.says("seed").0, 0);
    let state = unsent.read("data/grastate.dat");
    assert!(state.contains(UUID) && state.contains("seqno:   7\n"), "{state}");
    // Data that Galera marked as differing does not become a part of the history again.
    let differs = Member::new("late-differs").installed().state(NOBODY, -1).recovers(&format!("{UUID}:7"));
    assert_eq!((differs.says("seed").0, differs.recoveries()), (0, 0));
}

#[test]
fn a_full_volume_is_read() {
    let member = Member::new("full-volume").recovers(&format!("{UUID}:7"));
    let Some(volume) = Mount::small(member.path("data")) else {
        return skip("only root may mount a small filesystem");
    };
    let member = member.installed().state(UUID, -1);
    let before = member.read("data/grastate.dat");
    volume.fill();
    assert_eq!(member.says("sequence"), (0, position(7)));
    assert_eq!(member.read("data/grastate.dat"), before);
    assert!(!member.has("data/grastate.new") && !member.has("started"));
    volume.empty();
    assert_eq!(member.says("sequence"), (0, position(7)));
    assert!(member.read("data/grastate.dat").contains("seqno:   7\n"), "as soon as there is room");
    drop(volume);
}

#[test]
fn what_a_recovery_writes_is_beside_the_data() {
    let server = r#"for word in "$@"; do echo "$word" >>"$HERE/words"; done; echo "WSREP: Recovered position: $(cat "$HERE/position")""#;
    let member = Member::new("beside it").installed().state(UUID, -1).recovers(&format!("{UUID}:7"));
    let member = member.program("mariadbd", server);
    assert_eq!(member.says("sequence"), (0, position(7)));
    let words = member.read("words");
    let log = format!("--log-ddl-recovery={}", member.path("run/ddl_recovery.log").display());
    for wanted in ["--innodb-temp-data-file-path=../run/ibtmp1:12M:autoextend", &log] {
        assert!(words.lines().any(|word| word == wanted), "{wanted} is not in {words}");
    }
}
