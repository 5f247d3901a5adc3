//! The command line.

use clap::{Parser, Subcommand};

use crate::access::Flags;
use crate::commands::{completion, member, pause, plan, request, status, tree, validate, wait};
use crate::error::EXIT_CODES;

/// Look after the replicated clusters of Muster
#[derive(Parser)]
#[command(name = "kubectl-muster", bin_name = "kubectl muster", version, after_help = EXIT_CODES)]
#[command(propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    /// The flags that every command has.
    #[command(flatten)]
    pub flags: Flags,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// See [`pause`].
    Stop(pause::Options),
    /// See [`pause`].
    Start(pause::Options),
    /// See [`status`].
    Status(status::Options),
    /// See [`tree`].
    Tree(tree::Options),
    /// See [`wait`].
    Wait(wait::Options),
    /// See [`plan`].
    Plan(plan::Options),
    /// See [`validate`].
    Validate(validate::Options),
    /// See [`member`].
    Enable(member::Options),
    /// See [`member`].
    Disable(member::Options),
    /// See [`request`].
    Recover(request::Recover),
    /// See [`request`].
    Switchover(request::Switchover),
    /// See [`request`].
    Fence(request::Fence),
    /// See [`request`].
    Forget(request::Forget),
    /// See [`request`].
    Rejoin(request::Rejoin),
    /// See [`completion`].
    Completion(completion::Options),
}

/// Reads the command line; ends the process where it is wrong or where help was asked for.
pub fn parse(words: &[String]) -> Arguments {
    Arguments::parse_from(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    fn accepts(words: &str) -> bool {
        Arguments::try_parse_from(words.split(' ')).is_ok()
    }

    #[test]
    fn flags_stand_anywhere_as_with_kubectl() {
        for words in [
            "kubectl-muster -n shop status orders",
            "kubectl-muster status orders -n shop --context c --kubeconfig f -o wide",
            "kubectl-muster wait orders --for=ready --timeout=5m --request-timeout=10s",
            "kubectl-muster stop clustering orders billing --wait",
        ] {
            assert!(accepts(words), "{words}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in [
            "kubectl-muster",
            "kubectl-muster stop orders",
            "kubectl-muster stop clustering",
            "kubectl-muster stop clustering orders -A",
            "kubectl-muster status orders -A",
            "kubectl-muster recover orders",
            "kubectl-muster recover orders --seed a --replicas 2",
            "kubectl-muster recover orders --replicas 2 --accept-data-loss",
            "kubectl-muster recover orders --replicas 0",
            "kubectl-muster fence orders",
            "kubectl-muster rejoin orders orders-a-0",
            "kubectl-muster validate",
            "kubectl-muster plan",
            "kubectl-muster plan orders -f f.yaml",
            "kubectl-muster completion tcsh",
        ] {
            assert!(!accepts(words), "{words}");
        }
    }
}
