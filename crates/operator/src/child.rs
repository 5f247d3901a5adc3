//! An object that a controller wants to be there: how it stands to what is there, and how it is put in place.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::Member;
use muster_api::names::FIELD_MANAGER;
use muster_core::build::owners;
use muster_core::drift;
use muster_core::generation::Applied;
use serde_json::Value;

use crate::cache::{Cached, Caches};
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

/// An object that is to be there.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Name,
    /// What we say of it.
    pub desired: Value,
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

        impl Child {
            /// How it stands to what the caches show.
            pub fn placement(&self, caches: &Caches) -> Placement {
                match self.kind { $(Kind::$kind => self.placement_of::<$kind>(caches),)* }
            }

            /// Puts it in place.
            pub async fn apply(&self, door: &Door, cluster: &Name) -> Result<Applied, CallError> {
                match self.kind { $(Kind::$kind => self.apply_as::<$kind>(door, cluster).await,)* }
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
        Self { kind, name, desired }
    }

    fn of<K: Namespaced>(kind: Kind, object: &K) -> Self {
        let mut desired = serde_json::to_value(object).unwrap_or_default();
        desired["apiVersion"] = K::api_version(&()).into();
        desired["kind"] = K::kind(&()).into();
        Self { kind, name: Name::of(object), desired }
    }

    /// Its kind and name.
    pub fn id(&self) -> (Kind, String) {
        (self.kind, self.name.name.clone())
    }

    /// Its kind and name in words.
    pub fn words(&self) -> String {
        format!("{:?} {}", self.kind, self.name.name)
    }

    fn placement_of<K: Cached>(&self, caches: &Caches) -> Placement {
        let Some(live) = K::store(caches).get(&self.name) else { return Placement::Missing };
        let wanted: ObjectMeta = serde_json::from_value(self.desired["metadata"].clone()).unwrap_or_default();
        if let Some(why) = owners::taken(&wanted, live.meta()) {
            return Placement::Taken(why);
        }
        if live.meta().deletion_timestamp.is_some() && self.kind != Kind::Member {
            return Placement::Leaving;
        }
        let found = serde_json::to_value(live.as_ref()).unwrap_or_default();
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
}

fn applied(metadata: &ObjectMeta) -> Applied {
    Applied { uid: metadata.uid.clone().unwrap_or_default(), generation: metadata.generation.unwrap_or(0) }
}
