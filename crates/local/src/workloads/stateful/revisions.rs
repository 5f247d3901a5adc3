//! The history of a StatefulSet's template: one `ControllerRevision` for each content that it had.

use k8s_openapi::api::apps::v1::{ControllerRevision, StatefulSet};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kube::api::{Api, DeleteParams, Patch};
use kube::core::Selector;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::identity;
use crate::control::{Error, bounded, patching, writing};
use crate::workloads::hash;
use crate::workloads::ownership::{children, controller_of, owner};

const HASH_LABEL: &str = "controller.kubernetes.io/hash";
/// How many old revisions are kept if nothing is said, as the API has it.
const DEFAULT_LIMIT: i32 = 10;
/// How many other contents may have taken a name before it is given up: with 32 bits even one is unheard of.
const MAX_COLLISIONS: usize = 8;

/// The revisions of a set.
pub(super) struct History {
    /// Whose Pods there were before the last update.
    current: ControllerRevision,
    /// The newest.
    update: ControllerRevision,
    /// All that were known, the oldest first.
    all: Vec<ControllerRevision>,
    /// How often a name was taken by another content.
    pub(super) collisions: i32,
}

impl History {
    pub(super) fn current_name(&self) -> &str {
        self.current.metadata.name.as_deref().unwrap_or_default()
    }

    pub(super) fn update_name(&self) -> &str {
        self.update.metadata.name.as_deref().unwrap_or_default()
    }

    /// The template that Pods are made from, and its revision's name.
    pub(super) fn template(&self, from: super::decide::From) -> Result<(PodTemplateSpec, &str), Error> {
        let (revision, name) = match from {
            super::decide::From::Current => (&self.current, self.current_name()),
            super::decide::From::Update => (&self.update, self.update_name()),
        };
        let mut template = data(revision).pointer("/spec/template").cloned().unwrap_or_default();
        if let Some(fields) = template.as_object_mut() {
            fields.remove("$patch");
        }
        let template = serde_json::from_value(template);
        let template = template
            .map_err(|error| Error::Unusable(format!("revision {name} holds no template: {error}")))?;
        Ok((template, name))
    }
}

fn data(revision: &ControllerRevision) -> &Value {
    static NOTHING: Value = Value::Null;
    revision.data.as_ref().map_or(&NOTHING, |data| &data.0)
}

/// What a revision of a set's present template holds: a patch that would bring it back.
fn content(template: &PodTemplateSpec) -> Result<Value, Error> {
    let template = serde_json::to_value(template);
    let mut template =
        template.map_err(|error| Error::Unusable(format!("its template cannot be written: {error}")))?;
    template["$patch"] = "replace".into();
    Ok(json!({"spec": {"template": template}}))
}

/// Finds, or makes, the revision of the set's template.
pub(super) async fn settle(
    client: &Client,
    set: &StatefulSet,
    selector: &Selector,
) -> Result<History, Error> {
    let mut all: Vec<ControllerRevision> = children(client, set, selector, |_| true).await?;
    all.sort_by(|one, other| {
        let age =
            |it: &ControllerRevision| (it.revision, it.metadata.creation_timestamp.clone().map(|t| t.0));
        age(one).cmp(&age(other)).then_with(|| one.metadata.name.cmp(&other.metadata.name))
    });
    let status = set.status.as_ref();
    let mut collisions = status.and_then(|status| status.collision_count).unwrap_or(0);
    let content = content(&identity::spec(set)?.template)?;
    let newest = all.last().map_or(0, |revision| revision.revision);
    let equal = all.iter().rposition(|revision| *data(revision) == content);
    let update = match equal {
        Some(index) if index + 1 == all.len() => all[index].clone(),
        // The template is again what it was: the old revision becomes the newest.
        Some(index) => renumber(client, &all[index], newest + 1).await?,
        None => create(client, set, &content, newest + 1, &mut collisions).await?,
    };
    let named = status.and_then(|status| status.current_revision.as_ref());
    let current = all.iter().find(|revision| revision.metadata.name.as_ref() == named && named.is_some());
    Ok(History { current: current.unwrap_or(&update).clone(), update, collisions, all })
}

fn api(client: &Client, namespace: Option<&str>) -> Api<ControllerRevision> {
    Api::namespaced(client.clone(), namespace.unwrap_or_default())
}

async fn renumber(
    client: &Client,
    old: &ControllerRevision,
    number: i64,
) -> Result<ControllerRevision, Error> {
    let api = api(client, old.metadata.namespace.as_deref());
    let patch = json!({"metadata": {"resourceVersion": old.resource_version()}, "revision": number});
    bounded(api.patch(&old.name_any(), &patching(), &Patch::Merge(patch))).await
}

async fn create(
    client: &Client,
    set: &StatefulSet,
    content: &Value,
    number: i64,
    collisions: &mut i32,
) -> Result<ControllerRevision, Error> {
    let api = api(client, set.metadata.namespace.as_deref());
    let template = identity::spec(set)?.template.metadata.clone().unwrap_or_default();
    let owner = owner(set)?;
    for _ in 0..MAX_COLLISIONS {
        let hash = hash::name(content, *collisions);
        let mut labels = template.labels.clone().unwrap_or_default();
        labels.insert(HASH_LABEL.to_owned(), hash.clone());
        let name = format!("{}-{hash}", set.name_any());
        let revision = ControllerRevision {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: set.metadata.namespace.clone(),
                labels: Some(labels),
                annotations: set.metadata.annotations.clone(),
                owner_references: Some(vec![owner.clone()]),
                ..ObjectMeta::default()
            },
            data: Some(RawExtension(content.clone())),
            revision: number,
        };
        match bounded(api.create(&writing(), &revision)).await {
            Err(error) if error.already_exists() => {}
            done => return done,
        }
        let there = bounded(api.get(&name)).await?;
        let ours = controller_of(&there.metadata).is_some_and(|by| by.uid == owner.uid);
        if ours && data(&there) == content {
            return Ok(there);
        }
        *collisions += 1;
    }
    Err(Error::Unusable("no name is free for its revision".to_owned()))
}

/// Forgets the oldest revisions that neither the set nor a Pod is of, beyond the limit.
pub(super) async fn truncate(
    client: &Client,
    set: &StatefulSet,
    history: &History,
    pods: &[Pod],
) -> Result<(), Error> {
    let limit = identity::spec(set)?.revision_history_limit.unwrap_or(DEFAULT_LIMIT);
    let lives = |name: &str| {
        name == history.current_name()
            || name == history.update_name()
            || pods.iter().any(|pod| identity::revision(pod) == name)
    };
    let names = history.all.iter().map(ResourceExt::name_any);
    let dead: Vec<_> = names.filter(|name| !lives(name)).collect();
    let Ok(limit) = usize::try_from(limit) else { return Ok(()) };
    let api = api(client, set.metadata.namespace.as_deref());
    for name in &dead[..dead.len().saturating_sub(limit)] {
        match bounded(api.delete(name, &DeleteParams::default())).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
