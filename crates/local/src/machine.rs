//! All of it together: a machine that is a node, alone or beside a real controller manager.

use std::path::PathBuf;

use kube::Client;
use kube::api::{Patch, PatchParams};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::control::{Error, bounded};
use crate::logs::endpoint::Endpoint;
use crate::logs::{Growing, Logs};
use crate::pods::{Isolation, Launcher};
use crate::{claims, node, pods, services, workloads};

/// Who writes the storage classes.
const MANAGER: &str = "muster-node";

/// What a machine is made of.
pub struct Parts {
    /// How the API server is called.
    pub client: Client,
    /// The node's name.
    pub node: String,
    /// Where volumes, Pods and their logs are.
    pub directory: PathBuf,
    /// Where Muster's own programs are.
    pub programs: PathBuf,
    /// How a sandbox is started.
    pub launcher: Launcher,
    /// How containers are kept apart.
    pub isolation: Isolation,
    /// Whether there is no controller manager: its part is then done here too.
    pub alone: bool,
    /// Whether there is no scheduler: every Pod without a node that fits this one is given it.
    pub schedules: bool,
    /// Where logs are served to an API server that is another process; None: nowhere.
    pub endpoint: Option<Endpoint>,
}

/// A machine at work. Dropped, it stops at once; [`Machine::stop`] lets Pods end.
pub struct Machine {
    tasks: JoinSet<()>,
    pods: JoinHandle<()>,
    stop: watch::Sender<bool>,
    directory: PathBuf,
    logs: Logs,
}

impl Machine {
    /// Registers the node and begins to work.
    pub async fn start(parts: Parts) -> Result<Self, Error> {
        let client = parts.client;
        let port = parts.endpoint.as_ref().map(Endpoint::port);
        node::register(&client, &parts.node, port).await?;
        make_classes(&client, parts.alone).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(node::run(client.clone(), parts.node.clone(), port));
        if parts.alone {
            tasks.spawn(workloads::run(client.clone()));
        }
        let (directory, node, binds) = (parts.directory, parts.node, parts.alone);
        let claims = claims::Options { directory: directory.clone(), node: node.clone(), binds };
        tasks.spawn(claims::run(client.clone(), claims));
        tasks.spawn(services::run(client.clone(), services::Options { slices: parts.alone }));
        let growing = Growing::default();
        let logs = Logs::new(client.clone(), node.clone(), &directory, growing.clone());
        if let Some(endpoint) = parts.endpoint {
            tasks.spawn(endpoint.serve(logs.clone()));
        }
        let options = pods::Options {
            client,
            node,
            directory: directory.clone(),
            programs: parts.programs,
            launcher: parts.launcher,
            isolation: parts.isolation,
            directory_of: claims::directory_of,
            schedules: parts.schedules,
            growing,
        };
        let (stop, stopped) = watch::channel(false);
        let pods = tokio::spawn(pods::run(options, stopped));
        Ok(Self { tasks, pods, stop, directory, logs })
    }

    /// What its containers say.
    pub fn logs(&self) -> Logs {
        self.logs.clone()
    }

    /// Waits until a part of it ends by itself, which none should.
    pub async fn failed(&mut self) -> String {
        let ended = tokio::select! {
            ended = &mut self.pods => ended,
            Some(ended) = self.tasks.join_next() => ended,
        };
        ended.map_or_else(|error| error.to_string(), |()| "it ended by itself".to_owned())
    }

    /// Ends all containers as Pods ask for, and lets go of filesystems and addresses. What cannot be let go of is named.
    pub async fn stop(mut self) -> Vec<String> {
        self.stop.send_replace(true);
        let mut left = Vec::new();
        if !self.pods.is_finished()
            && let Err(error) = (&mut self.pods).await
        {
            left.push(error.to_string());
        }
        self.tasks.shutdown().await;
        left.extend(claims::unmount_all(&self.directory).await.err().map(|error| error.to_string()));
        services::remove_addresses().await;
        left
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.pods.abort();
    }
}

/// The classes of volumes that are made here. On a machine of its own one of them is the default; elsewhere that is not ours to say.
async fn make_classes(client: &Client, alone: bool) -> Result<(), Error> {
    let api: kube::Api<k8s_openapi::api::storage::v1::StorageClass> = kube::Api::all(client.clone());
    for mut class in claims::classes() {
        if !alone {
            class.metadata.annotations = None;
        }
        let name = class.metadata.name.clone().unwrap_or_default();
        bounded(api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&class))).await?;
    }
    Ok(())
}
