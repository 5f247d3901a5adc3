//! `muster`: everything on one machine, and each part of it alone.

mod access;
mod apiserver;
mod crds;
mod election;
mod engines;
mod foreground;
mod node;
mod operator;
mod programs;
mod rbac;
mod sandbox;
mod up;

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
    Engines(engines::Options),
    Node(node::Options),
    Operator(operator::Options),
    Rbac(rbac::Options),
    #[command(hide = true)]
    Sandbox(sandbox::Options),
    Up(up::Options),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let Some(code) = programs::by_name(&words) {
        return code;
    }
    let done = |()| ExitCode::SUCCESS;
    let outcome = match Arguments::parse().command {
        Command::Apiserver(options) => apiserver::run(&options).map(done),
        Command::Crds(options) => crds::run(&options).map(done),
        Command::Engines(options) => engines::run(&options).map(done),
        Command::Node(options) => node::run(&options).map(done),
        Command::Operator(options) => operator::run(&options).map(done),
        Command::Rbac(options) => rbac::run(&options).map(done),
        Command::Sandbox(options) => sandbox::run(&options),
        Command::Up(options) => up::run(&options).map(done),
    };
    match outcome {
        Ok(code) => code,
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
