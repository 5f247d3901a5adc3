//! Namespaces with an operator of their own are known, and stay so for a while after their Lease is gone.

use std::sync::Arc;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams, PostParams};
use muster_operator::lease::Others;
use serde_json::json;

use crate::process::{Link, client};
use crate::world::{NAMESPACE, World, all_the_time, within};

async fn lease(world: &World, namespace: &str, name: &str) {
    world.create_namespace(namespace).await;
    let leases: Api<Lease> = Api::namespaced(world.person.clone(), namespace);
    let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    leases.create(&PostParams::default(), &object).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn namespaces_with_a_lease_of_that_name_are_left_alone() {
    let mut world = World::new(1).await;
    let _leader = world.leader().await;
    lease(&world, "shop", "muster-operator").await;
    lease(&world, "bank", "something-else").await;
    let others = Others::new(client(&world.server, Arc::new(Link::default()), "operator"), NAMESPACE);
    let known = others.namespaces();
    assert_eq!(*known.borrow(), None, "not known yet");
    let task = tokio::spawn(others.run());
    let now = || known.borrow().as_ref().map(|all| all.iter().cloned().collect::<Vec<_>>());
    within(5, || now().filter(|all| *all == ["shop"])).await;

    lease(&world, "farm", "muster-operator").await;
    within(5, || now().filter(|all| *all == ["farm", "shop"])).await;

    let leases: Api<Lease> = Api::namespaced(world.person.clone(), "shop");
    leases.delete("muster-operator", &DeleteParams::default()).await.unwrap();
    all_the_time(14, || assert_eq!(now().unwrap(), ["farm", "shop"])).await;
    within(3, || now().filter(|all| *all == ["farm"])).await;
    task.abort();
}
