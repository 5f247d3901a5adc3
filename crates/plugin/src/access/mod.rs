//! The cluster that is spoken with: how it is found, and every call to it bounded and told in the user's words.

mod call;
mod connect;
mod flags;
mod follow;
mod operator;
mod read;

use std::time::Duration;

use kube::Client;

pub use flags::{Flags, Output};
pub use follow::{Follow, Step};
pub use operator::{Knowledge, Operator};
pub use read::{object, short_member};

/// A cluster, and the namespace that is meant.
#[derive(Clone)]
pub struct Access {
    /// The client.
    pub client: Client,
    /// The namespace: `-n`, else the context's.
    pub namespace: String,
    /// How long one call may take.
    limit: Duration,
    /// Its address, for messages.
    server: String,
}

impl Access {
    /// A cluster by a client that is there already.
    pub fn of(client: Client, flags: &Flags) -> Self {
        let namespace = flags.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        Self { client, namespace, limit: flags.limit(), server: "the server".to_owned() }
    }

    /// The same cluster, in another namespace.
    #[must_use]
    pub fn within(&self, namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), ..self.clone() }
    }

    /// `-n NAMESPACE ` for commands that a message suggests, where it is not the default.
    pub fn namespace_flag(&self) -> String {
        if self.namespace == self.client.default_namespace() {
            String::new()
        } else {
            format!("-n {} ", self.namespace)
        }
    }
}
