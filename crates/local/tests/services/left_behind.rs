//! What a node that was killed leaves on the loopback device.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Duration;

use muster_local::services::{Options, run};
use muster_test_control_plane::skip;

use crate::stage::{BOUND, Stage};

/// Of a network that is nobody's, for documentation.
const ADDRESS: &str = "192.0.2.77/32";

/// The addresses of the loopback device, and whether it worked at all.
fn ip(words: &[&str]) -> Option<String> {
    let done = Command::new("ip").args(words).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

#[tokio::test]
async fn addresses_of_a_node_that_was_killed_are_removed_by_the_next() {
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let label = format!("lo:muster{}", dead.id());
    let added = ip(&["address", "add", ADDRESS, "dev", "lo", "label", &label]).is_some();
    if !added {
        let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        assert!(!root, "{ADDRESS} could not be added");
        return skip("only root may add an address, and so leave one behind");
    }
    let mut stage = Stage::ours("left").await;
    stage.also(run(stage.client.clone(), Options { slices: false }));
    let gone = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        while ip(&["address", "show", "dev", "lo"]).is_some_and(|shown| shown.contains(ADDRESS)) {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(BOUND, gone).await.unwrap();
}
