//! The fault matrix: every write that the operator makes in the life of a cluster goes wrong once, in every way. It always
//! comes to the same end, and status never said Ready when it was not so.

use super::world::{Trouble, World, is_ready};

/// Every way in which a write goes wrong.
const ALL: [Trouble; 5] =
    [Trouble::Error, Trouble::AnswerLost, Trouble::Conflict, Trouble::CrashBefore, Trouble::CrashAfter];

/// How a life ends: what is there, without what differs from run to run.
async fn end_of(world: &World) -> Vec<String> {
    let cluster = world.clusters().get("orders").await.unwrap().status.unwrap();
    let mut end: Vec<String> = vec![
        format!("{:?} {:?} {:?}", cluster.phase, cluster.members_ready, cluster.current_version),
        format!("{:?}", world.fleet.violations()),
    ];
    for mut member in world.members().list(&kube::api::ListParams::default()).await.unwrap() {
        // Accounts are made by chance.
        member.spec.workload.as_mut().unwrap().secrets_hash = None;
        end.push(format!("{:?} {:?}", member.metadata.name, member.spec));
    }
    end
}

/// A cluster is created, and grows by one where asked, with this trouble.
async fn grow_up(seed: u64, grows: bool, trouble: Option<(usize, Trouble)>) -> (Vec<String>, usize) {
    let mut world = World::new(seed).await;
    if let Some((number, trouble)) = trouble {
        world.calls.trouble(number, trouble);
    }
    world.create("orders", 1).await;
    world.live_through("orders", is_ready).await;
    if grows {
        world.scale("orders", 2).await;
        world.live_through("orders", is_ready).await;
    }
    assert_eq!(world.fleet.serving("shop", "orders").len(), 1, "Ready, and nobody serves");
    (end_of(&world).await, world.calls.writes())
}

/// Every write from `first` on, so many apart, goes wrong in one way, which differs from write to write. All of them in
/// all ways by `MUSTER_FAULTS=all`, which takes a while.
async fn matrix(grows: bool, first: usize, apart: usize) {
    let all = std::env::var("MUSTER_FAULTS").is_ok_and(|faults| faults == "all");
    let (wanted, writes) = grow_up(41, grows, None).await;
    for number in (first..=writes).step_by(if all { 1 } else { apart }) {
        let ways = if all { &ALL[..] } else { &ALL[number % ALL.len()..][..1] };
        for trouble in ways {
            let (end, _) = grow_up(41, grows, Some((number, *trouble))).await;
            assert_eq!(end, wanted, "write {number} of {writes}: {trouble:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_write_of_a_creation_may_go_wrong() {
    matrix(false, 1, 1).await;
}

#[tokio::test(start_paused = true)]
async fn writes_of_growing_may_go_wrong() {
    matrix(true, 1, 7).await;
}
