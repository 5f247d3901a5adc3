//! Waiting: watched and not polled, never early, through ended watches and lost connections, and no longer than it should.

use std::time::Duration;

use muster_apiserver::server::faults::{EventFault, Fault};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::scene::{Scene, after, ready};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_change_is_seen_long_after_the_first_watch_has_ended() {
    let scene = Scene::new().await;
    let begun = Instant::now();
    let change = async {
        after(20 * MINUTE).await;
        scene.status(ready("True", 1)).await;
    };
    let (ended, ()) = tokio::join!(scene.run("wait orders --timeout=1h", None), change);
    assert_eq!((ended.code(), begun.elapsed().as_secs() / 60), (0, 20), "{ended:?}");
    let reads = scene.trouble.count("list");
    assert!((2..=6).contains(&reads), "{reads} reads in 20 minutes");
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_time_is_up() {
    let scene = Scene::new().await;
    let begun = Instant::now();
    let ended = scene.run("wait orders --timeout=7m", None).await;
    assert_eq!((ended.code(), begun.elapsed().as_secs()), (3, 7 * 60), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn r1_5_a_status_ahead_of_its_spec_is_read_again_once_and_not_in_circles() {
    let scene = Scene::new().await;
    let garble = async {
        after(MINUTE).await;
        scene.status(ready("True", 9)).await;
        after(MINUTE).await;
        scene.status(ready("True", 1)).await;
    };
    let (ended, ()) = tokio::join!(scene.run("wait orders --timeout=1h", None), garble);
    assert_eq!(ended.out, "replicatedcluster.muster.dev/orders is ready at generation 1\n", "{ended:?}");
    assert_eq!(scene.trouble.count("list"), 2, "the first look, and the one after what cannot be");
}

#[tokio::test(start_paused = true)]
async fn watches_that_break_off_do_not_end_it() {
    for fault in [EventFault::End, EventFault::Lost, EventFault::Expire] {
        let scene = Scene::new().await;
        let change = async {
            after(MINUTE).await;
            scene.trouble.spoils(fault.clone());
            scene.status(ready("True", 1)).await;
        };
        let (ended, ()) = tokio::join!(scene.run("wait orders --timeout=30m", None), change);
        assert_eq!(ended.code(), 0, "{fault:?} {ended:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_later_on_is_tried_again_and_the_first_is_told_at_once() {
    let scene = Scene::new().await;
    scene.trouble.fails("list", Fault::LostBefore);
    let ended = scene.run("wait orders --timeout=1h", None).await;
    assert_eq!(ended.code(), 1, "{ended:?}");
    let change = async {
        after(MINUTE).await;
        scene.trouble.spoils(EventFault::Expire);
        scene.trouble.fails("list", Fault::LostBefore);
        scene.status(ready("True", 1)).await;
    };
    let (ended, ()) = tokio::join!(scene.run("wait orders --timeout=1h", None), change);
    assert_eq!(ended.code(), 0, "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_is_bounded() {
    let scene = Scene::new().await;
    scene.trouble.fails("get", Fault::Delay(60 * MINUTE));
    let begun = Instant::now();
    let ended = scene.run("status orders --request-timeout=5s", None).await;
    assert_eq!((ended.code(), begun.elapsed().as_secs()), (1, 5), "{ended:?}");
    let failure = ended.outcome.unwrap_err().to_string();
    assert!(
        failure.contains("ReplicatedCluster \"orders\"") && failure.contains("no answer within 5s"),
        "{failure}"
    );
}

/// What status says of clustering.
fn active(status: &str, reason: &str, message: &str) -> Value {
    json!({"conditions": [{"type": "ClusteringActive", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
}

#[tokio::test(start_paused = true)]
async fn a_stop_right_after_a_start_does_not_believe_what_was_said_of_the_stop_before() {
    let scene = Scene::new().await;
    scene.status(active("False", "ClusteringStopped", "the first stop")).await;
    let operate = async {
        after(Duration::from_secs(9)).await;
        scene.status(active("True", "Stopping", "it ran meanwhile")).await;
        after(Duration::from_secs(9)).await;
        scene.status(active("False", "ClusteringStopped", "the second stop")).await;
    };
    let stop = scene.run("stop clustering orders --wait --timeout=1m", None);
    let (ended, ()) = tokio::join!(stop, operate);
    assert_eq!(ended.code(), 0, "{ended:?}");
    assert!(ended.err.contains("the second stop"), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_nobody_takes_back_holds() {
    let scene = Scene::new().await;
    scene.status(active("False", "ClusteringStopped", "the first stop")).await;
    let begun = Instant::now();
    let ended = scene.run("stop clustering orders --wait --timeout=1m", None).await;
    assert_eq!((ended.code(), begun.elapsed().as_secs()), (0, 15), "{ended:?}");
    assert!(ended.err.contains("the first stop"), "{ended:?}");
    let again = scene.run("stop clustering orders --wait --timeout=1m", None).await;
    assert_eq!((again.code(), begun.elapsed().as_secs()), (0, 15), "it was asked for before: {again:?}");
}
