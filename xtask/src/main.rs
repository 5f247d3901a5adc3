//! The chores of this repository: `cargo xtask --help`.

mod agent;
mod assets;
mod cargo;
mod definitions;
mod generated;
mod test;
mod tidy;
mod workspace;

use anyhow::Result;
use std::env;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <chore>

  test            everything that must hold: format, lints, tidiness, CRDs, roles, all tests, real API server and databases included
  test --quick    the inner loop: format, tidiness, and the tests that need no real API server
  crds            writes deploy/crds from the types in crates/api
  crds --check    says whether deploy/crds is up to date
  rbac            writes deploy/rbac from the table in crates/operator
  rbac --check    says whether deploy/rbac is up to date
  definitions     writes what the built-in kinds of crates/apiserver need to know of Kubernetes' types, from a real server and Go
  definitions --check    says whether that is up to date
  agent           builds the agent as it is in every member, one static program, and says where it is
  tidy            the habits of this house that a program can check
  assets          provides kube-apiserver, kube-controller-manager, kubectl and etcd for tests, and says where they are

CI=true makes a part that cannot run here a failure; without it such a part is skipped, and counted as skipped.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does the chore; false says that it found something, and has said what.
fn dispatch(words: &[&str]) -> Result<bool> {
    match words {
        [] | ["help" | "-h" | "--help"] => {
            print!("{HELP}");
            Ok(true)
        }
        ["agent"] => agent::command(),
        ["assets"] => assets::command(),
        ["crds"] => generated::CRDS.write(),
        ["crds", "--check"] => generated::CRDS.check(),
        ["rbac"] => generated::RBAC.write(),
        ["rbac", "--check"] => generated::RBAC.check(),
        ["definitions"] => definitions::write(),
        ["definitions", "--check"] => definitions::check(),
        ["test"] => test::run(test::Scope::Everything),
        ["test", "--quick"] => test::run(test::Scope::Quick),
        [test::CHORE, program, arguments @ ..] => test::run_program(program, arguments),
        [test::BESIDE, program, arguments @ ..] => test::run_beside(program, arguments),
        ["tidy"] => tidy::command(),
        other => {
            eprintln!("error: there is no chore `{}`\n\n{HELP}", other.join(" "));
            Ok(false)
        }
    }
}
