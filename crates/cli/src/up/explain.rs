//! What is said when the cluster is Ready: how to look at it, how to connect, and what to try. Every line that is indented is a command, and
//! a test runs them all.

use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use muster_api::ReplicatedCluster;
use muster_apiserver::serve::files::write_private;

use super::sample::{NAME, NAMESPACE, resume};
use crate::apiserver::place::Place;
use crate::engines::{GALERA, LEDGER};

/// The account for people, and the key of its password.
const ACCOUNT: &str = "admin";
/// The Secret of Galera's accounts, after the cluster's name.
const ACCOUNTS: &str = "accounts";
/// Where what is said of a command begins.
const REMARKS_AT: usize = 44;
/// Where whoever has no kubectl gets it.
const KUBECTL: &str = "https://kubernetes.io/docs/tasks/tools";

/// It is said once, as a whole. Neither that nobody reads it nor that a part cannot be said ends what runs.
pub(super) async fn explain(client: &Client, place: &Place, sample: Option<&ReplicatedCluster>) {
    let kubeconfig = place.kubeconfig();
    let mut lines = vec![format!("ready: KUBECONFIG={}", kubeconfig.display()), String::new()];
    lines.push("To look at it, in another terminal:".to_owned());
    let path = word(&place.directory().join("bin"));
    lines.push(format!("  export KUBECONFIG={} PATH={path}:\"$PATH\"", word(&kubeconfig)));
    if !is_there("kubectl") {
        lines.push(format!(
            "  # kubectl is not on this machine's path; {KUBECTL} has it. `kubectl-muster` does without it."
        ));
    }
    match sample {
        Some(sample) => lines.extend(of_sample(client, place, sample).await),
        None => lines.push(command("kubectl get eng,storageclasses", "what clusters can be made of")),
    }
    lines.extend([String::new(), "Ctrl-C stops everything.".to_owned(), String::new()]);
    let mut output = std::io::stdout();
    drop(output.write_all(lines.join("\n").as_bytes()).and_then(|()| output.flush()));
}

async fn of_sample(client: &Client, place: &Place, sample: &ReplicatedCluster) -> Vec<String> {
    let mut lines: Vec<String> = resume(sample).iter().map(|(what, why)| command(what, why)).collect();
    lines.extend([
        command("kubectl get rcl,mbr", "the cluster and its members"),
        command(&format!("kubectl muster status {NAME}"), "what a person wants to know"),
        "To connect a client:".to_owned(),
    ]);
    let connect = connect(client, place, sample).await;
    lines.extend(
        connect.unwrap_or_else(|error| vec![format!("  # how a client connects cannot be said: {error:#}")]),
    );
    lines.push("To break it, and to see it mended:".to_owned());
    for (what, why) in [
        (format!("kubectl delete pod {NAME}-a-0-0"), "a member goes; the others serve on"),
        (format!("kubectl muster wait {NAME}"), "until all of it is well again"),
        (format!("kubectl muster stop clustering {NAME}"), "nobody watches over it, and status says so"),
        (format!("kubectl muster start clustering {NAME}"), "somebody does again"),
    ] {
        lines.push(command(&what, why));
    }
    lines
}

/// A line to type, and what it is for.
fn command(what: &str, why: impl Display) -> String {
    format!("  {what:<REMARKS_AT$} # {why}")
}

/// A path as one word of a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Whether a person who types this name finds a program.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The commands that connect a client.
async fn connect(client: &Client, place: &Place, sample: &ReplicatedCluster) -> Result<Vec<String>> {
    let Some(endpoint) = sample.status.as_ref().and_then(|status| status.endpoint.as_ref()) else {
        return Ok(Vec::new());
    };
    let address = format!("{}:{}", endpoint.host, endpoint.port);
    Ok(match sample.spec.engine.name.as_str() {
        LEDGER => vec![
            command(&format!("muster-ledger append --to {address} hello"), "an entry, and its number"),
            command(&format!("muster-ledger read --at {address}"), "all of them"),
        ],
        GALERA => {
            let accounts: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
            let secret = accounts.get(&format!("{NAME}-{ACCOUNTS}")).await;
            let data = secret.context("cannot read the sample's accounts")?.data.unwrap_or_default();
            let password =
                data.get(ACCOUNT).map(|value| String::from_utf8_lossy(&value.0)).unwrap_or_default();
            // In a file: a password on a command line is everyone's to see.
            let options = format!(
                "[client]\nprotocol=tcp\nhost={}\nport={}\nuser={ACCOUNT}\npassword={password}\n",
                endpoint.host, endpoint.port
            );
            let file = place.directory().join(format!("{NAME}.cnf"));
            write_private(&file, &options)?;
            let open = format!("mariadb --defaults-file={}", word(&file));
            vec![command(&open, format_args!("as {ACCOUNT}, at {address}"))]
        }
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        assert_eq!(word(Path::new("/srv/me/.local/share/muster")), "/srv/me/.local/share/muster");
        assert_eq!(word(Path::new("/a b/it's $HOME")), r"'/a b/it'\''s $HOME'");
    }

    #[test]
    fn what_is_said_of_a_command_stands_apart_from_it() {
        assert_eq!(command("ls", "files").find('#'), Some(REMARKS_AT + 3));
        let long = "x".repeat(2 * REMARKS_AT);
        assert!(command(&long, "files").ends_with("x # files"));
    }
}
