//! A life runs the same way each time it is lived with the same seed, down to the last call, command and moment.

use std::sync::Arc;
use std::time::Duration;

use muster_test_agents::{Fault, Seen};
use serde_json::json;
use tokio::time::Instant;

use super::world::{World, is_ready, pause};

/// Everything that is asked of API server and agents in a life, with the time of what is asked of agents.
async fn life(seed: u64) -> Vec<String> {
    let began = Instant::now();
    let mut world = World::new(seed).await;
    world.calls.keep_trace();
    let calls = world.calls.clone();
    world.fleet.set_faults(Arc::new(move |seen: &Seen| {
        calls.note(|| {
            let what = seen.command().map(|command| format!("{} {}", command.stamp, command.action.word()));
            format!("{:?} {} {} {what:?}", began.elapsed(), seen.member, seen.path)
        });
        Fault::None
    }));
    world.create("orders", 3).await;
    world.create("invoices", 2).await;
    world.ready("orders").await;
    world.scale("orders", 4).await;
    world.ready("orders").await;
    world.fleet.power_off("shop", "orders-a-0");
    world.until("orders", "to miss it", |cluster| !is_ready(cluster)).await;
    world.fleet.power_on("shop", "orders-a-0");
    world.ready("orders").await;
    world.start_operator();
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    world.ready("orders").await;
    world.fleet.cut_streams("shop", "invoices-a-1");
    pause(Duration::from_secs(2000)).await;
    world.ready("invoices").await;
    let mut log = world.calls.trace();
    log.push(format!("{:?}", began.elapsed()));
    log
}

/// Lives a life on a runtime of its own: time begins anew with it.
fn live(seed: u64) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(life(seed))
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in [1, 2] {
        let (one, other) = (live(seed), live(seed));
        let differ = one.iter().zip(&other).position(|(one, other)| one != other);
        if let Some(at) = differ {
            let from = at.saturating_sub(5);
            let until = |log: &[String]| (at + 5).min(log.len());
            panic!("from call {at}:\n{:#?}\n{:#?}", &one[from..until(&one)], &other[from..until(&other)]);
        }
        assert_eq!(one.len(), other.len());
    }
    assert_ne!(live(1), live(2));
}
