//! `StatefulSets`: Pods with names that last, each with its claims, made from the revisions of a template.
//!
//! A pass goes in a straight line: read the set, its Pods and its history → [`decide`] → do it → [`status`].

mod decide;
mod identity;
mod revisions;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{ControllerRevision, StatefulSet, StatefulSetStatus};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::{Api, DeleteParams, Patch};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, watcher};
use kube::{Client, ResourceExt};
use serde_json::json;

use self::decide::{From, Seen, Step, decide};
use self::revisions::History;
use super::ownership::{children, controller_of, selector};
use super::pods::next_available;
use crate::control::{Error, Events, bounded, drive, patching, reference, writing};

/// Keeps all `StatefulSets` until dropped.
pub(super) async fn run(client: Client) {
    let keeper = Arc::new(Keeper {
        events: Events::new(client.clone(), "statefulset-controller"),
        client: client.clone(),
    });
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<StatefulSet>::all(client.clone()), config())
        .owns(Api::<ControllerRevision>::all(client.clone()), config())
        .watches(Api::<Pod>::all(client), config(), |pod| parent(&pod));
    drive(controller, move |set| {
        let keeper = keeper.clone();
        async move { Box::pin(keeper.keep(&set)).await }
    })
    .await;
}

/// Whose Pod it is, or, if it is nobody's, could become.
fn parent(pod: &Pod) -> Option<ObjectRef<StatefulSet>> {
    let name = match controller_of(&pod.metadata) {
        Some(owner) if owner.kind == "StatefulSet" => owner.name.as_str(),
        Some(_) => return None,
        None => identity::parent(pod.metadata.name.as_deref()?)?.0,
    };
    Some(ObjectRef::new(name).within(pod.metadata.namespace.as_deref()?))
}

struct Keeper {
    client: Client,
    events: Events,
}

impl Keeper {
    fn api<K>(&self, set: &StatefulSet) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &set.namespace().unwrap_or_default())
    }

    /// One pass over a set.
    async fn keep(&self, known: &StatefulSet) -> Result<Action, Error> {
        let Some(set) = bounded(self.api::<StatefulSet>(known).get_opt(&known.name_any())).await? else {
            return Ok(Action::await_change());
        };
        let (spec, name) = (identity::spec(&set)?, set.name_any());
        let selector = selector(&spec.selector)?;
        let is_ours = |pod: &Pod| identity::ordinal(&name, pod).is_some();
        let mut pods: Vec<Pod> = children(&self.client, &set, &selector, is_ours).await?;
        pods.retain(is_ours);
        let history = revisions::settle(&self.client, &set, &selector).await?;
        let now = Timestamp::now();
        let steps = decide(&Seen {
            name: &name,
            spec,
            status: &set.status.clone().unwrap_or_default(),
            ends: set.metadata.deletion_timestamp.is_some(),
            pods: &pods,
            update_revision: history.update_name(),
            now,
        });
        let (updating, done) = self.carry_out(&set, &history, steps).await;
        self.report(&set, status::of(&set, spec, &history, &pods, updating, now)).await?;
        done?;
        revisions::truncate(&self.client, &set, &history, &pods).await?;
        let next = next_available(pods.iter(), spec.min_ready_seconds.unwrap_or(0), now);
        Ok(next.map_or_else(Action::await_change, Action::requeue))
    }

    /// Does one thing after the other, until one fails; how many Pods were deleted to be made anew.
    async fn carry_out(
        &self,
        set: &StatefulSet,
        history: &History,
        steps: Vec<Step>,
    ) -> (i32, Result<(), Error>) {
        let mut updating = 0;
        for step in steps {
            let is_update = matches!(step, Step::Update(_));
            if let Err(error) = self.step(set, history, step).await {
                return (updating, Err(error));
            }
            updating += i32::from(is_update);
        }
        (updating, Ok(()))
    }

    async fn step(&self, set: &StatefulSet, history: &History, step: Step) -> Result<(), Error> {
        match step {
            Step::Create(ordinal, from) => {
                let made = self.create(set, history, ordinal, from).await;
                let pod = identity::pod_name(&set.name_any(), ordinal);
                self.tell(set, "create", "Create", &pod, made).await
            }
            Step::Claim(ordinal) => self.claim(set, ordinal).await,
            Step::Identify(pod) => {
                let ordinal = identity::parent(&pod).map_or(0, |(_, ordinal)| ordinal).to_string();
                let labels = json!({identity::NAME_LABEL: pod, identity::INDEX_LABEL: ordinal});
                let patch = Patch::Merge(json!({"metadata": {"labels": labels}}));
                bounded(self.api::<Pod>(set).patch(&pod, &patching(), &patch)).await.map(drop)
            }
            Step::Delete(pod) | Step::Update(pod) => {
                let gone = bounded(self.api::<Pod>(set).delete(&pod, &DeleteParams::default())).await;
                let gone = match gone {
                    Err(error) if error.is_not_found() => Ok(()),
                    gone => gone.map(drop),
                };
                self.tell(set, "delete", "Delete", &pod, gone).await
            }
        }
    }

    async fn create(
        &self,
        set: &StatefulSet,
        history: &History,
        ordinal: i32,
        from: From,
    ) -> Result<(), Error> {
        self.claim(set, ordinal).await?;
        let (template, revision) = history.template(from)?;
        let pod = identity::pod(set, &template, revision, ordinal)?;
        bounded(self.api::<Pod>(set).create(&writing(), &pod)).await.map(drop)
    }

    /// Makes the claims of a Pod that are missing.
    async fn claim(&self, set: &StatefulSet, ordinal: i32) -> Result<(), Error> {
        let api: Api<PersistentVolumeClaim> = self.api(set);
        for (_, claim) in identity::claims(set, ordinal)? {
            let name = claim.name_any();
            match bounded(api.get_opt(&name)).await? {
                None => match bounded(api.create(&writing(), &claim)).await {
                    Err(error) if !error.already_exists() => return Err(error),
                    _ => {}
                },
                Some(there) if there.metadata.deletion_timestamp.is_some() => {
                    return Err(Error::Unusable(format!("claim {name} is being deleted")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Tells people what was done, or why not.
    async fn tell(
        &self,
        set: &StatefulSet,
        verb: &str,
        noun: &str,
        pod: &str,
        done: Result<(), Error>,
    ) -> Result<(), Error> {
        let note = format!("{verb} Pod {pod} in StatefulSet {}", set.name_any());
        let set = reference(set);
        match &done {
            Ok(()) => self.events.say(&set, &format!("Successful{noun}"), note + " successful").await,
            Err(error) => {
                self.events.warn(&set, &format!("Failed{noun}"), format!("{note} failed: {error}")).await;
            }
        }
        done
    }

    async fn report(&self, set: &StatefulSet, status: StatefulSetStatus) -> Result<(), Error> {
        if !status::differs(set.status.as_ref(), &status) {
            return Ok(());
        }
        let reported = StatefulSet { status: Some(status), ..set.clone() };
        bounded(self.api::<StatefulSet>(set).replace_status(&set.name_any(), &writing(), &reported))
            .await
            .map(drop)
    }
}
