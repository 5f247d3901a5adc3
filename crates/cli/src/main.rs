//! `muster`: everything on one machine, and each part of it alone.

mod apiserver;
mod crds;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Replicated, stateful clusters that tell the truth.
#[derive(Parser)]
#[command(name = "muster", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Apiserver(apiserver::Options),
    Crds(crds::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Apiserver(options) => apiserver::run(&options),
        Command::Crds(options) => crds::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
