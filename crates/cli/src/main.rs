//! `muster`: everything on one machine, and each part of it alone.

mod apiserver;
mod crds;
mod operator;

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
    Operator(operator::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Apiserver(options) => apiserver::run(&options),
        Command::Crds(options) => crds::run(&options),
        Command::Operator(options) => operator::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", in_one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes, each said once: some messages end with their cause already.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        if said.ends_with(&cause) {
            return said;
        }
        let between = if said.is_empty() { "" } else { ": " };
        said + between + &cause
    })
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
