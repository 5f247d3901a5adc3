//! Deployments: one `ReplicaSet` for each template that they had, and Pods that move from the old ones to the newest.
//!
//! A pass goes in a straight line: read the Deployment and its `ReplicaSets` → the one of its template → [`sizes`] → do it →
//! [`status`]. All it has to say is written once, at the end.

mod apply;
mod conditions;
mod revision;
mod sizes;
mod spec;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::{Deployment, DeploymentStatus, ReplicaSet};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{Controller, watcher};
use kube::{Client, ResourceExt};

use self::conditions::{PAUSED, PROGRESSING, TIMED_OUT, condition};
use self::sizes::Sets;
use self::spec::{Wish, same_template};
use super::ownership::{children, controller_of, fits, selector};
use super::pods::has_ended;
use crate::control::{Error, Events, bounded, drive, writing};

/// Keeps all Deployments until dropped.
pub(super) async fn run(client: Client) {
    let keeper = Arc::new(Keeper {
        events: Events::new(client.clone(), "deployment-controller"),
        client: client.clone(),
    });
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<Deployment>::all(client.clone()), config());
    let known = controller.store();
    let sets = Api::<ReplicaSet>::all(client);
    let controller = controller.watches(sets, config(), move |set| parents(&known, &set));
    drive(controller, move |deployment| {
        let keeper = keeper.clone();
        async move { Box::pin(keeper.keep(&deployment)).await }
    })
    .await;
}

/// Whose `ReplicaSet` it is, or, if it is nobody's, could become.
fn parents(known: &Store<Deployment>, set: &ReplicaSet) -> Vec<ObjectRef<Deployment>> {
    let namespace = set.namespace().unwrap_or_default();
    match controller_of(&set.metadata) {
        Some(owner) if owner.kind == "Deployment" => vec![ObjectRef::new(&owner.name).within(&namespace)],
        Some(_) => Vec::new(),
        None => {
            let would_take = |deployment: &&Arc<Deployment>| {
                let selector = deployment.spec.as_ref().and_then(|spec| selector(&spec.selector).ok());
                deployment.namespace().as_ref() == Some(&namespace)
                    && selector.is_some_and(|selector| fits(&selector, set))
            };
            let known = known.state();
            let found = known.iter().filter(would_take);
            found.map(|deployment| ObjectRef::from_obj(deployment.as_ref())).collect()
        }
    }
}

struct Keeper {
    client: Client,
    events: Events,
}

/// What a pass works on.
struct Work<'a> {
    deployment: &'a Deployment,
    wish: Wish<'a>,
    sets: Sets,
    /// The status so far: as it was read, with the conditions that this pass sets.
    status: DeploymentStatus,
    /// The revision that the Deployment is to show.
    revision: Option<i64>,
    now: Timestamp,
}

impl Keeper {
    fn deployments(&self, deployment: &Deployment) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), &deployment.namespace().unwrap_or_default())
    }

    /// One pass over a Deployment.
    async fn keep(&self, known: &Deployment) -> Result<Action, Error> {
        let Some(deployment) = bounded(self.deployments(known).get_opt(&known.name_any())).await? else {
            return Ok(Action::await_change());
        };
        let wish = Wish::of(&deployment)?;
        let selector = selector(&wish.spec.selector)?;
        let sets: Vec<ReplicaSet> = children(&self.client, &deployment, &selector, |_| true).await?;
        let mut work = Work {
            deployment: &deployment,
            wish,
            sets: sorted(sets, &deployment),
            status: deployment.status.clone().unwrap_or_default(),
            revision: None,
            now: Timestamp::now(),
        };
        let ends = deployment.metadata.deletion_timestamp.is_some();
        self.know_new(&mut work).await?;
        let status = if ends || wish.is_paused() || work.sets.is_resized(wish) {
            if !ends {
                note_pause(&mut work);
                self.resize(&mut work, sizes::resize).await?;
                if wish.is_paused() {
                    self.clean_up(&work).await?;
                }
            }
            status::counted(&deployment, wish, &work.sets, &work.status, work.now)
        } else {
            note_pause(&mut work);
            self.roll_out(&mut work).await?;
            status::rolling(&deployment, wish, &work.sets, &work.status, work.now)
        };
        let next = wish.deadline().and_then(|deadline| {
            let left = conditions::until_deadline(&status, deadline, work.now)?;
            (!status::is_complete(&deployment, wish, &status)).then_some(left)
        });
        self.report(&work, status).await?;
        let next = next.map(|left| left.max(SignedDuration::ZERO) + SignedDuration::from_secs(1));
        Ok(next.map_or_else(Action::await_change, |left| Action::requeue(left.unsigned_abs())))
    }

    /// Moves Pods from old `ReplicaSets` to the new one.
    async fn roll_out(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let moved = if work.wish.recreates() {
            if self.resize(work, |_, sets| sizes::stop_old(sets)).await? || self.old_run(work).await? {
                return Ok(());
            }
            if work.sets.new.is_none() {
                self.make_new(work).await?;
            }
            let all_new = |wish: Wish<'_>, sets: &Sets| {
                let new = sets.new.iter().filter(|set| sizes::size(set) != wish.replicas());
                new.map(|set| (set.name_any(), wish.replicas())).collect()
            };
            self.resize(work, all_new).await?
        } else {
            if work.sets.new.is_none() {
                self.make_new(work).await?;
            }
            self.resize(work, sizes::roll).await?
        };
        if !moved && status::is_complete(work.deployment, work.wish, &work.status) {
            self.clean_up(work).await?;
        }
        Ok(())
    }

    /// Whether a Pod of an old template still runs.
    async fn old_run(&self, work: &Work<'_>) -> Result<bool, Error> {
        let replicas = |set: &ReplicaSet| set.status.as_ref().map_or(0, |status| status.replicas);
        if work.sets.old.iter().any(|set| replicas(set) > 0) {
            return Ok(true);
        }
        let namespace = work.deployment.namespace().unwrap_or_default();
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &namespace);
        let selector = selector(&work.wish.spec.selector)?;
        let pods = bounded(pods.list(&ListParams::default().labels_from(&selector))).await?;
        let is_old = |pod: &Pod| {
            let owner = controller_of(&pod.metadata).map(|owner| owner.uid.as_str());
            !has_ended(pod)
                && work.sets.old.iter().any(|set| owner.is_some() && set.metadata.uid.as_deref() == owner)
        };
        Ok(pods.items.iter().any(is_old))
    }

    async fn report(&self, work: &Work<'_>, status: DeploymentStatus) -> Result<(), Error> {
        let mut reported = work.deployment.clone();
        let mut changed = status::differs(work.deployment.status.as_ref(), &status);
        if let Some(revision) = work.revision.map(|revision| revision.to_string())
            && reported.annotations().get(revision::REVISION) != Some(&revision)
        {
            reported.annotations_mut().insert(revision::REVISION.to_owned(), revision);
            changed = true;
        }
        if !changed {
            return Ok(());
        }
        reported.status = Some(status);
        let api = self.deployments(work.deployment);
        bounded(api.replace_status(&reported.name_any(), &writing(), &reported)).await.map(drop)
    }
}

/// The oldest `ReplicaSet` of the present template is the new one.
fn sorted(mut sets: Vec<ReplicaSet>, deployment: &Deployment) -> Sets {
    sets.sort_by(|one, other| {
        let created = |set: &ReplicaSet| set.metadata.creation_timestamp.as_ref().map(|time| time.0);
        created(one).cmp(&created(other)).then_with(|| one.name_any().cmp(&other.name_any()))
    });
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    let new = sets.iter().position(|set| template.is_some_and(|template| same_template(set, template)));
    let new = new.map(|index| sets.remove(index));
    Sets { new, old: sets }
}

/// Says that it is paused, or that it no longer is.
fn note_pause(work: &mut Work<'_>) {
    let reason = conditions::reason(&work.status, PROGRESSING);
    if work.wish.deadline().is_none() || reason == Some(TIMED_OUT) {
        return;
    }
    let was_paused = reason == Some(PAUSED);
    let (reason, message) = match (work.wish.is_paused(), was_paused) {
        (true, false) => (PAUSED, "Deployment is paused"),
        (false, true) => ("DeploymentResumed", "Deployment is resumed"),
        _ => return,
    };
    let condition = condition(PROGRESSING, "Unknown", reason, message.to_owned(), work.now);
    conditions::set(&mut work.status, condition);
}
