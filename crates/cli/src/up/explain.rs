//! What is said when the cluster is Ready: how to look at it, how to connect, and what to try.

use std::io::Write as _;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use muster_api::ReplicatedCluster;
use muster_apiserver::serve::files::write_private;

use super::sample::{NAME, NAMESPACE};
use crate::apiserver::place::Place;
use crate::engines::{GALERA, LEDGER};

/// The account for people, and the key of its password.
const ACCOUNT: &str = "admin";
/// The Secret of Galera's accounts, after the cluster's name.
const ACCOUNTS: &str = "accounts";

/// It is said once, as a whole. Neither that nobody reads it nor that a part cannot be said ends what runs.
pub(super) async fn explain(client: &Client, place: &Place, sample: Option<&ReplicatedCluster>) {
    let (directory, kubeconfig) = (place.directory().display(), place.kubeconfig());
    let kubeconfig = kubeconfig.display();
    let mut lines = vec![
        format!("ready: KUBECONFIG={kubeconfig}"),
        String::new(),
        format!("  export KUBECONFIG={kubeconfig} PATH={directory}/bin:$PATH"),
    ];
    if let Some(sample) = sample {
        lines.push("  kubectl get rcl,mbr                     # the cluster and its members".to_owned());
        lines.push(format!("  kubectl muster status {NAME}              # what a person wants to know"));
        lines.extend(
            connect(client, place, sample)
                .await
                .unwrap_or_else(|error| Some(format!("  # how a client connects cannot be said: {error:#}"))),
        );
        lines.push(format!("  kubectl delete pod {NAME}-a-0-0           # and watch it come back"));
        lines.push(format!(
            "  kubectl muster stop clustering {NAME}     # nobody looks; then: start clustering"
        ));
    }
    lines.extend([String::new(), "Ctrl-C stops everything.".to_owned(), String::new()]);
    let mut output = std::io::stdout();
    drop(output.write_all(lines.join("\n").as_bytes()).and_then(|()| output.flush()));
}

/// The command that connects a client.
async fn connect(client: &Client, place: &Place, sample: &ReplicatedCluster) -> Result<Option<String>> {
    let Some(endpoint) = sample.status.as_ref().and_then(|status| status.endpoint.as_ref()) else {
        return Ok(None);
    };
    let address = format!("{}:{}", endpoint.host, endpoint.port);
    Ok(match sample.spec.engine.name.as_str() {
        LEDGER => Some(format!("  muster-ledger append --to {address} hello")),
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
            Some(format!("  mariadb --defaults-file={}  # as {ACCOUNT}, at {address}", file.display()))
        }
        _ => None,
    })
}
