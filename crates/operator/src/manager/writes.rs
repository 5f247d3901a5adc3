//! What a manager writes to the API server: roles of Pods, marks on claims, and Pods that go.
//!
//! Writes run beside the manager, so that a slow API server does not keep it from its agents. Each object has one write
//! under way at a time; what fails is tried again at a later turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use muster_api::Member;
use muster_api::names::{ANNOTATION_FORGOTTEN, ANNOTATION_FORMED, LABEL_MEMBER, LABEL_ROLE, Role, STOPPED};
use muster_core::manager::wanted::Mark;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::facts::{Surroundings, write_mark};
use super::task::Task;
use crate::context::Context;
use crate::door::CallError;
use crate::key::Name;

/// How long a failed write, or a removal that is not seen yet, rests before it is tried again.
const REST: Duration = Duration::from_secs(1);

/// What a write was about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Role { member: String, pod: String },
    Mark { claim: String },
    Removal { pod: String },
}

/// A write that has ended.
pub(super) struct Done {
    subject: Subject,
    /// What a Pod was given; none for other writes, and for one that failed.
    given: Option<Given>,
    result: Result<(), CallError>,
}

/// What the last write of ours gave to a Pod. It counts until the caches show that write, or a later one: from then on the
/// Pod says itself what it carries, whoever changed it.
struct Given {
    /// By the uid, because another Pod of this name was given nothing.
    pod: String,
    /// What was asked for.
    asked: Option<String>,
    /// What came of it.
    role: Option<String>,
    version: u64,
    at: Instant,
}

impl Given {
    /// None where versions are no numbers and cannot be compared.
    fn of(written: &Pod, asked: Option<String>) -> Option<Self> {
        let (pod, version) = (written.uid()?, version(written)?);
        Some(Self { pod, asked, role: role_on(written), version, at: Instant::now() })
    }

    /// Whether the Pod, as the caches show it, is older than this write.
    fn is_unseen(&self, pod: &Pod) -> bool {
        version(pod).is_some_and(|shown| shown < self.version)
    }

    /// Until when it is not asked for again: whoever takes it away each time, a webhook say, would keep us writing.
    fn rests_until(&self, wanted: Option<&String>) -> Option<Instant> {
        let until = self.at + REST;
        (self.asked.as_ref() == wanted && until > Instant::now()).then_some(until)
    }
}

fn version(pod: &Pod) -> Option<u64> {
    pod.resource_version()?.parse().ok()
}

fn role_on(pod: &Pod) -> Option<String> {
    pod.labels().get(LABEL_ROLE).cloned()
}

/// The writes of one manager.
#[derive(Default)]
pub(super) struct Writes {
    running: JoinSet<Done>,
    busy: BTreeSet<Subject>,
    /// When failed ones may be tried again.
    resting: BTreeMap<Subject, Instant>,
    /// The role that each member's Pod carries, as far as is known.
    roles: BTreeMap<String, Option<String>>,
    /// What members' Pods were given last.
    given: BTreeMap<String, Given>,
    /// What members' Pods are being given: until that is answered each may carry this or what it carried before.
    giving: BTreeMap<String, Option<String>>,
    /// Members, and their Pods by uid, of which it is not known what they carry: the answer to the last write was lost.
    unsure: BTreeMap<String, String>,
}

impl Writes {
    /// The next write that ends; pending for ever while none runs.
    pub(super) async fn next(&mut self) -> Option<Done> {
        match self.running.join_next().await {
            Some(done) => done.ok(),
            None => std::future::pending().await,
        }
    }

    /// Waits until no write runs any more.
    pub(super) async fn drain(&mut self) {
        while self.running.join_next().await.is_some() {}
    }

    /// Whether a write runs.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// When the next failed write may be tried again.
    pub(super) fn retry_at(&mut self) -> Option<Instant> {
        let now = Instant::now();
        self.resting.retain(|_, until| *until > now);
        self.resting.values().min().copied()
    }

    /// Whether clients may still be sent to this member, or may be soon.
    pub(super) fn is_reachable(&self, member: &str) -> bool {
        let has_role =
            |roles: &BTreeMap<String, Option<String>>| roles.get(member).is_some_and(Option::is_some);
        has_role(&self.roles) || has_role(&self.giving) || self.unsure.contains_key(member)
    }

    /// To whom clients that write are surely sent. An external member has no Pod that could carry a role.
    pub(super) fn reached(&self, surroundings: &Surroundings) -> BTreeSet<String> {
        let primary = |role: &Option<String>| role.as_deref() == Some(Role::Primary.as_str());
        let stays = |member: &String| self.giving.get(member).is_none_or(primary);
        let sure = |member: &String| stays(member) && !self.unsure.contains_key(member);
        let labelled = self.roles.iter().filter(|(member, role)| primary(role) && sure(member));
        let labelled = labelled.map(|(member, _)| member.clone());
        let external = surroundings.members.iter().filter(|member| member.spec.external.is_some());
        labelled.chain(external.map(|member| member.name_any())).collect()
    }

    /// Makes each Pod carry its role, and no other Pod any.
    pub(super) fn label(
        &mut self,
        context: &Arc<Context>,
        cluster: &Name,
        surroundings: &Surroundings,
        roles: &BTreeMap<String, Role>,
    ) {
        self.look_at_roles(surroundings);
        for (member, pod) in &surroundings.pods {
            let wanted = roles.get(member).map(ToString::to_string);
            let as_wanted = self.roles.get(member) == Some(&wanted) && !self.unsure.contains_key(member);
            if as_wanted || pod.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let uid = pod.uid().unwrap_or_default();
            let subject = Subject::Role { member: member.clone(), pod: uid.clone() };
            let given = self.given.get(member);
            if let Some(until) = given.and_then(|given| given.rests_until(wanted.as_ref())) {
                self.resting.insert(subject, until);
                continue;
            }
            let (context, cluster, name) = (context.clone(), cluster.clone(), Name::of(pod.as_ref()));
            let giving = wanted.clone();
            let began = self.spawn(subject.clone(), async move {
                let patch = json!({"metadata": {"uid": uid, "labels": {LABEL_ROLE: wanted}}});
                let written = context.door.merge::<Pod>(&cluster, &name, &patch).await;
                let given = written.as_ref().ok().and_then(|pod| Given::of(pod, wanted));
                Done { subject, given, result: written.map(drop) }
            });
            if began {
                self.giving.insert(member.clone(), giving);
            }
        }
    }

    /// Finds out what each Pod carries: what it says itself, unless it was given something since.
    fn look_at_roles(&mut self, surroundings: &Surroundings) {
        let pods = &surroundings.pods;
        let is_still = |member: &String, uid: &String| {
            pods.get(member).is_some_and(|pod| pod.uid().as_ref() == Some(uid))
        };
        self.given.retain(|member, given| is_still(member, &given.pod));
        self.unsure.retain(|member, pod| is_still(member, pod));
        let carries = |(member, pod): (&String, &Arc<Pod>)| {
            let unseen = self.given.get(member).filter(|given| given.is_unseen(pod));
            (member.clone(), unseen.map_or_else(|| role_on(pod), |given| given.role.clone()))
        };
        self.roles = pods.iter().map(carries).collect();
    }

    /// Writes the mark on every claim of the cluster that has none.
    pub(super) fn mark(
        &mut self,
        context: &Arc<Context>,
        cluster: &Name,
        surroundings: &Surroundings,
        mark: &Mark,
    ) {
        let unmarked =
            surroundings.claims.iter().filter(|claim| !claim.annotations().contains_key(ANNOTATION_FORMED));
        for claim in unmarked {
            let name = Name::of(claim.as_ref());
            let subject = Subject::Mark { claim: name.name.clone() };
            // With the version: should someone else have marked it meanwhile, theirs stands.
            let patch = json!({"metadata": {
                "uid": claim.uid(),
                "resourceVersion": claim.resource_version(),
                "annotations": {ANNOTATION_FORMED: write_mark(mark)},
            }});
            let (context, cluster) = (context.clone(), cluster.clone());
            self.spawn(subject.clone(), async move {
                let merged = context.door.merge::<PersistentVolumeClaim>(&cluster, &name, &patch).await;
                Done { subject, given: None, result: merged.map(drop) }
            });
        }
    }

    /// Lets go of a member that a person gave up: its claims are marked, so that its ordinal is not used again, and then
    /// its Member is deleted.
    pub(super) fn give_up(
        &mut self,
        context: &Arc<Context>,
        cluster: &Name,
        surroundings: &Surroundings,
        member: &str,
    ) {
        let of = |claim: &PersistentVolumeClaim| {
            claim.labels().get(LABEL_MEMBER).is_some_and(|name| name == member)
        };
        let claims: Vec<_> = surroundings.claims.iter().filter(|claim| of(claim)).collect();
        let marked = |claim: &PersistentVolumeClaim| claim.annotations().contains_key(ANNOTATION_FORGOTTEN);
        if claims.iter().all(|claim| marked(claim)) {
            let Some(live) = surroundings.members.iter().find(|live| live.name_any() == member).cloned()
            else {
                return;
            };
            let subject = Subject::Removal { pod: format!("Member {member}") };
            let (context, cluster) = (context.clone(), cluster.clone());
            self.spawn(subject.clone(), async move {
                let result = context.door.delete::<Member>(&cluster, &live).await;
                Done { subject, given: None, result }
            });
            return;
        }
        for claim in claims.into_iter().filter(|claim| !marked(claim)) {
            let name = Name::of(claim.as_ref());
            let subject = Subject::Mark { claim: format!("forgotten {}", name.name) };
            let patch =
                json!({"metadata": {"uid": claim.uid(), "annotations": {ANNOTATION_FORGOTTEN: STOPPED}}});
            let (context, cluster) = (context.clone(), cluster.clone());
            self.spawn(subject.clone(), async move {
                let merged = context.door.merge::<PersistentVolumeClaim>(&cluster, &name, &patch).await;
                Done { subject, given: None, result: merged.map(drop) }
            });
        }
    }

    /// Deletes the Pod of this member, if it is still the one whose uid is given.
    pub(super) fn delete_pod(
        &mut self,
        context: &Arc<Context>,
        cluster: &Name,
        surroundings: &Surroundings,
        member: &str,
        uid: Option<&str>,
    ) {
        let Some(pod) = surroundings.pods.get(member) else { return };
        if pod.metadata.deletion_timestamp.is_some() || uid.is_none() || pod.uid().as_deref() != uid {
            return;
        }
        let subject = Subject::Removal { pod: pod.uid().unwrap_or_default() };
        let (context, cluster, pod) = (context.clone(), cluster.clone(), pod.clone());
        self.spawn(subject.clone(), async move {
            tracing::info!(%cluster, pod = pod.name_any(), "replaces an outdated Pod");
            let result = context.door.delete::<Pod>(&cluster, &pod).await;
            Done { subject, given: None, result }
        });
    }

    /// Begins a write; false: not now.
    fn spawn(&mut self, subject: Subject, write: impl Future<Output = Done> + Send + 'static) -> bool {
        let rests = self.resting.get(&subject).is_some_and(|until| *until > Instant::now());
        if rests || !self.busy.insert(subject) {
            return false;
        }
        self.running.spawn(write);
        true
    }
}

impl Task {
    /// Takes in what became of a write.
    pub(super) fn note_write(&mut self, done: Done) {
        let Done { subject, given, result } = done;
        self.writes.busy.remove(&subject);
        if let Subject::Role { member, pod } = &subject {
            self.writes.giving.remove(member);
            self.writes.given.extend(given.map(|given| (member.clone(), given)));
            match &result {
                Ok(()) => drop(self.writes.unsure.remove(member)),
                Err(error) if error.may_have_happened() => {
                    self.writes.unsure.insert(member.clone(), pod.clone());
                }
                Err(_) => {}
            }
        }
        // What was removed or marked may be seen as it was for a while; it is not done again and again until it is seen.
        let seen_later = matches!(subject, Subject::Removal { .. } | Subject::Mark { .. });
        if let Err(error) = &result {
            tracing::warn!(cluster = %self.cluster, %error, "a write of the manager failed and is tried again");
        }
        if result.is_err() || seen_later {
            self.writes.resting.insert(subject, Instant::now() + REST);
        }
    }
}
