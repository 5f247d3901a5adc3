//! Ctrl-C at any moment: `muster up` ends in order, nothing runs on, and the next start goes on with what is there.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use rustix::process::{Signal, kill_process};

use super::stage::{PATIENCE, Stage};

/// What it says first, when it has begun to serve, and when the members are being made.
const SERVES: &str = "muster: serving ";
const MAKES: &str = "demo: ";
/// What it says when it has heard the first Ctrl-C.
const STOPS: &str = "muster: stopping; a second Ctrl-C ends it at once";

fn begin(stage: &mut Stage) {
    let mut command = stage.command(&["--engine", "ledger"]);
    stage.begin(command.stdout(Stdio::null()));
}

fn nothing_is_left(stage: &Stage) {
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
    assert!(!stage.said().contains("panicked"), "{}", stage.said());
}

/// Starts it so that Ctrl-C ends it as any program while it does not listen, and waits until it is itself. What a shell starts in the
/// background, and all that this starts, is to overlook Ctrl-C otherwise.
fn begin_as_in_a_terminal(stage: &mut Stage) {
    let muster = stage.command(&["--engine", "ledger"]);
    let mut env = stage.at_home(Path::new("env"));
    env.arg("--default-signal=INT").arg(muster.get_program()).args(muster.get_args());
    stage.begin(env.stdout(Stdio::null()));
    let program = PathBuf::from(format!("/proc/{}/exe", stage.pid().as_raw_nonzero()));
    let began = Instant::now();
    // It is looked closely: soon it listens.
    while !fs::read_link(&program).is_ok_and(|program| program == stage.root.join("muster")) {
        assert!(began.elapsed() < PATIENCE, "{} is never run", stage.root.join("muster").display());
        std::thread::yield_now();
    }
}

#[test]
fn ctrl_c_while_it_starts_ends_it_in_order() {
    for user in Stage::users() {
        let mut stage = Stage::new("interrupted", user);
        // Before it listens for it, Ctrl-C ends it as it ends any program; then nothing has begun.
        begin_as_in_a_terminal(&mut stage);
        stage.interrupt();
        let ended = stage.until_over();
        let by_itself = ended.signal() == Some(Signal::INT.as_raw());
        assert!(ended.success() || by_itself, "{ended}: {}", stage.said());
        nothing_is_left(&stage);

        begin(&mut stage);
        stage.until("it keeps a log", |stage| stage.data.join("log").exists());
        stage.stop();
        nothing_is_left(&stage);

        for moment in [SERVES, MAKES] {
            begin(&mut stage);
            stage.until(moment, |stage| stage.said().contains(moment));
            stage.stop();
            assert!(stage.said().contains(STOPS), "{}", stage.said());
            nothing_is_left(&stage);
        }

        stage.up("ledger");
        assert_eq!(stage.append(1, 3).len(), 3);
        stage.stop();
        nothing_is_left(&stage);
    }
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_nothing_is_lost() {
    for user in Stage::users() {
        let mut stage = Stage::new("impatient", user);
        stage.up("ledger");
        let acknowledged = stage.append(1, 5);
        // It is given its whole grace period to end, and hears nothing.
        let frozen = stage.agent(&stage.primary()).unwrap();
        kill_process(frozen, Signal::STOP).unwrap();
        stage.interrupt();
        stage.until("it stops", |stage| stage.said().contains(STOPS));
        stage.interrupt();
        let ended = stage.until_over();
        assert_eq!(ended.code(), Some(1), "{ended}: {}", stage.said());
        let last = "error: ended at once: processes are killed, data is as after a power cut\n";
        assert!(stage.said().ends_with(last), "{}", stage.said());
        stage.until("all that it started is gone", |stage| stage.processes().is_empty());

        stage.up("ledger");
        let entries = stage.entries();
        assert!(acknowledged.iter().all(|entry| entries.contains(entry)), "{acknowledged:?} of {entries:?}");
        stage.stop();
        nothing_is_left(&stage);
    }
}
