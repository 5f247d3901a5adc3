//! With the real controllers: a life, then two operators that fight for the Lease.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use muster_api::names::{ANNOTATION_EPOCH, LABEL_CLUSTER, LABEL_MEMBER, LEASE_NAME, OPERATOR_NAMESPACE};
use muster_operator::lease::Timing;
use muster_operator::rbac;
use muster_test_control_plane::{ControlPlane, ControllerManager};
use muster_test_world::{History, Process, Setup, World, pause};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::time::Instant;

use crate::scene::{account, kubectl, world};

/// How often something happens to the operators.
const ROUNDS: usize = 14;
/// How long it may take until someone leads again.
const WITHIN: Duration = Duration::from_secs(30);
/// Each round at most: the Lease is taken once by each of the two, and once more where it was deleted.
const EPOCHS_PER_ROUND: u64 = 4;

/// A hurry, so that many leaders fit into a test.
fn timing() -> Timing {
    let millis = Duration::from_millis;
    Timing::new(millis(300), millis(1500), millis(2300)).unwrap()
}

/// Two operators, one of which leads.
struct Rivals {
    setup: Setup,
    two: [Option<Process>; 2],
    started: u64,
}

impl Rivals {
    fn start(&mut self, which: usize) {
        self.started += 1;
        let setup = Setup { seed: 900 + self.started, new_store: self.started == 1, ..self.setup.clone() };
        self.two[which] = Some(Process::start(setup));
    }

    fn leader(&self) -> Option<usize> {
        (0..2).find(|which| self.two[*which].as_ref().is_some_and(|one| one.leads().is_some()))
    }

    async fn until_one_leads(&self) -> usize {
        let began = Instant::now();
        loop {
            let leading: Vec<usize> = (0..2)
                .filter(|which| self.two[*which].as_ref().is_some_and(|one| one.leads().is_some()))
                .collect();
            assert!(leading.len() < 2, "two lead at once");
            if let [one] = leading[..] {
                return one;
            }
            assert!(began.elapsed() < WITHIN, "nobody leads");
            pause(Duration::from_millis(20)).await;
        }
    }
}

async fn epoch(leases: &Api<Lease>) -> Option<u64> {
    let lease = leases.get_opt(LEASE_NAME).await.unwrap()?;
    lease.annotations().get(ANNOTATION_EPOCH)?.parse().ok()
}

/// Creation and a new version; the Pods come from the real controller of stateful sets.
async fn live(world: &World) {
    world.create("orders", 3).await;
    world.patch("orders", json!({"spec": {"drivers": []}})).await;
    world.ready("orders").await;
    world.patch("orders", json!({"spec": {"engine": {"version": "2"}}})).await;
    let status = world.ready("orders").await.status.unwrap();
    assert_eq!((status.current_version.as_deref(), status.ready_replicas), (Some("2"), Some(3)));
    for pod in world.api::<Pod>().list(&ListParams::default()).await.unwrap() {
        let spec = pod.spec.as_ref().unwrap();
        let main = spec.containers.iter().find(|container| container.name == "main").unwrap();
        assert_eq!(main.image.as_deref(), Some("ledger:2"), "{}", pod.name_any());
    }
}

/// Someone takes from a Pod the labels that its StatefulSet selects by: the real controller lets go of it, can make no other of its
/// name, and takes it again once they are back (R1.5).
async fn lose_labels(world: &World) {
    let (pods, name) = (world.api::<Pod>(), "orders-a-1-0");
    let before = pods.get(name).await.unwrap();
    for lost in [&[LABEL_CLUSTER][..], &[LABEL_MEMBER], &[LABEL_CLUSTER, LABEL_MEMBER]] {
        let gone: BTreeMap<&str, Option<&str>> = lost.iter().map(|label| (*label, None)).collect();
        let patch = json!({"metadata": {"labels": gone}});
        let params = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
        pods.patch(name, &params, &Patch::Merge(patch)).await.unwrap();
        let began = Instant::now();
        loop {
            let now = pods.get(name).await.unwrap();
            assert_eq!(now.uid(), before.uid(), "it is the same Pod all the while");
            if now.labels() == before.labels() && now.owner_references() == before.owner_references() {
                break;
            }
            assert!(began.elapsed() < world.patience, "{:#?}", now.metadata);
            pause(world.look_every).await;
        }
        world.ready("orders").await;
    }
}

/// People of the namespace, by the roles that the real controller adds ours to.
fn people(plane: &ControlPlane) {
    kubectl(plane, &["apply", "-f", "-"], Some(&rbac::for_users()));
    kubectl(plane, &["create", "rolebinding", "eve", "--clusterrole=edit", "--user=eve", "-n", "shop"], None);
    kubectl(plane, &["create", "clusterrolebinding", "ada", "--clusterrole=admin", "--user=ada"], None);
    let may = |who: &str, verb: &str, what: &str| {
        let (what, part) = what.split_once('/').unwrap_or((what, ""));
        let (who, part) = (format!("--as={who}"), format!("--subresource={part}"));
        let output = plane.kubectl(&["auth", "can-i", verb, what, &part, "-n", "shop", &who]).unwrap();
        String::from_utf8(output.stdout).unwrap().trim() == "yes"
    };
    let deadline = std::time::Instant::now() + WITHIN;
    let added = || may("eve", "patch", "replicatedclusters.muster.dev").then_some(()).ok_or("not yet");
    muster_test_control_plane::eventually(deadline, added).unwrap();
    for who in ["eve", "ada"] {
        assert!(may(who, "delete", "members.muster.dev"), "{who}");
        assert!(!may(who, "update", "replicatedclusters.muster.dev/status"), "{who}");
        assert!(!may(who, "patch", "members.muster.dev/status"), "{who}");
        for verb in ["create", "update", "patch", "delete"] {
            assert!(!may(who, verb, "replicationengines.muster.dev"), "{who} {verb}");
        }
    }
    assert!(may("ada", "list", "replicationengines.muster.dev"));
}

/// What is owned goes with its cluster, by the real garbage collector; what belongs to the data stays (R3.1).
async fn end(plane: &ControlPlane, world: &World) {
    world.clusters().delete("orders", &DeleteParams::default()).await.unwrap();
    world.gone("orders").await;
    let kinds = "members,sts,controllerrevisions,pods,svc,pdb,cm,secrets,pvc";
    let began = Instant::now();
    loop {
        let arguments = ["get", kinds, "-n", "shop", "-l", "muster.dev/cluster=orders", "-o", "name"];
        let rest = kubectl(plane, &arguments, None);
        let rest: Vec<&str> = rest.lines().collect();
        let claims =
            rest.iter().filter(|name| name.starts_with("persistentvolumeclaim/data-orders-a-")).count();
        if rest.len() == 4 && claims == 3 && rest.contains(&"secret/orders-accounts") {
            return;
        }
        assert!(began.elapsed() < world.patience, "{rest:#?}");
        pause(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn with_the_real_controllers_a_life_and_two_operators_that_fight_for_the_lease() {
    let plane = ControlPlane::start().unwrap();
    let kubeconfig = std::fs::read_to_string(plane.kubeconfig()).unwrap();
    // Claims are bound by the kubelet in miniature.
    let left_out = ["persistentvolume-binder-controller", "persistentvolume-expander-controller"];
    let manage = || ControllerManager::start_without(&kubeconfig, &left_out).unwrap();
    let mut controllers = manage();
    let world = world(&plane, "shop", true, 87).await;
    let access = account(&plane, &rbac::for_all_namespaces(), OPERATOR_NAMESPACE).await;
    let accounts = world.api::<ServiceAccount>();
    while accounts.get_opt("default").await.unwrap().is_none() {
        pause(Duration::from_millis(50)).await;
    }
    let setup = Setup { timing: timing(), ..world.setup(&access, None, 87) };
    let mut rivals = Rivals { setup, two: [None, None], started: 0 };
    rivals.start(0);
    rivals.until_one_leads().await;
    rivals.start(1);
    live(&world).await;
    lose_labels(&world).await;
    people(&plane);

    let leases: Api<Lease> = Api::namespaced(world.admin.clone(), OPERATOR_NAMESPACE);
    let history = History::of(&world.admin, "shop");
    let mut chance = StdRng::seed_from_u64(87);
    let first = epoch(&leases).await.unwrap();
    let began = Instant::now();
    for round in 0..ROUNDS {
        let leader = rivals.until_one_leads().await;
        let restarts = match chance.random_range(0..4) {
            0 => vec![leader],
            1 => vec![1 - leader],
            2 => vec![0, 1],
            _ => {
                drop(leases.delete(LEASE_NAME, &DeleteParams::default()).await);
                Vec::new()
            }
        };
        // A process that is killed does not give its Lease back.
        for which in &restarts {
            rivals.two[*which] = None;
        }
        for which in restarts {
            rivals.start(which);
        }
        // So are the controllers, at other moments.
        if round % 4 == 1 || chance.random_bool(0.2) {
            drop(controllers);
            controllers = manage();
        }
        if round % 4 == 3 {
            let value = (round + 2).to_string();
            world.patch("orders", json!({"spec": {"engine": {"parameters": {"size": value}}}})).await;
        }
        pause(Duration::from_millis(chance.random_range(100..1500))).await;
    }
    rivals.until_one_leads().await;
    world.ready("orders").await;
    let flips = history.flips();
    assert!(flips.is_empty(), "{flips:#?}");
    assert!(history.said().len() > 3, "nothing was watched");
    let last = epoch(&leases).await.unwrap();
    let most = first + began.elapsed().as_secs() + EPOCHS_PER_ROUND * u64::try_from(ROUNDS).unwrap();
    assert!(last > first && last <= most, "epoch {last} after {first}, at most {most}");
    assert!(rivals.leader().is_some());
    world.unharmed();
    end(&plane, &world).await;
    drop(controllers);
}
