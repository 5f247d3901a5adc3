//! What `muster up` cannot do it says in one line, and nothing is damaged by it: neither what runs nor what is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::ledger::pods_of;
use super::stage::Stage;

/// Refuses every byte that is written to a file, as a full disk would.
const ON_A_FULL_DISK: &str = "ulimit -f 0; trap '' XFSZ; exec \"$@\"";
/// Has room for what members write, and none for another copy of the program.
const ON_A_DISK_WITH_LITTLE_ROOM: &str = "ulimit -f 20480; trap '' XFSZ; exec \"$@\"";

/// What is appended while others cannot start.
const STILL_HERE: &str = "still here";

/// The one line that it ends with.
pub(super) fn refusal(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(output.stdout, b"", "nothing is ready");
    let said = String::from_utf8(output.stderr).unwrap();
    let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
    assert!(errors == 1 && said.lines().last().unwrap().starts_with("error: "), "{said}");
    said
}

/// Someone else than who keeps this directory; for whoever is not root it is closed instead, which comes to the same.
fn as_another(stage: &Stage) -> Command {
    let mut command = stage.command(&[]);
    match Stage::nobody() {
        Some(nobody) => {
            command.uid(nobody).gid(nobody);
        }
        None => close(&stage.data, 0o500),
    }
    command
}

fn close(directory: &Path, mode: u32) {
    fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
}

fn on_a_full_disk(stage: &Stage) -> Command {
    on(ON_A_FULL_DISK, stage)
}

fn on(disk: &str, stage: &Stage) -> Command {
    let muster = stage.command(&["--engine", "ledger"]);
    let mut shell = stage.at_home(Path::new("/bin/sh"));
    shell.args(["-c", disk, "sh"]).arg(muster.get_program()).args(muster.get_args());
    shell
}

#[test]
fn what_cannot_be_is_said_and_damages_nothing() {
    let mut stage = Stage::new("cannot", None);
    let unknown = refusal(stage.command(&["--engine", "oracle"]));
    assert_eq!(unknown, "error: there is no engine \"oracle\"; there is galera, ledger\n");
    let full = refusal(on_a_full_disk(&stage));
    assert!(full.starts_with("error: cannot ") && full.contains("File too large"), "{full}");
    let little = refusal(on(ON_A_DISK_WITH_LITTLE_ROOM, &stage));
    assert!(little.starts_with("error: cannot put the programs into "), "{little}");
    let left = fs::read_dir(stage.data.join("bin")).unwrap().count();
    assert_eq!(left, 0, "what there was room for would take it from others");
    let (port, kept) = runs_on_beside_others(&mut stage);
    // And what is kept is not harmed by a start that fails.
    let (data, kubeconfig) = (stage.data.clone(), fs::read_to_string(stage.data.join("kubeconfig")).unwrap());
    let full = refusal(on_a_full_disk(&stage));
    assert!(full.starts_with("error: cannot ") && full.contains("File too large"), "{full}");
    let closed = refusal(as_another(&stage));
    close(&data, 0o700);
    assert!(closed.contains("Permission denied") && closed.contains(&data.display().to_string()), "{closed}");
    assert_eq!(fs::read_to_string(data.join("kubeconfig")).unwrap(), kubeconfig);
    // What needs no room is not refused for the lack of it.
    stage.start(on(ON_A_DISK_WITH_LITTLE_ROOM, &stage));
    assert_eq!(stage.port(), port);
    let entries = stage.entries();
    assert!(kept.iter().all(|entry| entries.contains(entry)), "{kept:?} of {entries:?}");
    // What was not acknowledged at once was tried again, and may be there twice.
    assert!(entries.iter().all(|(_, entry)| entry == STILL_HERE), "{entries:?}");
    stage.stop();
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
}

/// One that runs is not disturbed by others that cannot start; where it listens, and what it then acknowledged.
fn runs_on_beside_others(stage: &mut Stage) -> (String, Vec<(u64, String)>) {
    stage.up("ledger");
    let data = stage.data.display().to_string();
    assert_eq!(refusal(stage.command(&[])), format!("error: {data} is in use by another muster\n"));
    let port = stage.port();
    let other = Stage::new("cannot-port", None);
    let taken = refusal(other.command(&["--port", &port]));
    assert!(taken.contains(&format!("cannot listen on 127.0.0.1:{port}: Address already in use")), "{taken}");
    let kept = stage.append_all([STILL_HERE.to_owned()]);
    assert_eq!(pods_of(stage), 3);
    stage.stop();
    (port, kept)
}

#[test]
fn where_nothing_may_be_made_nothing_is() {
    let stage = Stage::new("closed", Stage::nobody());
    let below = stage.root.join("closed");
    fs::create_dir(&below).unwrap();
    close(&below, 0o555);
    for name in ["data", "deeper/data"] {
        let data = below.join(name);
        let mut command = stage.at_home(&stage.root.join("muster"));
        let said = refusal({
            command.arg("up").arg("--data-dir").arg(&data);
            command
        });
        assert!(said.starts_with(&format!("error: cannot create {}", below.display())), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
    }
    assert_eq!(fs::read_dir(&below).unwrap().count(), 0);
}
