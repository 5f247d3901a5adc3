//! What containers said, for `kubectl logs`: as a kubelet tells it to the API server.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | which log is meant, and why there is none |
//! | `options.rs` | how much of it is wanted |
//! | `reader.rs` | the lines, from the first wanted one on, and those to come |
//! | `endpoint.rs` | the same over HTTPS, for an API server that is another process |

pub mod endpoint;
mod options;
mod reader;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::watch;

use self::options::Options;
use self::reader::Reader;
use crate::control::bounded;

/// What a container said, piece by piece.
pub type Said = BoxStream<'static, Vec<u8>>;

/// Why there is nothing to read, with the code that a kubelet would answer with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// In words.
    pub message: String,
}

impl Refusal {
    fn bad_request(message: String) -> Self {
        Self { code: 400, message }
    }

    fn not_found(message: String) -> Self {
        Self { code: 404, message }
    }

    fn internal(message: String) -> Self {
        Self { code: 500, message }
    }
}

/// The logs of one node.
#[derive(Clone)]
pub struct Logs {
    client: Client,
    node: String,
    /// Where Pods have their directories.
    place: PathBuf,
    growing: Growing,
}

impl Logs {
    /// Of the node of this name, whose data is in this directory.
    pub fn new(client: Client, node: String, directory: &Path, growing: Growing) -> Self {
        Self { client, node, place: crate::pods::place(directory), growing }
    }

    /// What this container said, as far as the query asks for it: `follow`, `previous`, `tailLines`, `sinceSeconds`, `sinceTime`,
    /// `timestamps`, `limitBytes`, as in the API of Pods.
    pub async fn read(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        query: &str,
    ) -> Result<Said, Refusal> {
        let options = Options::parse(query).map_err(Refusal::bad_request)?;
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let found = bounded(pods.get_opt(pod)).await;
        let found = found.map_err(|error| Refusal::internal(format!("the Pod cannot be read: {error}")))?;
        let runs_here =
            |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref()) == Some(&self.node);
        let Some(found) = found.filter(runs_here) else {
            return Err(Refusal::not_found(format!("pod \"{pod}\" is not on node {}", self.node)));
        };
        if !has_container(&found, container) {
            let message = format!("container \"{container}\" in pod \"{pod}\" is not available");
            return Err(Refusal::bad_request(message));
        }
        let directory = self.place.join(found.uid().unwrap_or_default()).join("containers").join(container);
        let mut runs = runs(&directory).into_iter().rev().skip(usize::from(options.previous));
        let Some(run) = runs.next() else {
            return Err(Refusal::bad_request(if options.previous {
                format!("previous terminated container \"{container}\" in pod \"{pod}\" not found")
            } else {
                let why = waits_for(&found, container);
                format!("container \"{container}\" in pod \"{pod}\" is waiting to start: {why}")
            }));
        };
        let file = file(&directory, run);
        let growing = self.growing.of(&file);
        let reader = Reader::open(file, options, growing).await;
        let reader = reader.map_err(|error| Refusal::internal(format!("the log cannot be read: {error}")))?;
        Ok(Box::pin(futures::stream::unfold(reader, |mut reader| async move {
            let piece = reader.next().await?;
            Some((piece, reader))
        })))
    }
}

fn has_container(pod: &Pod, name: &str) -> bool {
    let spec = pod.spec.as_ref();
    let main = spec.into_iter().flat_map(|spec| &spec.containers);
    let init = spec.into_iter().flat_map(|spec| spec.init_containers.iter().flatten());
    main.chain(init).any(|container| container.name == name)
}

/// Why a container has not begun.
fn waits_for(pod: &Pod, name: &str) -> String {
    let status = pod.status.as_ref();
    let main = status.into_iter().flat_map(|status| status.container_statuses.iter().flatten());
    let init = status.into_iter().flat_map(|status| status.init_container_statuses.iter().flatten());
    let reason = |status: &ContainerStatus| status.state.as_ref()?.waiting.as_ref()?.reason.clone();
    let found = main.chain(init).find(|status| status.name == name).and_then(reason);
    found.unwrap_or_else(|| "ContainerCreating".to_owned())
}

/// The file with what a container said in this run.
pub(crate) fn file(directory: &Path, run: u32) -> PathBuf {
    directory.join(format!("{run}.log"))
}

/// The runs of a container of which something is kept, the first one first.
pub(crate) fn runs(directory: &Path) -> Vec<u32> {
    let number = |name: &std::ffi::OsStr| name.to_str()?.strip_suffix(".log")?.parse().ok();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut runs: Vec<u32> = entries.filter_map(|entry| number(&entry.file_name())).collect();
    runs.sort_unstable();
    runs
}

/// The logs that are being written now, by their files.
#[derive(Clone, Default)]
pub struct Growing(Arc<Mutex<BTreeMap<PathBuf, watch::Receiver<()>>>>);

impl Growing {
    /// A log begins to grow, until what is returned is dropped.
    pub(crate) fn begin(&self, file: &Path) -> watch::Sender<()> {
        let (grown, readers) = watch::channel(());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, readers| readers.has_changed().is_ok());
        all.insert(file.to_owned(), readers);
        grown
    }

    /// Tells of each line of this log; None: nobody writes it.
    fn of(&self, file: &Path) -> Option<watch::Receiver<()>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(file).filter(|readers| readers.has_changed().is_ok()).cloned()
    }
}
