//! The program as it is typed, and as the operator's Pods start it.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command as Process, Output};

use super::place::Place;

fn agent(arguments: &[&str]) -> Output {
    Process::new(env!("CARGO_BIN_EXE_muster-agent")).args(arguments).env_clear().output().unwrap()
}

#[test]
fn it_installs_itself_where_it_is_told() {
    let place = Place::new();
    let directory = place.path("control");
    for _ in 0..2 {
        assert!(agent(&["install", directory.to_str().unwrap()]).status.success());
    }
    let installed = directory.join("muster-agent");
    assert_eq!(std::fs::metadata(&installed).unwrap().permissions().mode() & 0o777, 0o755);
    let said = Process::new(&installed).arg("--version").output().unwrap();
    assert!(String::from_utf8(said.stdout).unwrap().starts_with("muster-agent "));
    let nowhere = agent(&["install", "/there/is/no/such/directory"]);
    assert!(!nowhere.status.success() && String::from_utf8(nowhere.stderr).unwrap().contains("No such file"));
}

#[test]
fn who_types_something_else_is_told_what_there_is() {
    for arguments in [&[][..], &["dance"], &["run", "more"], &["install"], &["child"]] {
        let said = agent(arguments);
        assert_eq!(said.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8(said.stderr).unwrap().starts_with("usage: "));
    }
    let said = String::from_utf8(agent(&["run"]).stderr).unwrap();
    assert!(said.starts_with("muster-agent: MUSTER_") && said.contains("is not set"), "{said}");
}
