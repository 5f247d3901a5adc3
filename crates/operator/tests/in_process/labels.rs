//! The labels of Pods: whoever loses one is not found any more, and its StatefulSet lets go of it and can make no other.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::DeleteParams;
use muster_api::Member;
use muster_api::names::{LABEL_CLUSTER, LABEL_COMPONENT, LABEL_MEMBER, LABEL_POOL};
use serde_json::{Value, json};

use super::help::{reconciliation, why};
use super::samples;
use super::world::{World, is};

const POD: &str = "orders-a-0-0";
/// What a person may take away at once.
const LOST: [&[&str]; 6] = [
    &[LABEL_CLUSTER],
    &[LABEL_MEMBER],
    &[LABEL_POOL],
    &[LABEL_COMPONENT],
    &[LABEL_CLUSTER, LABEL_MEMBER],
    &[LABEL_CLUSTER, LABEL_MEMBER, LABEL_POOL, LABEL_COMPONENT],
];

fn without(labels: &[&str]) -> Value {
    let gone: serde_json::Map<String, Value> =
        labels.iter().map(|label| ((*label).to_owned(), Value::Null)).collect();
    json!({"metadata": {"labels": gone}})
}

impl World {
    async fn pod(&self) -> Pod {
        self.api::<Pod>().get(POD).await.unwrap()
    }

    /// Waits until the Pod is this one again, with its labels and its StatefulSet.
    async fn until_whole(&self, before: &Pod) {
        let whole = async || {
            let now = self.pod().await;
            assert_eq!(now.uid(), before.uid(), "it is the same Pod all the while");
            let same = now.labels() == before.labels() && now.owner_references() == before.owner_references();
            same.then_some(())
        };
        self.wait_for("the labels of the Pod", whole).await;
    }

    /// Waits until the StatefulSet has let go of the Pod.
    async fn until_let_go(&self) {
        let free = async || self.pod().await.owner_references().is_empty().then_some(());
        self.wait_for("the Pod to be let go of", free).await;
    }
}

#[tokio::test(start_paused = true)]
async fn r1_5_labels_that_a_pod_loses_are_put_back() {
    let world = World::new(620).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    let before = world.pod().await;
    for lost in LOST {
        world.edit::<Pod>(POD, without(lost)).await;
        world.until_whole(&before).await;
        world.ready("orders").await;
    }
    world.rest().await;
    world.calls.take();
    world.rest().await;
    assert_eq!(world.calls.take(), Vec::<String>::new(), "what is right is left alone");
    world.unharmed();
}

/// By then nothing says whose it was, but what it is made of.
#[tokio::test(start_paused = true)]
async fn labels_that_a_pod_lost_while_nobody_operated_are_put_back() {
    let mut world = World::new(621).await;
    world.create("orders", 2).await;
    world.ready("orders").await;
    world.rest().await;
    let before = world.pod().await;
    for lost in [LOST[0], LOST[5]] {
        world.operator = None;
        world.edit::<Pod>(POD, without(lost)).await;
        world.until_let_go().await;
        world.start_operator();
        world.until_whole(&before).await;
        world.ready("orders").await;
    }
    world.unharmed();
}

#[tokio::test(start_paused = true)]
async fn labels_stay_away_while_reconciliation_is_stopped() {
    let world = World::new(622).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    let before = world.pod().await;
    world.patch("orders", reconciliation(true)).await;
    world.until("orders", "to stand still", |cluster| is(cluster, "ReconciliationActive", "False")).await;
    world.edit::<Pod>(POD, without(LOST[0])).await;
    world.until("orders", "to miss it", |cluster| is(cluster, "Available", "False")).await;
    world.rest().await;
    assert!(!world.pod().await.labels().contains_key(LABEL_CLUSTER), "nothing is touched");
    world.patch("orders", reconciliation(false)).await;
    world.until_whole(&before).await;
    world.ready("orders").await;
    world.unharmed();
}

/// Who says that a Pod is of something else is believed, and told what that keeps from being.
#[tokio::test(start_paused = true)]
async fn a_pod_that_is_said_to_be_of_another_cluster_is_left_alone_and_named() {
    let world = World::new(623).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    let before = world.pod().await;
    let of = |cluster: &str| json!({"metadata": {"labels": {LABEL_CLUSTER: cluster}}});
    world.edit::<Pod>(POD, of("other")).await;
    let named = |member: &Member| why(member, "WorkloadReady").0 == "NameTaken";
    let member = world.until_member("orders-a-0", "to say so", named).await;
    assert!(why(&member, "WorkloadReady").1.contains(&format!("Pod {POD}")), "{:?}", member.status);
    world.rest().await;
    assert_eq!(world.pod().await.labels()[LABEL_CLUSTER], "other");
    world.edit::<Pod>(POD, of("orders")).await;
    world.until_whole(&before).await;
    world.ready("orders").await;
    world.unharmed();
}

/// Its StatefulSet let go of it, and would leave it behind.
#[tokio::test(start_paused = true)]
async fn a_pod_that_loses_its_labels_goes_with_its_member_all_the_same() {
    let mut world = World::new(624).await;
    world.create("orders", 1).await;
    world.ready("orders").await;
    world.operator = None;
    world.edit::<Pod>(POD, without(LOST[5])).await;
    world.until_let_go().await;
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.start_operator();
    world.gone("orders").await;
    world.until_gone::<StatefulSet>("orders-a-0").await;
    world.until_gone::<Pod>(POD).await;
    world.unharmed();
    // What comes after it finds the name free.
    world.create_with("orders", 1, |manifest| *manifest = samples::manifest("orders", 1)).await;
    world.ready("orders").await;
}
