//! Doing it: the new `ReplicaSet`, the sizes of all, and the end of those that are too old.

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams};

use super::conditions::{self, PROGRESSING, condition};
use super::sizes::{self, Resize, Sets, size};
use super::spec::{HASH_LABEL, Wish, same_template};
use super::{Keeper, Work, revision};
use crate::control::{Error, bounded, reference, writing};
use crate::workloads::hash;
use crate::workloads::ownership::{controller_of, owner};

/// The longest name of an object.
const NAME_MAX: usize = 253;

impl Keeper {
    fn sets(&self, work: &Work<'_>) -> Api<ReplicaSet> {
        Api::namespaced(self.client.clone(), &work.deployment.namespace().unwrap_or_default())
    }

    /// Numbers the `ReplicaSet` of the present template, if there is one.
    pub(super) async fn know_new(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let number = work.sets.old.iter().map(revision::of).max().unwrap_or(0) + 1;
        let Some(new) = &work.sets.new else { return Ok(()) };
        let mut wanted = new.clone();
        let renumbered = revision::note_revision(work.deployment, &mut wanted, number);
        let min_ready = work.wish.spec.min_ready_seconds;
        let ready_after =
            |set: &ReplicaSet| set.spec.as_ref().and_then(|spec| spec.min_ready_seconds).unwrap_or(0);
        let known = if renumbered || ready_after(new) != min_ready.unwrap_or(0) {
            if let Some(spec) = &mut wanted.spec {
                spec.min_ready_seconds = min_ready;
            }
            bounded(self.sets(work).replace(&wanted.name_any(), &writing(), &wanted)).await?
        } else {
            wanted
        };
        if work.wish.deadline().is_some() && conditions::get(&work.status, PROGRESSING).is_none() {
            let message = format!("Found new replica set {:?}", known.name_any());
            let found = condition(PROGRESSING, "True", "FoundNewReplicaSet", message, work.now);
            conditions::set(&mut work.status, found);
        }
        work.revision = Some(revision::of(&known));
        work.sets.new = Some(known);
        Ok(())
    }

    /// Makes the `ReplicaSet` of the present template.
    pub(super) async fn make_new(&self, work: &mut Work<'_>) -> Result<(), Error> {
        let number = work.sets.old.iter().map(revision::of).max().unwrap_or(0) + 1;
        let wanted = new_set(work, number)?;
        let made = match bounded(self.sets(work).create(&writing(), &wanted)).await {
            Err(error) if error.already_exists() => {
                let there = bounded(self.sets(work).get(&wanted.name_any())).await?;
                let ours = controller_of(&there.metadata).map(|owner| &owner.uid);
                let ours = ours.is_some() && ours == work.deployment.metadata.uid.as_ref();
                if !ours || !same_template(&there, &work.wish.spec.template) {
                    // Another content has that name: the next pass takes another one.
                    *work.status.collision_count.get_or_insert(0) += 1;
                    return Ok(());
                }
                there
            }
            Err(error) => {
                let note = format!("Failed to create new replica set {:?}: {error}", wanted.name_any());
                self.events.warn(&reference(work.deployment), "ReplicaSetCreateError", note).await;
                return Err(error);
            }
            Ok(made) => {
                self.tell_scaled(work, &made.name_any(), 0, size(&made)).await;
                made
            }
        };
        if work.wish.deadline().is_some() {
            let message = format!("Created new replica set {:?}", made.name_any());
            let created = condition(PROGRESSING, "True", "NewReplicaSetCreated", message, work.now);
            conditions::set(&mut work.status, created);
        }
        work.revision = Some(number);
        work.sets.new = Some(made);
        Ok(())
    }

    /// Gives `ReplicaSets` the sizes that are decided on; whether one has changed.
    pub(super) async fn resize(
        &self,
        work: &mut Work<'_>,
        decide: impl Fn(Wish<'_>, &Sets) -> Vec<Resize>,
    ) -> Result<bool, Error> {
        let mut changed = false;
        for (name, wanted) in decide(work.wish, &work.sets) {
            let api = self.sets(work);
            let Some(set) =
                work.sets.old.iter_mut().chain(&mut work.sets.new).find(|set| set.name_any() == name)
            else {
                continue;
            };
            let before = size(set);
            let mut resized = set.clone();
            let noted = revision::note_size(&mut resized, work.wish);
            if before == wanted && !noted {
                continue;
            }
            if let Some(spec) = &mut resized.spec {
                spec.replicas = Some(wanted);
            }
            *set = bounded(api.replace(&name, &writing(), &resized)).await?;
            if before != wanted {
                changed = true;
                self.tell_scaled(work, &name, before, wanted).await;
            }
        }
        Ok(changed)
    }

    async fn tell_scaled(&self, work: &Work<'_>, set: &str, from: i32, to: i32) {
        if from == to {
            return;
        }
        let way = if from < to { "up" } else { "down" };
        let note = format!("Scaled {way} replica set {set} from {from} to {to}");
        self.events.say(&reference(work.deployment), "ScalingReplicaSet", note).await;
    }

    /// Deletes the oldest `ReplicaSets` beyond the limit, if they have no Pods.
    pub(super) async fn clean_up(&self, work: &Work<'_>) -> Result<(), Error> {
        let Some(limit) = work.wish.history_limit() else { return Ok(()) };
        let lasts = |set: &&ReplicaSet| set.metadata.deletion_timestamp.is_none();
        let mut old: Vec<&ReplicaSet> = work.sets.old.iter().filter(lasts).collect();
        old.sort_by_key(|set| revision::of(set));
        let too_old = old.len().saturating_sub(limit);
        let is_empty = |set: &&ReplicaSet| {
            let status = set.status.as_ref();
            let observed = status.and_then(|status| status.observed_generation);
            status.is_none_or(|status| status.replicas == 0)
                && size(set) == 0
                && observed >= set.metadata.generation
        };
        for set in old.into_iter().take(too_old).filter(is_empty) {
            match bounded(self.sets(work).delete(&set.name_any(), &DeleteParams::default())).await {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The `ReplicaSet` of the present template, with as many Pods as it may begin with.
fn new_set(work: &Work<'_>, number: i64) -> Result<ReplicaSet, Error> {
    let spec = work.wish.spec;
    let content = serde_json::to_value(&spec.template);
    let content =
        content.map_err(|error| Error::Unusable(format!("its template cannot be written: {error}")))?;
    let hash = hash::name(&content, work.status.collision_count.unwrap_or(0));
    let mut template = spec.template.clone();
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let labels = labels.clone();
    let mut selector = spec.selector.clone();
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    let mut name = work.deployment.name_any();
    name.truncate(NAME_MAX - 1 - hash.len());
    let mut set = ReplicaSet {
        metadata: ObjectMeta {
            name: Some(format!("{name}-{hash}")),
            namespace: work.deployment.namespace(),
            labels: Some(labels),
            owner_references: Some(vec![owner(work.deployment)?]),
            ..ObjectMeta::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: Some(sizes::of_new(work.wish, work.sets.total(), 0)),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        }),
        status: None,
    };
    revision::note_revision(work.deployment, &mut set, number);
    revision::note_size(&mut set, work.wish);
    Ok(set)
}
