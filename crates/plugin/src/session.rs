//! One run of the program: its flags, where it speaks, and the cluster it speaks with.

use kube::Client;

use crate::access::{Access, Flags, Output};
use crate::console::Console;
use crate::error::Failure;

/// What every command is given.
pub struct Session {
    /// The flags that all commands have.
    pub flags: Flags,
    /// Where results, notes and questions go.
    pub console: Console,
    /// A client that was made elsewhere, for tests.
    client: Option<Client>,
}

impl Session {
    /// A session that finds its cluster by its flags.
    pub fn new(flags: Flags, console: Console) -> Self {
        Self { flags, console, client: None }
    }

    /// A session on this very client.
    pub fn with_client(flags: Flags, console: Console, client: Client) -> Self {
        Self { flags, console, client: Some(client) }
    }

    /// The cluster that the flags name. It is not spoken to yet.
    pub async fn access(&self) -> Result<Access, Failure> {
        match &self.client {
            Some(client) => Ok(Access::of(client.clone(), &self.flags)),
            None => Access::connect(&self.flags).await,
        }
    }

    /// In which form results are shown.
    pub fn output(&self) -> Output {
        self.flags.output.unwrap_or_default()
    }
}
