//! Every namespace has an account named `default`.

use std::sync::Arc;

use serde_json::json;

use super::feed::Seen;
use super::queue::Queue;
use crate::error::ApiError;
use crate::lifecycle::metadata;
use crate::server::Server;
use crate::store::Key;

const NAMESPACES: &str = "/namespaces";
const ACCOUNTS: &str = "/serviceaccounts";
const NAME: &str = "default";

/// The namespaces that may lack their account.
#[derive(Default)]
pub(super) struct Accounts(Queue<String>);

impl Accounts {
    pub(super) fn observe(&mut self, seen: &Seen) {
        if seen.is_of(NAMESPACES) && !seen.gone {
            self.0.add(seen.key.name.clone());
        } else if seen.is_of(ACCOUNTS) && seen.gone && seen.key.name == NAME {
            self.0.add(seen.key.namespace.clone());
        }
    }

    /// Looks at what is in the queue; whether something failed.
    pub(super) async fn work(&mut self, server: &Server) -> bool {
        self.0.begin();
        while let Some(namespace) = self.0.next() {
            let outcome = give(server, &namespace).await;
            self.0.done(namespace, &outcome);
        }
        self.0.has_failed()
    }
}

async fn give(server: &Server, namespace: &str) -> Result<(), ApiError> {
    let key = |resource: &str, namespace: &str, name: &str| Key::new(&Arc::from(resource), namespace, name);
    let stays = server
        .own_get(&key(NAMESPACES, "", namespace))
        .is_some_and(|namespace| !metadata::is_ending(&namespace));
    let account = key(ACCOUNTS, namespace, NAME);
    if !stays || server.store().get(&account).is_some() {
        return Ok(());
    }
    let object = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace},
    });
    server.own_create(&account, &object).await
}
