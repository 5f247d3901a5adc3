//! The sandbox alone, for tests of this crate; in `muster` it is a hidden command.

use std::process::ExitCode;

use muster_local::sandbox;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let Err(error) = sandbox::run(&arguments[1..], &arguments[..1]);
    eprintln!("{error}");
    ExitCode::from(sandbox::NOT_STARTED)
}
