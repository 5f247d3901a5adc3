//! What a cluster costs, by the clock of the machine: to be looked at, not to be held.

use std::time::Duration;

use super::world::{World, pause};

/// How long this thread has been at work, whoever else is on the machine.
pub(crate) fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn what_a_life_costs() {
    for seed in 0..20 {
        let began = cpu();
        let world = World::new(seed).await;
        let made = cpu().saturating_sub(began);
        let began = cpu();
        world.calls.take();
        world.create("orders", 3).await;
        world.ready("orders").await;
        let created = cpu().saturating_sub(began);
        world.rest().await;
        let calls = world.calls.take();
        let began = cpu();
        pause(Duration::from_secs(3600)).await;
        let rested = cpu().saturating_sub(began);
        let resting = world.calls.take();
        let reads = calls.iter().filter(|call| call.starts_with("read")).count();
        println!(
            "world {made:?}, created {created:?}, {} calls of which {reads} reads; an hour {rested:?}, {} calls",
            calls.len(),
            resting.len()
        );
        if seed == 0 {
            let mut kinds = std::collections::BTreeMap::<String, usize>::new();
            for call in calls.iter().chain(&resting) {
                *kinds.entry(call.clone()).or_default() += 1;
            }
            println!("{kinds:#?}");
        }
    }
}
