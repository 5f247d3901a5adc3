//! What a manager sees of its cluster besides what agents say: the configured members, the marks on claims, who surely
//! does not run, and where agents are reached.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ContainerState, Node, PersistentVolumeClaim, Pod, Taint};
use kube::ResourceExt;
use muster_api::Member;
use muster_api::member::DesiredState;
use muster_api::names::{ANNOTATION_FORMED, LABEL_MEMBER};
use muster_core::build::names;
use muster_core::manager::fencing::{FenceKind, Proof};
use muster_core::manager::observed::Observed;
use muster_core::manager::wanted::{Mark, Marks, Wanted, WantedMember};
use muster_protocol::Line;

use super::intent::Intent;
use crate::cache::Caches;
use crate::key::Name;

/// The taint by which an administrator says that nothing on a node runs any more.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// The label by which a Pod names the revision it was made from.
const REVISION_LABEL: &str = "controller-revision-hash";

/// The objects of one cluster that its manager looks at.
pub struct Surroundings {
    /// Its Members.
    pub members: Vec<std::sync::Arc<Member>>,
    /// Its members' Pods, by Member.
    pub pods: BTreeMap<String, std::sync::Arc<Pod>>,
    /// Its members' workloads, by Member.
    pub sets: BTreeMap<String, std::sync::Arc<StatefulSet>>,
    /// Its claims, kept ones included.
    pub claims: Vec<std::sync::Arc<PersistentVolumeClaim>>,
    /// The nodes of its Pods, by name.
    pub nodes: BTreeMap<String, std::sync::Arc<Node>>,
}

impl Surroundings {
    /// What the caches show of this cluster.
    pub fn of(caches: &Caches, cluster: &Name) -> Self {
        let member_of = |labels: &BTreeMap<String, String>| labels.get(LABEL_MEMBER).cloned();
        let pods: BTreeMap<_, _> = caches
            .pods
            .of_cluster(cluster)
            .into_iter()
            .filter_map(|pod| Some((member_of(pod.labels())?, pod)))
            .collect();
        let sets = caches.stateful_sets.of_cluster(cluster).into_iter();
        let node_names = pods.values().filter_map(|pod| pod.spec.as_ref()?.node_name.clone());
        Self {
            members: caches.members.of_cluster(cluster),
            sets: sets.filter_map(|set| Some((member_of(set.labels())?, set))).collect(),
            claims: caches.claims.of_cluster(cluster),
            nodes: node_names
                .filter_map(|name| Some((name.clone(), caches.nodes.get(&Name::new("", name))?)))
                .collect(),
            pods,
        }
    }

    /// What the manager is asked to keep. `restore` is a count that a person set.
    pub fn wanted(&self, cluster: &str, intent: &Intent, restore: Option<usize>) -> Wanted {
        let members: BTreeMap<String, WantedMember> =
            self.members.iter().map(|member| (member.name_any(), self.member(member, intent))).collect();
        // One that leaves serves until it goes through the gate: where all serve, it is none too many.
        let there = members.len().max(1);
        Wanted {
            cluster: cluster.to_owned(),
            parked: intent.parked,
            primaries: intent.primaries.unwrap_or(there).clamp(1, there),
            engine: intent.engine,
            allow_loss: intent.allow_loss,
            restore,
            formed: self.marks(),
            members,
        }
    }

    fn member(&self, member: &Member, intent: &Intent) -> WantedMember {
        let name = member.name_any();
        WantedMember {
            ordinal: names::ordinal(member),
            pool: member.spec.pool.clone(),
            disabled: member.spec.desired_state == DesiredState::Disabled,
            // With its cluster it is stopped and does not leave: that is parking.
            leaving: member.metadata.deletion_timestamp.is_some() && !intent.parked,
            never_bound: self.never_bound(member),
            outdated: intent.replaces && self.is_outdated(&name),
        }
    }

    /// Whether the Pod was made from another revision than the newest that the workload's controller knows.
    fn is_outdated(&self, member: &str) -> bool {
        let (Some(pod), Some(set)) = (self.pods.get(member), self.sets.get(member)) else { return false };
        let Some(status) = &set.status else { return false };
        let current = status.observed_generation == set.metadata.generation;
        let revision = pod.labels().get(REVISION_LABEL);
        let newest = status.update_revision.as_ref();
        current && newest.is_some() && revision.is_some() && revision != newest
    }

    fn never_bound(&self, member: &Member) -> bool {
        let claims: Vec<&str> =
            member.spec.storage.iter().filter_map(|one| one.pvc_name.as_deref()).collect();
        let unbound = |name: &&str| {
            let claim = self.claims.iter().find(|claim| claim.name_any() == **name);
            claim.is_some_and(|claim| claim.spec.as_ref().is_none_or(|spec| spec.volume_name.is_none()))
        };
        !claims.is_empty() && claims.iter().all(unbound)
    }

    fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        for claim in &self.claims {
            match claim.annotations().get(ANNOTATION_FORMED) {
                Some(mark) => drop(marks.found.insert(read_mark(mark))),
                None => marks.some_unmarked = true,
            }
        }
        marks
    }

    /// Who surely does not run, by what Kubernetes says; `lines` are what agents said last.
    pub fn proofs(&self, observed: &Observed, lines: &BTreeMap<String, Line>) -> Vec<Proof> {
        let named = self.pods.iter().filter_map(|(member, pod)| {
            self.out_of_service(member, pod).or_else(|| terminated(member, pod, observed, lines.get(member)))
        });
        named.collect()
    }

    fn out_of_service(&self, member: &str, pod: &Pod) -> Option<Proof> {
        out_of_service(member, self.nodes.get(node_of(pod)?)?)
    }

    /// The node that this member's Pod was given; none while there is no Pod, or it is given to none.
    pub fn node(&self, member: &str) -> Option<&str> {
        node_of(self.pods.get(member)?)
    }

    /// Where the agent of this Member is reached.
    pub fn address(&self, member: &Member) -> Option<String> {
        address(member, self.pods.get(&member.name_any()).map(AsRef::as_ref))
    }
}

/// Whether the container under the agent runs.
pub fn main_runs(pod: &Pod) -> bool {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    let main = statuses.into_iter().flatten().find(|one| one.name == muster_api::names::MAIN_CONTAINER);
    main.and_then(|main| main.state.as_ref()).is_some_and(|state| state.running.is_some())
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

/// The taint by which nothing on this node runs any more, if it has it.
pub fn out_of_service_taint(node: &Node) -> Option<&Taint> {
    let taints = node.spec.as_ref()?.taints.as_ref()?;
    taints.iter().find(|taint| taint.key == OUT_OF_SERVICE)
}

/// The proof that this member, whose last Pod was on this node, does not run.
pub fn out_of_service(member: &str, node: &Node) -> Option<Proof> {
    let taint = out_of_service_taint(node)?;
    let since = taint.time_added.as_ref().map(|time| time.0.to_string()).unwrap_or_default();
    let evidence = format!("node {} is tainted out-of-service {since}", node.name_any());
    Some(Proof { member: member.to_owned(), kind: FenceKind::OutOfService, instance: None, evidence })
}

/// Where a Member is reached: on its own host, or in its Pod.
pub fn address(member: &Member, pod: Option<&Pod>) -> Option<String> {
    if let Some(external) = &member.spec.external {
        return Some(external.address.clone());
    }
    pod?.status.as_ref()?.pod_ip.clone().filter(|ip| !ip.is_empty())
}

/// The value of a mark. One that cannot be read was written by nobody we know: the cluster was formed all the same.
fn read_mark(mark: &str) -> Mark {
    let (member, volume) = mark.split_once('/').unwrap_or((mark, ""));
    Mark { member: member.to_owned(), volume: volume.to_owned() }
}

/// How a mark is written.
pub fn write_mark(mark: &Mark) -> String {
    format!("{}/{}", mark.member, mark.volume)
}

/// The proof that the agent which spoke last has ended with its containers. Both times are of one node's clock, and whole
/// seconds do not tell apart what ended and began within one: then nothing is proven.
fn terminated(member: &str, pod: &Pod, observed: &Observed, line: Option<&Line>) -> Option<Proof> {
    let line = line?;
    if line.pod_uid.is_none() || line.pod_uid != pod.uid() {
        return None;
    }
    let began = line.started?.as_second();
    let status = pod.status.as_ref()?;
    let containers = status.container_statuses.as_ref().filter(|containers| !containers.is_empty())?;
    let mut evidence = Vec::new();
    for container in containers {
        let over = |state: &Option<ContainerState>| state.as_ref().and_then(|state| state.terminated.clone());
        if container.state.as_ref().is_some_and(|state| state.running.is_some()) {
            return None;
        }
        let ended = over(&container.state).or_else(|| over(&container.last_state))?;
        let at = ended.finished_at.as_ref().map(|time| time.0)?;
        let ours = container.name != muster_api::names::MAIN_CONTAINER || at.as_second() > began;
        evidence.push(ours.then(|| format!("{} ended {at}", ended.container_id.unwrap_or_default()))?);
    }
    let instance = observed.members.get(member)?.report.as_ref()?.instance;
    let evidence = evidence.join(", ");
    Some(Proof { member: member.to_owned(), kind: FenceKind::Terminated, instance: Some(instance), evidence })
}
