//! The certificates of agents follow their authority at once: until they do nobody is heard.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use serde_json::json;
use tokio::time::Instant;

use super::world::World;

const MEMBERS: [&str; 2] = ["orders-a-0-agent", "orders-a-1-agent"];
/// Far less than the ten minutes after which Secrets are looked at anyway.
const SOON: Duration = Duration::from_secs(60);

impl World {
    /// What this Secret says whom to trust.
    async fn trusts(&self, secret: &str) -> Option<Vec<u8>> {
        let secret = self.api::<Secret>().get_opt(secret).await.unwrap()?;
        Some(secret.data?.get("ca.crt")?.0.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_is_made_anew_issues_the_certificates_of_all_members_at_once() {
    let world = World::new(630).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    let before = world.trusts(MEMBERS[0]).await;
    assert!(before.is_some());
    world.api::<Secret>().delete("orders-agent-ca", &DeleteParams::default()).await.unwrap();
    let began = Instant::now();
    // Secrets are not watched: they are read when a person changes something.
    world.patch("orders", json!({"metadata": {"annotations": {"example.org/edit": "1"}}})).await;
    for member in MEMBERS {
        let anew = async || (world.trusts(member).await != before).then_some(());
        world.wait_for("another certificate", anew).await;
        assert!(began.elapsed() < SOON, "{member} got one after {:?}", began.elapsed());
    }
    world.ready("orders").await;
    world.unharmed();
}
