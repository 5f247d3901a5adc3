//! What `muster apiserver` cannot do, it says in one line, and damages nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::muster::{Running, Scratch, muster, output};

/// The one line it says.
fn refusal(arguments: &[&str]) -> String {
    let all: Vec<&str> = ["apiserver"].iter().chain(arguments).copied().collect();
    let output = output(&all);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(output.stdout, b"", "nothing is ready");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn a_second_one_on_the_same_directory() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    let first = Running::start(&["--data-dir", &directory]);
    let before = fs::read_to_string(&first.kubeconfig).unwrap();
    assert_eq!(
        refusal(&["--data-dir", &directory]),
        format!("error: {directory} is in use by another muster\n")
    );
    assert_eq!(fs::read_to_string(&first.kubeconfig).unwrap(), before);
    first.signal("-TERM");
    assert_eq!(first.end().0, Some(0));
}

#[test]
fn a_port_that_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = refusal(&["--ephemeral", "--port", &port]);
    assert!(said.starts_with(&format!("error: cannot listen on 127.0.0.1:{port}: ")), "{said}");
}

#[test]
fn a_directory_that_is_none() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("file"), "").unwrap();
    for name in ["file", "file/below"] {
        let directory = scratch.text(name);
        let said = refusal(&["--data-dir", &directory]);
        assert!(said.starts_with(&format!("error: cannot create {directory}: ")), "{said}");
        assert_eq!(said.matches("os error").count(), 1, "{said}");
    }
}

#[test]
fn a_directory_of_others() {
    let scratch = Scratch::new();
    let directory = scratch.text("home");
    fs::create_dir(&directory).unwrap();
    fs::write(scratch.path().join("home/letter"), "").unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    let expected = format!("error: {directory} holds other things: name a directory that is new or empty\n");
    assert_eq!(refusal(&["--data-dir", &directory]), expected);
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn a_directory_that_cannot_be_written() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(scratch.path().join("data/probe"), "").is_ok() {
        // For root nothing is closed; what the kernel itself keeps closed stands in for it.
        let said = refusal(&["--data-dir", "/proc/muster"]);
        assert!(said.starts_with("error: cannot create /proc/muster: "), "{said}");
        return;
    }
    let said = refusal(&["--data-dir", &directory]);
    assert!(said.starts_with(&format!("error: cannot open {directory}/lock: ")), "{said}");
}

#[test]
fn a_full_disk() {
    // The kernel refuses every byte written beyond a limit on the size of files, as a full disk would.
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    let mut shell = std::process::Command::new("sh");
    let script = "ulimit -f 0; trap '' XFSZ; exec \"$@\"";
    let muster = muster(&["apiserver", "--data-dir", &directory]);
    shell.args(["-c", script, "sh"]).arg(muster.get_program()).args(muster.get_args());
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
    // Once there is room again, it starts as if nothing had been.
    let server = Running::start(&["--data-dir", &directory]);
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_damaged_token() {
    let scratch = Scratch::new();
    let directory = scratch.text("data");
    fs::create_dir(&directory).unwrap();
    fs::write(scratch.path().join("data/token"), "short").unwrap();
    let said = refusal(&["--data-dir", &directory]);
    let expected =
        format!("error: {directory}/token does not hold a token: remove it, and a new one is made\n");
    assert_eq!(said, expected);
}

#[test]
fn two_wishes_that_exclude_each_other() {
    let output = output(&["apiserver", "--ephemeral", "--data-dir", "x"]);
    assert_eq!(output.status.code(), Some(2));
}
