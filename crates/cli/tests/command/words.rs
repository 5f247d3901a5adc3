//! What `muster` prints: help, its version, the CRDs, the roles.

use crate::muster::output;

fn said(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_version_is_that_of_the_workspace() {
    assert_eq!(said(&["--version"]), format!("muster {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_names_every_command() {
    let help = said(&["--help"]);
    for command in ["apiserver", "crds", "operator", "rbac"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
    assert!(said(&["apiserver", "--help"]).contains("--data-dir <DIR>"));
}

#[test]
fn the_crds_are_those_that_are_installed() {
    let all = said(&["crds"]);
    let documents: Vec<_> = all.split("---\n").skip(1).collect();
    let expected = muster_api::crds::manifests().unwrap();
    let expected: Vec<_> = expected.iter().map(|(_, manifest)| manifest.as_str()).collect();
    assert_eq!(documents, expected);
}

#[test]
fn without_a_command_it_says_which_there_are() {
    let output = output(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("apiserver"));
}

#[test]
fn the_roles_are_those_that_are_installed() {
    let [(_, all), (_, one), (_, users)] = &muster_operator::rbac::manifests()[..] else {
        panic!("three files")
    };
    assert_eq!(said(&["rbac"]), format!("{all}---\n{users}"));
    assert_eq!(said(&["rbac", "--namespace", "default"]), format!("{one}---\n{users}"));
    assert!(said(&["rbac", "--namespace", "shop"]).contains("\n  namespace: shop\n"));
}
