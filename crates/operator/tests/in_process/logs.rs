//! What the operator logs: whatever is said on the way through a pass says of which object, and of which generation.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::world::World;

/// Keeps what spans are opened with.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<String>>>);

/// The fields of one span, in words.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 = format!("{} {field}={value:?}", self.0);
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("muster_operator")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn a_pass_is_logged_with_its_object_and_generation() {
    let spans = Spans::default();
    // With one subscriber alone, `tracing` lets the thread that is first at a span decide for all whether anyone wants it,
    // and that may be one of another test.
    let _second = tracing::Dispatch::new(Spans::default());
    let _kept = tracing::subscriber::set_default(spans.clone());
    let world = World::new(630).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.scale("orders", 2).await;
    world.ready("orders").await;
    let opened = spans.0.lock().unwrap().clone();
    for wanted in [
        "pass object=ReplicatedCluster shop/orders generation=1",
        "pass object=ReplicatedCluster shop/orders generation=2",
        "pass object=Member shop/orders-a-1 generation=1",
        "pass object=ReplicationEngine ledger generation=1",
    ] {
        assert!(opened.iter().any(|span| span == wanted), "{wanted}: {opened:#?}");
    }
}
