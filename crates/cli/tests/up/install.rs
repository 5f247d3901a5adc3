//! `muster up --install`: what Galera needs is got as Debian gets packages, or it is said in one line why not.
//!
//! In a mount namespace of its own: there the database's server is hidden, and a stand-in at apt-get's place writes down its words and
//! puts the server back. The machine keeps what it has.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use muster_test_assets::skip;

use super::refusals::refusal;
use super::stage::Stage;

/// What is hidden, and where.
const HIDDEN: &str = "/usr/sbin/mariadbd";
/// What is stood in for.
const APT_GET: &str = "/usr/bin/apt-get";
/// What is no file hides one. What is run then is in this namespace, as whoever is to run it.
const WITHOUT_SERVER: &str =
    "mount --bind /dev/null /usr/sbin/mariadbd && mount --bind \"$0\" /usr/bin/apt-get && exec \"$@\"";
/// What Debian is asked for, in its words.
const ASKED: [&str; 2] =
    ["update", "install --yes --no-install-recommends mariadb-server mariadb-backup galera-4 socat"];

/// `muster up --install` where there is no server, and this is done for whoever gets packages: its words are written down first.
fn installs(stage: &Stage, words: &[&str], does: &str) -> Command {
    let stand_in = stage.root.join("apt-get");
    let script = format!("#!/bin/sh\necho \"$DEBIAN_FRONTEND: $*\" >>{}\n{does}\n", asked(stage).display());
    fs::write(&stand_in, script).unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    let stand_in = stand_in.display().to_string();
    let muster = stage.command(&["--install"]);
    let mut unshare = stage.at_home(Path::new("unshare"));
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", WITHOUT_SERVER, &stand_in]);
    unshare.args(words).arg(muster.get_program()).args(muster.get_args());
    unshare
}

/// Where the stand-in writes its words down.
fn asked(stage: &Stage) -> PathBuf {
    stage.root.join("asked")
}

/// Debian was asked for this, and not to ask back.
fn was_asked(stage: &Stage, words: &[&str]) {
    let words: Vec<String> = words.iter().map(|words| format!("noninteractive: {words}")).collect();
    assert_eq!(fs::read_to_string(asked(stage)).unwrap().lines().collect::<Vec<_>>(), words);
}

/// Whether it can be tried here; where not it says why.
fn can_be_tried() -> bool {
    if Stage::nobody().is_none() {
        skip("only root may hide a server from a program");
        return false;
    }
    if ![HIDDEN, APT_GET].iter().all(|program| Path::new(program).is_file()) {
        skip("there is no MariaDB here, or not as Debian has it");
        return false;
    }
    true
}

#[test]
fn real_galera_is_installed_where_it_is_lacking_and_is_the_sample_then() {
    if !can_be_tried() {
        return;
    }
    let mut stage = Stage::new("install", None);
    let put_back = format!("if [ \"$1\" = install ]; then umount {HIDDEN}; fi");
    let ready = stage.start(installs(&stage, &[], &put_back));
    was_asked(&stage, &ASKED);
    for words in ASKED {
        assert!(stage.said().contains(&format!("muster: apt-get {words}\n")), "{}", stage.said());
    }
    assert_eq!(stage.cluster().spec.engine.name, "galera");
    assert!(ready.contains("mariadb "), "it says how to connect: {ready}");
    stage.stop();
    assert_eq!(stage.processes(), Vec::<String>::new(), "nothing is left behind");
}

#[test]
fn real_galera_that_cannot_be_installed_is_refused_in_one_line() {
    if !can_be_tried() {
        return;
    }
    let stage = Stage::new("not-installed", None);
    let [update, install] = ASKED;
    let nobody = Stage::nobody().unwrap().to_string();
    let someone = ["setpriv", "--reuid", &nobody, "--regid", &nobody, "--clear-groups"];
    let refusals: [(&[&str], &str, String); 4] = [
        (&someone, "exit 0", "--install needs root: run it once as root, or `apt-get install ".to_owned()),
        (&[], "exit 100", format!("`apt-get {update}` failed: exit status: 100")),
        (&[], "test \"$1\" = update || exit 100", format!("`apt-get {install}` failed: exit status: 100")),
        (&[], "exit 0", "galera needs mariadbd, which this machine does not have: ".to_owned()),
    ];
    for (words, does, complaint) in refusals {
        let said = refusal(installs(&stage, words, does));
        let last = said.lines().last().unwrap();
        assert!(last.starts_with(&format!("error: {complaint}")), "{said}");
        assert!(!stage.data.exists(), "nothing has begun: {said}");
    }
    was_asked(&stage, &[update, update, install, update, install]);
}
