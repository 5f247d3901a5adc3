//! `kubectl muster completion SHELL`, and the answers to kubectl when it completes `kubectl muster …`.
//!
//! kubectl asks a program `kubectl_complete-muster` on the path, with the words typed so far; a link of that name to this
//! program is enough. It is answered as cobra does: one suggestion in a line, then a colon and a number.

use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use kube::ResourceExt;
use kube::api::ListParams;

use crate::access::{Access, Flags};
use crate::arguments::Arguments;
use crate::console::Console;
use crate::error::Failure;
use crate::session::Session;

/// The name under which kubectl asks.
const ASKED_AS: &str = "kubectl_complete-muster";
/// Cobra's word for "do not complete files".
const NO_FILES: &str = ":4";
/// Cobra's word for "as usual", files included.
const USUAL: &str = ":0";
/// A person waits for the names after pressing a key.
const PATIENCE: Duration = Duration::from_secs(2);

const LONG_ABOUT: &str = "Print a script that completes kubectl-muster in your shell.\n\n\
    bash:  source <(kubectl muster completion bash)\n\
    zsh:   kubectl muster completion zsh > \"${fpath[1]}/_kubectl-muster\"\n\
    fish:  kubectl muster completion fish | source\n\n\
    To complete `kubectl muster …` with kubectl's own completion, clusters and members included, link this program a second \
    time: ln -s \"$(command -v kubectl-muster)\" /usr/local/bin/kubectl_complete-muster";

/// Print a script that completes commands in your shell
#[derive(clap::Args)]
#[command(long_about = LONG_ABOUT)]
pub struct Options {
    /// bash, zsh or fish
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// Prints the script.
pub fn run(options: &Options, session: &Session) -> Result<(), Failure> {
    let shell: Shell = options.shell.parse().map_err(Failure::Usage)?;
    let mut script = Vec::new();
    let mut command = Arguments::command().bin_name("kubectl-muster");
    clap_complete::generate(shell, &mut command, "kubectl-muster", &mut script);
    session.console.show(&String::from_utf8_lossy(&script));
    Ok(())
}

/// Whether this run is a question of kubectl.
pub fn is_asked_by_kubectl(words: &[String]) -> bool {
    words.first().is_some_and(|program| program.rsplit('/').next() == Some(ASKED_AS))
}

/// Answers it. Nothing to suggest is no error.
pub async fn answer_kubectl(words: &[String], console: &Console) -> ExitCode {
    let typed = words.get(1..).unwrap_or_default();
    let (current, before) = typed.split_last().map_or(("", typed), |(last, rest)| (last.as_str(), rest));
    let (suggestions, end) = match static_suggestions(before) {
        Suggest::Words(words) => (words, NO_FILES),
        Suggest::Files => (Vec::new(), USUAL),
        Suggest::Nothing => (Vec::new(), NO_FILES),
        Suggest::Clusters => (names(before, None).await, NO_FILES),
        Suggest::Members(cluster) => (names(before, Some(&cluster)).await, NO_FILES),
    };
    let flags = if current.starts_with('-') { flags(before) } else { Vec::new() };
    let all = if current.starts_with('-') { flags } else { suggestions };
    for word in all.iter().filter(|word| word.starts_with(current)) {
        console.say(word);
    }
    console.say(end);
    ExitCode::SUCCESS
}

/// What may come next.
#[derive(Debug, PartialEq, Eq)]
enum Suggest {
    Words(Vec<String>),
    Clusters,
    Members(String),
    Files,
    Nothing,
}

/// The words that are no flags, and none that a flag takes.
fn positionals(command: &clap::Command, before: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut skip = false;
    for word in before {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word.strip_prefix('-') {
            None => words.push(word.clone()),
            Some(rest) => skip = !word.contains('=') && takes_value(command, rest),
        }
    }
    words
}

fn takes_value(command: &clap::Command, flag: &str) -> bool {
    let long = flag.strip_prefix('-');
    let is_it = |argument: &&clap::Arg| match long {
        Some(name) => argument.get_long() == Some(name),
        None => argument.get_short().is_some_and(|short| flag.chars().eq([short])),
    };
    let everywhere = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let found = command.get_arguments().chain(everywhere).find(is_it);
    found.is_some_and(|argument| argument.get_action().takes_values())
}

fn static_suggestions(before: &[String]) -> Suggest {
    let command = Arguments::command();
    if let Some(flag) = before.last().filter(|word| word.starts_with('-') && !word.contains('=')) {
        match flag.as_str() {
            "-o" | "--output" => return Suggest::Words(["json", "yaml", "wide"].map(str::to_owned).to_vec()),
            "--seed" | "--to" => {
                let words = positionals(&command, before);
                return words.get(1).cloned().map_or(Suggest::Nothing, Suggest::Members);
            }
            "-f" | "--filename" | "--kubeconfig" => return Suggest::Files,
            flag if takes_value(&command, flag.trim_start_matches('-')) => return Suggest::Nothing,
            flag if flag.starts_with("--")
                && takes_value(&command, flag.strip_prefix('-').unwrap_or(flag)) =>
            {
                return Suggest::Nothing;
            }
            _ => {}
        }
    }
    let words = positionals(&command, before);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => {
            let all = command.get_subcommands().map(|command| command.get_name().to_owned());
            Suggest::Words(all.collect())
        }
        ["stop" | "start"] => Suggest::Words(["clustering", "reconciliation"].map(str::to_owned).to_vec()),
        ["completion"] => Suggest::Words(["bash", "zsh", "fish"].map(str::to_owned).to_vec()),
        ["stop" | "start", _, ..]
        | ["wait", ..]
        | [
            "status" | "tree" | "plan" | "enable" | "disable" | "recover" | "switchover" | "fence" | "forget"
            | "rejoin",
        ] => Suggest::Clusters,
        ["enable" | "disable" | "fence" | "forget", cluster, ..] | ["rejoin", cluster] => {
            Suggest::Members((*cluster).to_owned())
        }
        _ => Suggest::Nothing,
    }
}

/// The flags of the command, those of every command included.
fn flags(before: &[String]) -> Vec<String> {
    let command = Arguments::command();
    let words = positionals(&command, before);
    let own = words.first().and_then(|name| command.find_subcommand(name));
    let own = own.into_iter().flat_map(clap::Command::get_arguments);
    let all = command.get_arguments().chain(own).filter_map(clap::Arg::get_long);
    all.map(|name| format!("--{name}")).collect()
}

/// The names of clusters, or of one cluster's members; none where they cannot be had quickly.
async fn names(before: &[String], cluster: Option<&str>) -> Vec<String> {
    let asked = async {
        let access = Access::connect(&flags_of(before)).await.ok()?;
        if let Some(cluster) = cluster {
            let members = access.members_of(cluster).await.ok()?;
            return Some(members.iter().map(ResourceExt::name_any).collect());
        }
        let list = access.list("list clusters", &access.clusters(), ListParams::default()).await.ok()?;
        Some(list.iter().map(ResourceExt::name_any).collect())
    };
    tokio::time::timeout(PATIENCE, asked).await.ok().flatten().unwrap_or_default()
}

/// The flags typed so far, as far as they are complete.
fn flags_of(before: &[String]) -> Flags {
    #[derive(Parser)]
    #[command(ignore_errors = true, disable_help_flag = true)]
    struct Typed {
        #[command(flatten)]
        flags: Flags,
        #[arg(trailing_var_arg = false)]
        _rest: Vec<String>,
    }
    let words = std::iter::once("kubectl-muster".to_owned()).chain(before.iter().cloned());
    Typed::try_parse_from(words).map(|typed| typed.flags).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggest(words: &str) -> Suggest {
        static_suggestions(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_may_come_next() {
        let Suggest::Words(commands) = suggest("") else { panic!("no commands") };
        assert!(commands.contains(&"status".to_owned()) && commands.contains(&"rejoin".to_owned()));
        assert_eq!(suggest("stop"), Suggest::Words(vec!["clustering".into(), "reconciliation".into()]));
        assert_eq!(suggest("stop clustering -n shop"), Suggest::Clusters);
        assert_eq!(suggest("-n shop status"), Suggest::Clusters);
        assert_eq!(suggest("fence orders orders-a-0"), Suggest::Members("orders".into()));
        assert_eq!(suggest("recover orders --seed"), Suggest::Members("orders".into()));
        assert_eq!(suggest("status orders -n"), Suggest::Nothing);
        assert_eq!(suggest("status orders --context"), Suggest::Nothing);
        assert_eq!(suggest("validate -f"), Suggest::Files);
        assert_eq!(suggest("status orders"), Suggest::Nothing);
    }

    #[test]
    fn the_flags_typed_so_far_choose_the_cluster() {
        let words = ["fence", "-n", "shop", "orders", "--context=c"].map(str::to_owned);
        let flags = flags_of(&words);
        assert_eq!((flags.namespace.as_deref(), flags.context.as_deref()), (Some("shop"), Some("c")));
    }

    #[test]
    fn kubectl_asks_by_name() {
        assert!(is_asked_by_kubectl(&["/usr/bin/kubectl_complete-muster".to_owned()]));
        assert!(!is_asked_by_kubectl(&["kubectl-muster".to_owned()]));
    }
}
