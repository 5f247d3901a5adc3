//! The program `muster-ledger`.

use std::process::ExitCode;

fn main() -> ExitCode {
    muster_ledger::program::program(std::env::args())
}
