//! An object that a controller wants to be there: how it stands to what is there, and how it is put in place.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use muster_api::Member;
use muster_api::names::FIELD_MANAGER;
use muster_core::build::owners;
use muster_core::drift;
use muster_core::generation::Applied;
use serde_json::{Value, json};

use crate::cache::{Cached, Caches};
use crate::context::Context;
use crate::door::{CallError, Door, Namespaced};
use crate::key::Name;

/// The kinds of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is the kind of that name")]
pub enum Kind {
    Member,
    ConfigMap,
    Service,
    PodDisruptionBudget,
    Deployment,
    DaemonSet,
    StatefulSet,
    PersistentVolumeClaim,
}

impl Kind {
    /// Whether the API server merges lists in what is said of it, and checks their items against each other.
    const fn has_merged_lists(self) -> bool {
        matches!(self, Self::Service | Self::Deployment | Self::DaemonSet | Self::StatefulSet)
    }
}

/// An object that is to be there.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Name,
    /// What we say of it.
    pub desired: Value,
    /// Whether only a part of it is ours: then it is a person's, and not taken from us.
    pub partly: bool,
}

/// How a wanted object stands to what is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// It is there as wanted: as good as an apply that changed nothing.
    Same(Applied),
    /// It is not there.
    Missing,
    /// It is there, and differs.
    Differs(String),
    /// An object of this name belongs to someone else, and is never adopted.
    Taken(String),
    /// It is on its way out; its name is free only when it has gone.
    Leaving,
}

impl Placement {
    /// Whether an apply is needed.
    pub const fn needs_apply(&self) -> bool {
        matches!(self, Self::Missing | Self::Differs(_))
    }
}

/// What putting an object in place led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// It is there as wanted.
    There(Applied),
    /// An object of this name belongs to someone else, and was not touched.
    Taken(String),
    /// The one before it has not gone yet.
    NotYet,
}

/// What was last applied, by kind and name.
pub type AppliedChildren = BTreeMap<(Kind, String), Applied>;

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        $(
            impl From<$kind> for Child {
                fn from(object: $kind) -> Self {
                    Self::of(Kind::$kind, &object)
                }
            }
        )*

        impl Kind {
            /// The kind of this name, if children are of it.
            pub fn named(name: &str) -> Option<Self> {
                match name { $(stringify!($kind) => Some(Self::$kind),)* _ => None }
            }
        }

        impl Child {
            /// How it stands to what the caches show.
            pub fn placement(&self, caches: &Caches) -> Placement {
                match self.kind { $(Kind::$kind => self.placement_of::<$kind>(caches),)* }
            }

            async fn apply(&self, door: &Door, cluster: &Name) -> Result<Applied, CallError> {
                match self.kind { $(Kind::$kind => self.apply_as::<$kind>(door, cluster).await,)* }
            }

            async fn put_back(&self, door: &Door, cluster: &Name) -> Result<Applied, CallError> {
                match self.kind { $(Kind::$kind => self.put_back_as::<$kind>(door, cluster).await,)* }
            }

            async fn read(&self, door: &Door) -> Result<Option<ObjectMeta>, CallError> {
                match self.kind { $(Kind::$kind => read_as::<$kind>(door, &self.name).await,)* }
            }
        }
    };
}

kinds!(
    Member,
    ConfigMap,
    Service,
    PodDisruptionBudget,
    Deployment,
    DaemonSet,
    StatefulSet,
    PersistentVolumeClaim
);

impl Child {
    /// A part of an object: only what is said of it is ours.
    pub fn partly(kind: Kind, name: Name, desired: Value) -> Self {
        Self { kind, name, desired, partly: true }
    }

    fn of<K: Namespaced>(kind: Kind, object: &K) -> Self {
        let mut desired = serde_json::to_value(object).unwrap_or_default();
        desired["apiVersion"] = K::api_version(&()).into();
        desired["kind"] = K::kind(&()).into();
        Self { kind, name: Name::of(object), desired, partly: false }
    }

    /// Its kind and name.
    pub fn id(&self) -> (Kind, String) {
        (self.kind, self.name.name.clone())
    }

    /// Its kind and name in words.
    pub fn words(&self) -> String {
        format!("{:?} {}", self.kind, self.name.name)
    }

    /// Puts it in place, if anything differs. What the caches do not show may be there all the same, without our labels:
    /// that is looked for first, because an apply would adopt it.
    pub async fn put(&self, context: &Context, cluster: &Name) -> Result<Put, CallError> {
        let mut is_there = false;
        match self.placement(&context.caches) {
            Placement::Same(applied) => return Ok(Put::There(applied)),
            Placement::Taken(why) => return Ok(Put::Taken(why)),
            Placement::Leaving => return Ok(Put::NotYet),
            Placement::Differs(_) => is_there = true,
            Placement::Missing => {
                let found = self.read(&context.door).await?;
                if let Some(why) = found.and_then(|found| self.taken(&found)) {
                    return Ok(Put::Taken(why));
                }
            }
        }
        tracing::info!(%cluster, child = self.words(), "applies");
        let applied = match self.apply(&context.door, cluster).await {
            Err(CallError::Refused { .. }) if is_there && self.kind.has_merged_lists() => {
                self.put_back(&context.door, cluster).await?
            }
            other => other?,
        };
        Ok(Put::There(applied))
    }

    /// Why what was found under its name is someone else's.
    fn taken(&self, found: &ObjectMeta) -> Option<String> {
        if self.partly {
            return None;
        }
        let wanted: ObjectMeta = serde_json::from_value(self.desired["metadata"].clone()).unwrap_or_default();
        owners::taken(&wanted, found)
    }

    fn placement_of<K: Cached>(&self, caches: &Caches) -> Placement {
        let Some(live) = K::store(caches).get(&self.name) else { return Placement::Missing };
        let compare = || self.compare(live.as_ref());
        caches.memos.recall((self.kind, &self.name), live.meta(), &self.desired, compare)
    }

    fn compare<K: Cached>(&self, live: &K) -> Placement {
        if let Some(why) = self.taken(live.meta()) {
            return Placement::Taken(why);
        }
        if live.meta().deletion_timestamp.is_some() && self.kind != Kind::Member {
            return Placement::Leaving;
        }
        let found = serde_json::to_value(live).unwrap_or_default();
        match drift::differs(&self.desired, &found, FIELD_MANAGER) {
            Some(difference) => Placement::Differs(difference.to_string()),
            None => Placement::Same(applied(live.meta())),
        }
    }

    async fn apply_as<K: Cached + Namespaced>(
        &self,
        door: &Door,
        cluster: &Name,
    ) -> Result<Applied, CallError> {
        let placed = door.apply_value::<K>(cluster, &self.name, &self.desired).await?;
        Ok(applied(placed.meta()))
    }

    /// An apply cannot take out of a list what others have put in, and is refused where that and ours do not go together: two
    /// ports of one name. Then the lists are written as a whole, and applied; what is ours by the first of these writes is
    /// let go of, because no apply could take it away later.
    async fn put_back_as<K: Cached + Namespaced>(
        &self,
        door: &Door,
        cluster: &Name,
    ) -> Result<Applied, CallError> {
        tracing::info!(%cluster, child = self.words(), "puts back whole lists");
        let whole = json!({"spec": self.desired["spec"]});
        door.merge::<K>(cluster, &self.name, &whole).await?;
        let placed = door.apply_value::<K>(cluster, &self.name, &self.desired).await?;
        let metadata = placed.meta();
        let kept = metadata.managed_fields.iter().flatten().filter(|entry| !is_ours_by_update(entry));
        let kept: Vec<_> = kept.collect();
        let version = &metadata.resource_version;
        let owners = json!({"metadata": {"resourceVersion": version, "managedFields": kept}});
        match door.merge::<K>(cluster, &self.name, &owners).await {
            // Someone wrote in between: at worst a value that we no longer want would stay.
            Ok(_) | Err(CallError::Conflict { .. }) => Ok(applied(metadata)),
            Err(error) => Err(error),
        }
    }
}

/// Whether these are fields that we own otherwise than by apply.
fn is_ours_by_update(entry: &ManagedFieldsEntry) -> bool {
    entry.manager.as_deref() == Some(FIELD_MANAGER)
        && entry.operation.as_deref() == Some("Update")
        && entry.subresource.as_deref().unwrap_or_default().is_empty()
}

async fn read_as<K: Namespaced>(door: &Door, name: &Name) -> Result<Option<ObjectMeta>, CallError> {
    Ok(door.read::<K>(name).await?.map(|found| found.meta().clone()))
}

fn applied(metadata: &ObjectMeta) -> Applied {
    Applied { uid: metadata.uid.clone().unwrap_or_default(), generation: metadata.generation.unwrap_or(0) }
}
