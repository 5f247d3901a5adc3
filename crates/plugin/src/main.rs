//! The program `kubectl-muster`; kubectl finds it on the path and runs it as `kubectl muster`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    muster_plugin::program::program(&words)
}
