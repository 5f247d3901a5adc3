//! An operator that stops: what is under way ends, and only then is the Lease given back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use muster_operator::run::LAST_WORK;
use muster_test_world::World;
use muster_test_world::spy::Hook;
use serde_json::json;
use tokio::time::Instant;

use super::hostile::{Scene, scene};
use super::world::pause;

/// How many writes were begun, and how many of them arrived.
#[derive(Clone, Default)]
struct Writes(Arc<[AtomicUsize; 2]>);

impl Writes {
    fn counts(&self) -> (usize, usize) {
        (self.0[0].load(Ordering::SeqCst), self.0[1].load(Ordering::SeqCst))
    }

    /// From now on every write to this resource takes so long to arrive.
    fn slow(world: &World, resource: &'static str, takes: Duration) -> Self {
        let writes = Self::default();
        let counts = writes.clone();
        let hook: Hook = Arc::new(move |call| {
            let (counts, is_meant) = (counts.clone(), call.is_write() && call.resource == resource);
            Box::pin(async move {
                if is_meant {
                    counts.0[0].fetch_add(1, Ordering::SeqCst);
                    pause(takes).await;
                    counts.0[1].fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        world.spy.before(Some(hook));
        writes
    }

    async fn until_under_way(&self) {
        let began = Instant::now();
        while self.counts().0 == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing was written");
            pause(Duration::from_millis(1)).await;
        }
    }
}

async fn holder(world: &World) -> String {
    let lease = world.api::<Lease>().get("muster-operator").await.unwrap();
    lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default()
}

/// Gives a pass something to write, or the manager.
async fn give_work(world: &World, resource: &str) {
    if resource == "pods" {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"muster.dev/role": "secondary"}}}));
        world.api::<Pod>().patch("orders-a-0-0", &PatchParams::default(), &patch).await.unwrap();
    } else {
        world.annotate("orders", "muster.dev/last-backup-time", Some("2026-01-01T00:00:00Z")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_stopping_operator_has_under_way_ends_before_the_lease_is_given_back() {
    for (seed, resource) in [(190, "replicatedclusters/status"), (191, "pods")] {
        let Scene { world, process, controllers: _controllers } = scene(seed).await;
        let writes = Writes::slow(&world, resource, Duration::from_secs(3));
        give_work(&world, resource).await;
        writes.until_under_way().await;
        assert_ne!(holder(&world).await, "", "it leads");
        let told = Instant::now();
        process.stop().await;
        let (begun, arrived) = writes.counts();
        assert_eq!((begun, arrived), (1, 1), "{resource}: cut off, or begun while it was stopping");
        assert!(told.elapsed() >= Duration::from_secs(2), "{resource}: it did not wait");
        assert_eq!(holder(&world).await, "", "{resource}: the Lease is given back");
        world.unharmed();
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_cut_off_and_the_lease_runs_out_by_itself() {
    for (seed, resource) in [(192, "replicatedclusters/status"), (193, "pods")] {
        let Scene { world, process, controllers: _controllers } = scene(seed).await;
        let led = holder(&world).await;
        let writes = Writes::slow(&world, resource, Duration::from_secs(600));
        give_work(&world, resource).await;
        writes.until_under_way().await;
        let began = Instant::now();
        process.stop().await;
        assert!(began.elapsed() <= LAST_WORK, "{resource}: it took {:?}", began.elapsed());
        assert_eq!(holder(&world).await, led, "{resource}: that write may take effect yet");
    }
}
