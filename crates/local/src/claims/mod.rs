//! Claims: volumes for them, each a directory on this machine, or a filesystem of the asked size.
//!
//! ```text
//! PersistentVolumeClaim ─▶ class of ours? someone uses it? ─▶ storage ─▶ PersistentVolume ─▶ bound
//! PersistentVolume whose claim is gone ─▶ Retain: released; Delete: storage removed, then the volume
//! ```
//!
//! Beside a real controller manager, which binds claims itself, only storage is provided: made for claims, and removed when
//! volumes are released.

mod bind;
mod objects;
mod place;
mod provision;
mod sized;
mod volumes;

use std::path::PathBuf;

use kube::Client;

use crate::control::Events;

pub use self::objects::{DIRECTORY, SIZED, classes};
pub use self::place::StorageError;
pub use self::sized::{directory_of, prepare, unmount_all};
pub use crate::control::command::CommandError;

/// How claims are served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory: volumes are below `volumes` in it, filesystem images below `images`.
    pub directory: PathBuf,
    /// The name of this node: volumes are bound to it.
    pub node: String,
    /// Whether claims are bound here too; not beside a real controller manager.
    pub binds: bool,
}

/// What the passes share.
struct Keeper {
    client: Client,
    events: Events,
    options: Options,
}

/// Provides for claims until dropped. Filesystems stay mounted: [`unmount_all`] ends that.
pub async fn run(client: Client, options: Options) {
    let events = Events::new(client.clone(), "muster.dev/volumes");
    let keeper = std::sync::Arc::new(Keeper { client, events, options });
    tokio::join!(provision::run(keeper.clone()), volumes::run(keeper));
}
