//! What people do to single members: switch them off and on in the spec, bring one from elsewhere, ask for something once, and
//! ask again where that was lost.

use std::time::Duration;

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams};
use muster_core::manager::requests::Ask;
use muster_test_model::Node;
use serde_json::{Value, json};

use super::samples::{CLUSTER, NAMESPACE};
use super::stored::{MEMBERS, is_ending};
use super::world::World;

/// A member on a host of its own.
pub(crate) const FAR: &str = "far";
/// Where it is.
const FAR_AWAY: &str = "192.0.2.7";
/// A write that no client has heard of.
const UNHEARD_OF: u64 = 1 << 40;

/// How often a person asks for the same at most: nothing goes wrong twice.
const ASKED: usize = 3;
/// How long a person waits before asking again: whatever was lost has been sent again by then.
const REPEATED: Duration = Duration::from_secs(120);
/// How often a person looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Something that a person asks for once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    /// This member does not run.
    Fence(&'static str),
    /// This member is dead, and so is its data.
    Forget(&'static str),
    /// What this member holds is thrown away.
    Rejoin(&'static str),
    /// The cluster goes on from this member.
    Seed(&'static str),
}

impl Wish {
    /// Asks for it.
    pub(crate) async fn ask(self, world: &mut World) {
        match self {
            Self::Fence(member) => world.ask(Ask::Fence { members: vec![member.to_owned()] }).await,
            Self::Forget(member) => {
                // Whoever is not known to be down is not given up.
                world.ask(Ask::Fence { members: vec![member.to_owned()] }).await;
                world.pass(LOOK_EVERY).await;
                world.ask(Ask::Forget { members: vec![member.to_owned()] }).await;
            }
            Self::Rejoin(member) => {
                world.ask(Ask::Rejoin { member: member.to_owned(), discard: true }).await;
            }
            Self::Seed(member) => {
                world.fleet.accept_loss(NAMESPACE, CLUSTER, true);
                let seed = Some(member.to_owned());
                world.ask(Ask::Recover { seed, accept_data_loss: true, replicas: None }).await;
            }
        }
    }

    /// Whether it was carried out.
    fn is_granted(self, world: &World) -> bool {
        match self {
            Self::Fence(member) => {
                let serving = world.fleet.serving(NAMESPACE, CLUSTER);
                !serving.is_empty() && serving != [member]
            }
            Self::Forget(member) => world.oracle.stored(|it| it.get(MEMBERS, member).is_none()),
            Self::Rejoin(member) => world.fleet.is_ready(NAMESPACE, member),
            // Whoever it went on from, another one may have taken over since.
            Self::Seed(_) => !world.fleet.serving(NAMESPACE, CLUSTER).is_empty(),
        }
    }

    /// Waits until it was carried out. An operator that dies with a request loses it, and never repeats it: a person asks again.
    pub(crate) async fn granted(self, world: &mut World) {
        for _ in 0..ASKED {
            let mut waited = Duration::ZERO;
            while waited < REPEATED {
                if let Self::Forget(member) = self {
                    world.bury(member).await;
                }
                if self.is_granted(world) {
                    return;
                }
                world.pass(LOOK_EVERY).await;
                waited += LOOK_EVERY;
            }
            self.ask(world).await;
        }
        panic!("{self:?} is not carried out:\n{}", world.describe());
    }
}

impl World {
    fn api(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.client.clone(), NAMESPACE, &resource)
    }

    fn members(&self) -> Api<DynamicObject> {
        self.api("muster.dev", "v1alpha1", "Member")
    }

    /// Allows, or forbids, that a member is changed.
    pub(crate) async fn enable(&self, member: &str, enabled: bool) {
        let state = if enabled { "Enabled" } else { "Disabled" };
        let patch = Patch::Merge(json!({"spec": {"desiredState": state}}));
        // It may have gone meanwhile.
        drop(self.members().patch(member, &PatchParams::default(), &patch).await);
    }

    /// The members that may not be changed.
    pub(crate) fn disabled(&self) -> Vec<String> {
        self.oracle.stored(|stored| {
            let disabled =
                stored.all(MEMBERS).into_iter().filter(|it| it["spec"]["desiredState"] == "Disabled");
            disabled.map(|it| super::stored::name(it).to_owned()).collect()
        })
    }

    /// Brings a member that runs on a host of its own.
    pub(crate) async fn bring(&self) {
        self.fleet.start(NAMESPACE, CLUSTER, FAR, None);
        self.fleet.set_address(NAMESPACE, FAR, Some(FAR_AWAY));
        let keys = json!({"ca.crt": "x", "tls.crt": "x", "tls.key": "x"});
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "far-agent", "namespace": NAMESPACE}, "stringData": keys,
        });
        self.make("v1", secret).await;
        let external =
            json!({"address": format!("{FAR_AWAY}:7443"), "credentials": {"secretName": "far-agent"}});
        let member = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "Member",
            "metadata": {"name": FAR, "namespace": NAMESPACE},
            "spec": {"clusterName": CLUSTER, "pool": "a", "external": external},
        });
        self.make("muster.dev/v1alpha1", member).await;
    }

    /// Decommissions a member.
    pub(crate) async fn dismiss(&self, member: &str) {
        self.members().delete(member, &DeleteParams::default()).await.unwrap();
    }

    /// Where the machine of a dead member does not return, a person says so to Kubernetes too: its Pod goes at once.
    async fn bury(&self, member: &str) {
        if self.oracle.stored(|stored| stored.pod(member).is_some_and(is_ending)) {
            let pods = self.api("", "v1", "Pod");
            let now = DeleteParams::default().grace_period(0);
            // It may just have gone.
            drop(pods.delete(&format!("{member}-0"), &now).await);
        }
    }

    /// The machines of these members lose their disks, and have empty ones instead.
    pub(crate) fn lose_disks(&self, members: &[&str]) {
        self.oracle.hurt();
        for member in members {
            self.fleet.wipe(NAMESPACE, member);
        }
    }

    /// A member stops, and then holds what no other one does.
    pub(crate) fn diverge(&self, member: &str) {
        self.oracle.hurt();
        self.fleet.with(NAMESPACE, member, |node: &mut Node| {
            if let Some(agent) = &mut node.agent {
                agent.app = None;
            }
            node.volume.log.push(UNHEARD_OF);
        });
    }

    /// Whether this is so of a Member.
    pub(crate) fn member(&self, name: &str, test: impl Fn(&Value) -> bool) -> bool {
        self.oracle.stored(|stored| stored.get(MEMBERS, name).is_some_and(test))
    }

    /// Whether recovery waits for a person, for this reason.
    pub(crate) fn is_blocked_by(&self, reason: &str) -> bool {
        self.oracle.cluster(|it| it.is_some_and(|it| it["status"]["recovery"]["blockedBy"] == reason))
    }

    /// Whether status names this member as one that went astray.
    pub(crate) fn is_errant(&self, member: &str) -> bool {
        self.oracle.cluster(|cluster| {
            let errant = cluster.and_then(|cluster| cluster["status"]["members"]["errant"].as_array());
            errant.is_some_and(|errant| errant.iter().any(|name: &Value| name == member))
        })
    }
}
