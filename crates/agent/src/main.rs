//! The program `muster-agent`.

use std::process::ExitCode;

fn main() -> ExitCode {
    muster_agent::program::program(std::env::args().skip(1))
}
