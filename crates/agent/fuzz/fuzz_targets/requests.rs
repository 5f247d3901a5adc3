//! Any bytes on a connection to an agent: `cargo +nightly fuzz run requests` in `crates/agent`.

#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use muster_agent::run::Agent;
use tokio::runtime::Runtime;

#[path = "../../tests/requests/harness.rs"]
mod harness;

/// After so many requests there is a new agent on a new disk, so that what one run left behind does not explain another.
const REQUESTS_PER_AGENT: u32 = 2_000;
/// What children are started by. They end at once: this process is no agent's program, and what they would do is nothing.
const NO_PROGRAM: &str = "/bin/false";

struct Scene {
    agent: Agent,
    runtime: Runtime,
    requests: u32,
    /// Held: it goes when the agent does.
    _place: harness::Place,
}

thread_local! {
    static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
}

fn scene() -> Scene {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = harness::Place::new(&std::env::temp_dir());
    let agent = runtime.block_on(harness::agent(&place, PathBuf::from(NO_PROGRAM)));
    Scene { agent, runtime, requests: 0, _place: place }
}

fuzz_target!(|input: &[u8]| {
    SCENE.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|scene| scene.requests >= REQUESTS_PER_AGENT) {
            // The one before goes first: it holds the lock of its disk.
            *kept = None;
            *kept = Some(scene());
        }
        if let Some(scene) = kept {
            scene.requests += 1;
            scene.runtime.block_on(harness::play(&scene.agent, input));
        }
    });
});
