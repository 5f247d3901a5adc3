//! Tests of the queue.

use futures::FutureExt;

use super::*;
use crate::key::Name;

fn key(name: &str) -> Key {
    Key::Cluster(Name::new("ns", name))
}

fn now(queue: &Queue) -> Option<Key> {
    queue.take().now_or_never().flatten()
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_once_and_keys_run_in_the_order_they_came() {
    let queue = Queue::new();
    for name in ["a", "b", "a"] {
        queue.add(key(name));
    }
    assert_eq!(queue.depth(), 2);
    assert_eq!([now(&queue), now(&queue), now(&queue)], [Some(key("a")), Some(key("b")), None]);
}

#[tokio::test(start_paused = true)]
async fn a_key_never_runs_beside_itself_and_runs_again_for_what_came_meanwhile() {
    let queue = Queue::new();
    queue.add(key("a"));
    assert_eq!(now(&queue), Some(key("a")));
    queue.add(key("a"));
    assert_eq!(now(&queue), None);
    queue.done(&key("a"), Then::Rest, 0.0);
    assert_eq!(now(&queue), Some(key("a")));
    queue.done(&key("a"), Then::Rest, 0.0);
    assert_eq!(now(&queue), None);
}

#[tokio::test(start_paused = true)]
async fn a_key_comes_back_after_its_time_or_at_once_when_something_changes() {
    let queue = Queue::new();
    queue.add(key("a"));
    now(&queue);
    queue.done(&key("a"), Then::Again(Duration::from_secs(5)), 0.0);
    let began = Instant::now();
    assert_eq!(queue.take().await, Some(key("a")));
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    queue.done(&key("a"), Then::Again(Duration::from_secs(5)), 0.0);
    queue.add(key("a"));
    assert_eq!(now(&queue), Some(key("a")));
    queue.done(&key("a"), Then::Rest, 0.0);
    let nothing = tokio::time::timeout(Duration::from_secs(60), queue.take()).await;
    assert!(nothing.is_err(), "the time it waited for is not remembered");
}

#[tokio::test(start_paused = true)]
async fn failures_rest_longer_each_time_even_when_something_changes_and_a_success_starts_over() {
    let queue = Queue::new();
    queue.add(key("a"));
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        queue.take().await;
        pauses.push(began.elapsed());
        queue.add(key("a"));
        queue.done(&key("a"), Then::Retry, 1.0);
    }
    assert_eq!(pauses, [Duration::ZERO, backoff::FIRST, backoff::FIRST * 2]);
    queue.take().await;
    queue.done(&key("a"), Then::Rest, 1.0);
    queue.add(key("a"));
    now(&queue);
    queue.done(&key("a"), Then::Retry, 1.0);
    let began = Instant::now();
    queue.take().await;
    assert_eq!(began.elapsed(), backoff::FIRST);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_did_not_come_to_look_at_anything_neither_failed_nor_succeeded() {
    let queue = Queue::new();
    queue.add(key("a"));
    for then in [Then::Retry, Then::Later(Duration::from_secs(5)), Then::Retry] {
        queue.take().await;
        queue.done(&key("a"), then, 1.0);
    }
    let began = Instant::now();
    queue.take().await;
    assert_eq!(began.elapsed(), backoff::FIRST * 2, "it is the second failure in a row");
}

/// Fails again and again for so long, while something is told of it this often. Returns when its passes began.
async fn storm(queue: &Queue, lasts: Duration, apart: Duration) -> Vec<Instant> {
    let began = Instant::now();
    let mut next = began;
    let mut passes = Vec::new();
    queue.add(key("a"));
    while began.elapsed() < lasts {
        if tokio::time::timeout_at(next, queue.take()).await.is_ok() {
            passes.push(Instant::now());
            queue.done(&key("a"), Then::Retry, 1.0);
        } else {
            next += apart;
            queue.add(key("a"));
        }
    }
    passes
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_events_on_what_keeps_failing_stays_bounded_and_nothing_waits_for_long() {
    let queue = Queue::new();
    let minute = Duration::from_secs(60);
    let passes = storm(&queue, minute, Duration::from_millis(3)).await;
    assert!(passes.len() <= 123, "{} passes in a minute", passes.len());
    let longest = passes.windows(2).map(|two| two[1] - two[0]).max().unwrap();
    assert_eq!(longest, backoff::NEWS, "an event was left lying");
}

#[tokio::test(start_paused = true)]
async fn what_is_told_of_something_that_failed_long_ago_is_looked_at_at_once() {
    let queue = Queue::new();
    queue.add(key("a"));
    for _ in 0..9 {
        queue.take().await;
        queue.done(&key("a"), Then::Retry, 1.0);
    }
    assert!(tokio::time::timeout(backoff::NEWS * 2, queue.take()).await.is_err(), "it rests");
    queue.add(key("a"));
    assert_eq!(now(&queue), Some(key("a")));
    // What came during a pass that failed does not wait for the whole of a long pause.
    queue.add(key("a"));
    queue.done(&key("a"), Then::Retry, 1.0);
    let began = Instant::now();
    queue.take().await;
    assert_eq!(began.elapsed(), backoff::NEWS);
    // Nothing was told: the pause is whole, and went on growing.
    queue.done(&key("a"), Then::Retry, 1.0);
    let began = Instant::now();
    queue.take().await;
    assert_eq!(began.elapsed(), backoff::LONGEST);
}

#[tokio::test(start_paused = true)]
async fn a_taker_that_waits_is_woken_by_an_earlier_key_and_by_the_end() {
    let queue = Queue::new();
    let taker = tokio::spawn({
        let queue = queue.clone();
        async move { (queue.take().await, queue.take().await) }
    });
    tokio::task::yield_now().await;
    queue.add(key("a"));
    tokio::task::yield_now().await;
    queue.close();
    assert_eq!(taker.await.unwrap(), (Some(key("a")), None));
}

#[tokio::test(start_paused = true)]
async fn what_a_pass_wrote_itself_is_told_back_without_another_pass() {
    let queue = Queue::new();
    let run = |queue: &Queue| {
        queue.add(key("a"));
        assert_eq!(now(queue), Some(key("a")));
    };
    // Told before the answer came, and after the pass.
    run(&queue);
    queue.changed(key("a"), "5");
    queue.wrote(&key("a"), "5".into());
    queue.wrote(&key("a"), "6".into());
    queue.done(&key("a"), Then::Rest, 0.0);
    queue.changed(key("a"), "6");
    assert_eq!(now(&queue), None);
    // What others wrote meanwhile, or write later.
    run(&queue);
    queue.changed(key("a"), "7");
    queue.wrote(&key("a"), "8".into());
    queue.done(&key("a"), Then::Rest, 0.0);
    assert_eq!(now(&queue), Some(key("a")));
    queue.done(&key("a"), Then::Rest, 0.0);
    queue.changed(key("a"), "9");
    assert_eq!(now(&queue), Some(key("a")));
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_the_caches_looks_again_when_they_move() {
    let queue = Queue::new();
    queue.add(key("a"));
    assert_eq!(now(&queue), Some(key("a")));
    queue.wait(&Name::new("ns", "c"), &key("a"));
    queue.done(&key("a"), Then::Again(Duration::from_secs(5)), 0.0);
    queue.moved(&Name::new("ns", "d"));
    assert_eq!(now(&queue), None);
    queue.moved(&Name::new("ns", "c"));
    assert_eq!(now(&queue), Some(key("a")));
}

#[test]
fn whatever_is_withheld_is_come_back_for_in_time() {
    let (soon, late) = (Duration::from_secs(1), Duration::from_secs(9));
    for then in [Then::Rest, Then::Again(late), Then::Retry] {
        assert_eq!(then.within(None), then);
    }
    assert_eq!(Then::Rest.within(Some(soon)), Then::Again(soon));
    assert_eq!(Then::Again(late).within(Some(soon)), Then::Again(soon));
    assert_eq!(Then::Again(soon).within(Some(late)), Then::Again(soon));
    assert_eq!(Then::Later(late).within(Some(soon)), Then::Later(soon));
    assert_eq!(Then::Retry.within(Some(late)), Then::Retry);
}
