//! What of a container's processes is left: nobody says that a container has ended before nothing is.
//!
//! Each sandbox notes who it is: first the process around the container, then the container's own. The one around waits for everything
//! in the container, so it is told to end, and never killed.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use crate::sandbox::Identity;

/// The name of the file in a container's directory in which its processes note who they are.
pub(super) const NOTED: &str = "processes";
/// How often it is looked whether they have ended.
const STEP: Duration = Duration::from_millis(20);
/// After how long somebody should know that they do not.
const SAID_AFTER: Duration = Duration::from_secs(10);

/// Ends what an earlier run of this node may have left of a Pod; it has this directory.
pub(super) async fn end_pod(directory: &Path) {
    for container in std::fs::read_dir(directory.join("containers")).into_iter().flatten().flatten() {
        end_container(&Identity::noted(&container.path().join(NOTED))).await;
    }
}

/// Ends what is left of a container that noted these processes. It takes as long as it takes: a process that hangs in the kernel may
/// still write when it is let go.
pub(super) async fn end_container(noted: &[Identity]) {
    let mut say_at = Some(Instant::now() + SAID_AFTER);
    while noted.iter().any(Identity::lives) {
        if let Some((around, inner)) = noted.split_first() {
            for process in inner {
                process.signal(Signal::KILL);
            }
            around.signal(Signal::TERM);
        }
        if say_at.take_if(|at| *at <= Instant::now()).is_some() {
            let left: Vec<i32> = noted.iter().filter(|one| one.lives()).map(Identity::number).collect();
            tracing::warn!(?left, "processes of a container do not end, though they were killed");
        }
        tokio::time::sleep(STEP).await;
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn process() -> (Child, Identity) {
        let child = Command::new("tail").args(["-f", "/dev/null"]).spawn().unwrap();
        let identity = Identity::of(child.id().try_into().unwrap()).unwrap();
        (child, identity)
    }

    #[tokio::test]
    async fn what_is_noted_is_ended_and_nothing_else() {
        let directory = std::env::temp_dir().join(format!("muster-left-{}", std::process::id()));
        let container = directory.join("containers/main");
        std::fs::create_dir_all(&container).unwrap();
        let (mut around, mut inner, mut stranger) = (process(), process(), process());
        let noted = container.join(NOTED);
        around.1.note(&noted).unwrap();
        inner.1.note(&noted).unwrap();
        // The stranger has a number that another process had before.
        let lines = std::fs::read_to_string(&noted).unwrap();
        std::fs::write(&noted, format!("{lines}{} 1 before\n", stranger.1.number())).unwrap();
        end_pod(&directory).await;
        assert!(!around.1.lives() && !inner.1.lives() && stranger.1.lives());
        stranger.0.kill().unwrap();
        for child in [&mut around.0, &mut inner.0, &mut stranger.0] {
            child.wait().unwrap();
        }
        std::fs::remove_dir_all(directory).unwrap();
    }
}
