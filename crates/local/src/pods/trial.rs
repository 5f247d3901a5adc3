//! Whether containers can be kept apart on this machine: it is tried.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::spawner::Launcher;
use super::{Isolation, left, order};
use crate::sandbox::{self, Order, View};

/// How long the trial may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The best isolation that this machine has, and why it is not a better one.
pub async fn isolation(launcher: &Launcher, directory: &Path) -> (Isolation, Option<String>) {
    if !rustix::process::geteuid().is_root() {
        let why = "only root can give each container a view of its own".to_owned();
        return (Isolation::Paths, Some(why));
    }
    match tokio::time::timeout(PATIENCE, attempt(launcher, directory)).await {
        Ok(Ok(())) => (Isolation::Namespaces, None),
        Ok(Err(why)) => (Isolation::Paths, Some(why)),
        Err(_) => (Isolation::Paths, Some("a container of its own did not start in time".to_owned())),
    }
}

async fn attempt(launcher: &Launcher, directory: &Path) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let place = directory.join("trial");
    drop(std::fs::remove_dir_all(&place));
    let scratch = place.join("scratch");
    std::fs::create_dir_all(&scratch).map_err(words)?;
    let order = Order {
        command: vec!["true".to_owned()],
        environment: vec![("PATH".to_owned(), order::USUAL_PATH.to_owned())],
        directory: "/".into(),
        user: None,
        group: None,
        groups: Vec::new(),
        pid_file: place.join("pid"),
        noted: place.join(left::NOTED),
        view: Some(View { scratch, mounts: Vec::new(), hostname: "trial".to_owned() }),
    };
    let file = place.join("order");
    std::fs::write(&file, serde_json::to_vec(&order).map_err(|error| error.to_string())?).map_err(words)?;
    let Some((program, arguments)) = launcher.0.split_first() else {
        return Err("nothing to start".to_owned());
    };
    let mut command = tokio::process::Command::new(program);
    let given = sandbox::arguments(sandbox::own_number().map_err(words)?, &file);
    command.args(arguments).args(given).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(words)?;
    drop(std::fs::remove_dir_all(&place));
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}
