//! Any bytes as a request: `cargo +nightly fuzz run requests` in `crates/apiserver`.

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use muster_apiserver::server::Server;
use tokio::runtime::Runtime;

#[path = "../../tests/bad_requests/harness.rs"]
mod harness;
#[path = "../../tests/bad_requests/oracle.rs"]
mod oracle;

/// After so many requests the server is made anew, so that what one run left behind does not explain another.
const REQUESTS_PER_SERVER: u32 = 2_000;

struct Scene {
    runtime: Runtime,
    server: Server,
    requests: u32,
}

thread_local! {
    static SCENE: RefCell<Option<Scene>> = const { RefCell::new(None) };
}

fn scene() -> Scene {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let server = runtime.block_on(harness::server());
    Scene { runtime, server, requests: 0 }
}

fuzz_target!(|input: &[u8]| {
    SCENE.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|scene| scene.requests >= REQUESTS_PER_SERVER) {
            *kept = Some(scene());
        }
        if let Some(scene) = kept {
            scene.requests += 1;
            scene.runtime.block_on(harness::play(&scene.server, input));
        }
    });
});
