//! The program `muster-ledger`: the actions that Muster's agent runs, and a client for people.

use std::process::ExitCode;

use crate::client::{Appended, Client};
use crate::control::{self, Request, Response};
use crate::frame::hex;
use crate::log::Log;
use crate::node::{Node, Role, Start};
use crate::surroundings::{Surroundings, with_port};
use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use serde_json::json;

/// A primary runs, in the words that OCF agents use.
const RUNNING_AS_PRIMARY: u8 = 8;
/// Nothing runs.
const STOPPED: u8 = 7;
/// What a client exits with when it cannot be known what became of an entry.
const UNKNOWN: u8 = 3;

/// A small replicated log.
#[derive(Parser)]
#[command(name = "muster-ledger", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Action: print what the stopped member holds
    Sequence,
    /// Action: run as the first member
    Seed,
    /// Action: run as primary
    Primary,
    /// Action: run as secondary
    Secondary,
    /// Action: print how the running member is; exits with 8 (primary), 0 (secondary) or 7 (stopped)
    Status,
    /// Action: make the running secondary primary
    Promote,
    /// Action: make the running primary secondary
    Demote,
    /// Action: count copies by the voters of now
    Join,
    /// Append entries, one for each word, or one for each line of standard input
    Append {
        /// Where the primary listens: HOST or HOST:PORT
        #[arg(long)]
        to: String,
        /// The entries
        entries: Vec<String>,
    },
    /// Print entries with their numbers
    Read {
        /// Where a member listens: HOST or HOST:PORT
        #[arg(long)]
        at: String,
        /// The first to print
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// How many to print at most
        #[arg(long, default_value_t = 1000)]
        count: usize,
    },
}

/// Runs the program with these words, its own name the first.
pub fn program(words: impl Iterator<Item = String>) -> ExitCode {
    match run(Arguments::parse_from(words).command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Sequence => sequence()?,
        Command::Seed => serve(Start::Seed)?,
        Command::Primary => serve(Start::Primary)?,
        Command::Secondary => serve(Start::Secondary)?,
        Command::Status => return status(),
        Command::Promote => {
            let told = Surroundings::read()?;
            let voters = told.electorate.voters.into_iter().collect();
            ask(&Request::Promote { term: told.term, voters, copies: told.electorate.copies })?;
        }
        Command::Demote => ask(&Request::Demote)?,
        Command::Join => {
            let electorate = Surroundings::read()?.electorate;
            let voters = electorate.voters.into_iter().collect();
            ask(&Request::CountBy { voters, copies: electorate.copies })?;
        }
        Command::Append { to, entries } => return append(&with_port(&to), entries),
        Command::Read { at, from, count } => {
            for (sequence, entry) in client(&with_port(&at))?.read(from, count)? {
                println!("{sequence} {entry}");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sequence() -> anyhow::Result<()> {
    let said = match Log::position_in(&Surroundings::data()?)? {
        Some(at) => {
            let position = hex(&at.digest[..8]);
            json!({
                "history": at.history.to_string(), "sequence": at.sequence, "position": position, "empty": false,
            })
        }
        None => json!({"history": "", "sequence": 0, "position": "", "empty": true}),
    };
    println!("{said}");
    Ok(())
}

fn serve(start: Start) -> anyhow::Result<()> {
    let node = Node::start(start, Surroundings::read()?)?;
    control::listen(&node).context("cannot listen for actions")?;
    Err(node.wait().into())
}

fn status() -> anyhow::Result<ExitCode> {
    match control::ask(&Surroundings::data()?, &Request::Status)? {
        Some(Response::Status(status)) => {
            println!("{}", serde_json::to_string(&status)?);
            Ok(match status.role {
                Role::Primary => ExitCode::from(RUNNING_AS_PRIMARY),
                Role::Secondary => ExitCode::SUCCESS,
            })
        }
        Some(other) => bail!("the ledger answered {other:?}"),
        None => Ok(ExitCode::from(STOPPED)),
    }
}

fn ask(request: &Request) -> anyhow::Result<()> {
    match control::ask(&Surroundings::data()?, request)? {
        Some(Response::Done) => Ok(()),
        Some(Response::Refused(why)) => bail!("{why}"),
        Some(other) => bail!("the ledger answered {other:?}"),
        None => bail!("no ledger runs here"),
    }
}

fn append(to: &str, entries: Vec<String>) -> anyhow::Result<ExitCode> {
    let mut client = client(to)?;
    let lines: Box<dyn Iterator<Item = std::io::Result<String>>> = if entries.is_empty() {
        Box::new(std::io::stdin().lines())
    } else {
        Box::new(entries.into_iter().map(Ok))
    };
    for entry in lines {
        match client.append(&entry?)? {
            Appended::Acknowledged(sequence) => println!("{sequence}"),
            Appended::Refused(why) => bail!("not appended: {why}"),
            Appended::Unknown(why) => {
                eprintln!("unknown: {why}");
                return Ok(ExitCode::from(UNKNOWN));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn client(address: &str) -> anyhow::Result<Client> {
    Client::connect(address).with_context(|| format!("cannot reach a ledger at {address}"))
}
