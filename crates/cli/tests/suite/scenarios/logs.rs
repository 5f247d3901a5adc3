//! `kubectl logs` on the Pods of members.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use muster_test_assets::{Binary, locate};

use crate::suite::{Cluster, PATIENCE};

/// A `kubectl logs -f`, which ends with this if not before.
struct Following {
    kubectl: Child,
    pieces: Receiver<Vec<u8>>,
    heard: Vec<u8>,
}

impl Following {
    fn of(cluster: &Cluster, pod: &str) -> Self {
        let mut command = Command::new(locate().unwrap().path(Binary::Kubectl));
        command.args(["logs", "-f", pod, "-c", "main"]).env("KUBECONFIG", cluster.world().kubeconfig());
        let mut kubectl = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut output = kubectl.stdout.take().unwrap();
        let (sender, pieces) = mpsc::channel();
        // Nobody can wait for output and a time at once.
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { kubectl, pieces, heard: Vec::new() }
    }

    /// Waits until this is so of all that was heard, and of whether there is no more to come.
    fn until(&mut self, what: &str, test: impl Fn(&[u8], bool) -> bool) {
        let (began, mut is_over) = (Instant::now(), false);
        while !test(&self.heard, is_over) {
            let heard = String::from_utf8_lossy(&self.heard);
            assert!(!is_over, "waited until {what}, and it ended: {heard}");
            match self.pieces.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
                Ok(piece) => self.heard.extend(piece),
                Err(RecvTimeoutError::Disconnected) => is_over = true,
                Err(RecvTimeoutError::Timeout) => panic!("waited until {what}: {heard}"),
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        drop(self.kubectl.kill());
        drop(self.kubectl.wait());
    }
}

pub(crate) fn kubectl_shows_what_members_say(cluster: &Cluster) {
    let pod = format!("{}-0", cluster.member(0));
    let logs = |words: &[&str]| {
        let all: Vec<&str> = ["logs", &pod].iter().chain(words).copied().collect();
        cluster.world().try_kubectl(&all)
    };
    let all = logs(&["-c", "main"]).unwrap();
    assert!(!all.is_empty(), "the agent says what it does");
    assert_eq!(logs(&["-c", "main", "--tail=1"]).unwrap().lines().count(), 1);
    assert_eq!(logs(&["-c", "main", "--limit-bytes=7"]).unwrap().len(), 7);
    assert!(logs(&["-c", "main", "--since=1h"]).unwrap().len() >= all.len());
    let timed = logs(&["-c", "main", "--timestamps", "--tail=1"]).unwrap();
    let time = timed.split(' ').next().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{timed}");
    let none = logs(&["-c", "main", "--previous"]).unwrap_err();
    assert!(
        none.contains("previous terminated container \"main\" in pod") && none.contains("not found"),
        "{none}"
    );
    let wrong = logs(&["-c", "nobody"]).unwrap_err();
    assert!(wrong.contains("container nobody is not valid for pod"), "{wrong}");

    // Who follows hears the end of the run, and the one before is kept.
    let mut follow = Following::of(cluster, &pod);
    // It follows this run: whoever asks when that is over follows the next one.
    follow.until("all was heard", |heard, _| heard.starts_with(all.as_bytes()));
    let before = cluster.agent(&cluster.member(0));
    cluster.kill_agent(&cluster.member(0));
    follow.until("the run is over", |_, is_over| is_over);
    assert!(follow.kubectl.wait().unwrap().success());
    cluster
        .until("it runs again", |_| cluster.agent(&cluster.member(0)).is_some_and(|pid| Some(pid) != before));
    assert!(logs(&["-c", "main", "--previous"]).unwrap().starts_with(&all));
    cluster.until_ready();
}
