//! `ReplicaSets`: as many Pods as are wanted, whichever they are.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, DeleteParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{Controller, watcher};
use kube::{Client, ResourceExt};

use super::ownership::{children, controller_of, fits, owner, selector};
use super::pods::{self, is_active, is_available, is_ending, is_ready, labels, next_available};
use crate::control::{Error, Events, bounded, drive, reference, writing};

/// How many Pods are made or deleted in one pass: a wrong number in a spec should be seen before thousands are made.
const MAX_AT_ONCE: usize = 100;
const FAILURE: &str = "ReplicaFailure";

/// Keeps all `ReplicaSets` until dropped.
pub(super) async fn run(client: Client) {
    let keeper = Arc::new(Keeper {
        events: Events::new(client.clone(), "replicaset-controller"),
        client: client.clone(),
    });
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<ReplicaSet>::all(client.clone()), config());
    let known = controller.store();
    let controller = controller.watches(Api::<Pod>::all(client), config(), move |pod| parents(&known, &pod));
    drive(controller, move |set| {
        let keeper = keeper.clone();
        async move { Box::pin(keeper.keep(&set)).await }
    })
    .await;
}

/// Whose Pod it is, or, if it is nobody's, could become.
fn parents(known: &Store<ReplicaSet>, pod: &Pod) -> Vec<ObjectRef<ReplicaSet>> {
    let namespace = pod.namespace().unwrap_or_default();
    match controller_of(&pod.metadata) {
        Some(owner) if owner.kind == "ReplicaSet" => vec![ObjectRef::new(&owner.name).within(&namespace)],
        Some(_) => Vec::new(),
        None => {
            let would_take = |set: &Arc<ReplicaSet>| {
                let selector = set.spec.as_ref().and_then(|spec| selector(&spec.selector).ok());
                set.namespace().as_ref() == Some(&namespace)
                    && selector.is_some_and(|selector| fits(&selector, pod))
            };
            known.find_all(would_take)
        }
    }
}

trait FindAll {
    fn find_all(&self, is_so: impl Fn(&Arc<ReplicaSet>) -> bool) -> Vec<ObjectRef<ReplicaSet>>;
}

impl FindAll for Store<ReplicaSet> {
    fn find_all(&self, is_so: impl Fn(&Arc<ReplicaSet>) -> bool) -> Vec<ObjectRef<ReplicaSet>> {
        self.state().iter().filter(|set| is_so(set)).map(|set| ObjectRef::from_obj(set.as_ref())).collect()
    }
}

/// The spec, and the template that Pods are made from.
fn spec(set: &ReplicaSet) -> Result<(&ReplicaSetSpec, &PodTemplateSpec), Error> {
    let spec = set.spec.as_ref().and_then(|spec| Some((spec, spec.template.as_ref()?)));
    spec.ok_or_else(|| Error::Unusable("a ReplicaSet without a template".to_owned()))
}

struct Keeper {
    client: Client,
    events: Events,
}

impl Keeper {
    fn sets(&self, set: &ReplicaSet) -> Api<ReplicaSet> {
        Api::namespaced(self.client.clone(), &set.namespace().unwrap_or_default())
    }

    fn pods(&self, set: &ReplicaSet) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &set.namespace().unwrap_or_default())
    }

    /// One pass over a set.
    async fn keep(&self, known: &ReplicaSet) -> Result<Action, Error> {
        let Some(set) = bounded(self.sets(known).get_opt(&known.name_any())).await? else {
            return Ok(Action::await_change());
        };
        let (spec, _) = spec(&set)?;
        let selector = selector(&spec.selector)?;
        let all: Vec<Pod> = children(&self.client, &set, &selector, is_active).await?;
        let (active, others): (Vec<Pod>, Vec<Pod>) = all.into_iter().partition(is_active);
        let ending = others.iter().filter(|pod| is_ending(pod) && !pods::has_ended(pod)).count();
        let now = Timestamp::now();
        let done = match set.metadata.deletion_timestamp {
            None => self.manage(&set, &active).await,
            Some(_) => Ok(()),
        };
        let status = status(&set, &active, ending, done.as_ref().err(), now)?;
        if differs(set.status.as_ref(), &status) {
            let reported = ReplicaSet { status: Some(status), ..set.clone() };
            bounded(self.sets(&set).replace_status(&set.name_any(), &writing(), &reported)).await?;
        }
        done?;
        let next = next_available(active.iter(), spec.min_ready_seconds.unwrap_or(0), now);
        Ok(next.map_or_else(Action::await_change, Action::requeue))
    }

    /// Makes or deletes Pods until there are as many as wanted.
    async fn manage(&self, set: &ReplicaSet, active: &[Pod]) -> Result<(), Error> {
        let (spec, template) = spec(set)?;
        let wanted = usize::try_from(spec.replicas.unwrap_or(1)).unwrap_or(0);
        for _ in active.len()..wanted.min(active.len() + MAX_AT_ONCE) {
            self.create(set, template).await?;
        }
        let over = active.len().saturating_sub(wanted).min(MAX_AT_ONCE);
        let mut by_worth: Vec<&Pod> = active.iter().collect();
        by_worth.sort_by_key(|pod| worth(pod));
        for pod in by_worth.into_iter().take(over) {
            self.delete(set, &pod.name_any()).await?;
        }
        Ok(())
    }

    async fn create(&self, set: &ReplicaSet, template: &PodTemplateSpec) -> Result<(), Error> {
        let namespace = set.namespace().unwrap_or_default();
        let mut pod = pods::from_template(template, &namespace, owner(set)?);
        pod.metadata.generate_name = Some(format!("{}-", set.name_any()));
        match bounded(self.pods(set).create(&writing(), &pod)).await {
            Ok(pod) => {
                let note = format!("Created pod: {}", pod.name_any());
                self.events.say(&reference(set), "SuccessfulCreate", note).await;
                Ok(())
            }
            Err(error) => {
                self.events.warn(&reference(set), "FailedCreate", format!("Error creating: {error}")).await;
                Err(error)
            }
        }
    }

    async fn delete(&self, set: &ReplicaSet, pod: &str) -> Result<(), Error> {
        match bounded(self.pods(set).delete(pod, &DeleteParams::default())).await {
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error),
            Ok(_) => {
                let note = format!("Deleted pod: {pod}");
                self.events.say(&reference(set), "SuccessfulDelete", note).await;
                Ok(())
            }
        }
    }
}

/// What is lost with a Pod; the least is deleted first: one without a node, one that waits, one that is not ready, the newest.
fn worth(pod: &Pod) -> (bool, bool, bool, Reverse<Option<Timestamp>>) {
    let has_node = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
    (has_node, !pods::is_pending(pod), is_ready(pod), Reverse(created))
}

fn count(pods: &[Pod], is_so: impl Fn(&Pod) -> bool) -> i32 {
    i32::try_from(pods.iter().filter(|pod| is_so(pod)).count()).unwrap_or(i32::MAX)
}

fn status(
    set: &ReplicaSet,
    active: &[Pod],
    ending: usize,
    failed: Option<&Error>,
    now: Timestamp,
) -> Result<ReplicaSetStatus, Error> {
    let (spec, template) = spec(set)?;
    let min_ready = spec.min_ready_seconds.unwrap_or(0);
    let asked = template.metadata.as_ref().and_then(|metadata| metadata.labels.clone()).unwrap_or_default();
    let full = |pod: &Pod| asked.iter().all(|(name, value)| labels(pod).get(name) == Some(value));
    let old = set.status.clone().unwrap_or_default();
    let wanted = usize::try_from(spec.replicas.unwrap_or(1)).unwrap_or(0);
    let mut conditions = old.conditions.unwrap_or_default();
    match failed {
        None => conditions.retain(|condition| condition.type_ != FAILURE),
        Some(_) if conditions.iter().any(|condition| condition.type_ == FAILURE) => {}
        Some(error) => conditions.push(ReplicaSetCondition {
            type_: FAILURE.to_owned(),
            status: "True".to_owned(),
            reason: Some(if active.len() < wanted { "FailedCreate" } else { "FailedDelete" }.to_owned()),
            message: Some(error.to_string()),
            last_transition_time: Some(Time(now)),
        }),
    }
    Ok(ReplicaSetStatus {
        observed_generation: set.metadata.generation,
        replicas: count(active, |_| true),
        fully_labeled_replicas: Some(count(active, full)),
        ready_replicas: Some(count(active, is_ready)),
        available_replicas: Some(count(active, |pod| is_available(pod, min_ready, now))),
        terminating_replicas: Some(i32::try_from(ending).unwrap_or(i32::MAX)),
        conditions: (!conditions.is_empty()).then_some(conditions),
    })
}

/// Whether there is something to report: what is 0 may also be left out.
fn differs(old: Option<&ReplicaSetStatus>, new: &ReplicaSetStatus) -> bool {
    let Some(old) = old else { return true };
    let counts = |status: &ReplicaSetStatus| {
        let counts = [
            Some(status.replicas),
            status.fully_labeled_replicas,
            status.ready_replicas,
            status.available_replicas,
        ];
        counts.map(|count| count.unwrap_or(0))
    };
    old.observed_generation != new.observed_generation
        || counts(old) != counts(new)
        || old.terminating_replicas != new.terminating_replicas
        || old.conditions != new.conditions
}
