//! Which objects would be created, changed or deleted: what the operator builds, held against what is there.

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use muster_api::engine::ReplicationEngineSpec;
use muster_api::names::{FIELD_MANAGER, LABEL_DRIVER};
use muster_core::build::drivers::DriverWorkload;
use muster_core::build::member::Target;
use muster_core::build::stateful_set::{self, Presence};
use muster_core::build::{self, ClusterChildren, claim, names, owners};
use muster_core::drift;
use muster_core::scaling::Threshold;
use serde::Serialize;
use serde_json::Value;

use super::live::Live;
use super::members;
use super::outline::{ObjectStep, Outline, Verb};
use super::subject::Subject;
use crate::access::Access;
use crate::error::Failure;

/// Stands for the agent's image where no member tells it.
const UNKNOWN_IMAGE: &str = "the-operators-own";

/// Adds the members that are rolled, and the objects.
pub(super) async fn plan(
    access: &Access,
    subject: &Subject,
    engine: &ReplicationEngineSpec,
    live: &Live,
    outline: &mut Outline,
) -> Result<(), Failure> {
    let image = live.agent_image();
    if image.is_none() {
        outline.notes.push(
            "the agent's image is the operator's to say: the name of the ConfigMap will differ".to_owned(),
        );
    }
    let image = image.as_deref().unwrap_or(UNKNOWN_IMAGE);
    let children = match build::cluster(&subject.wanted, engine, image) {
        Ok(children) => children,
        Err(error) => {
            outline.violations.push(error.to_string());
            return Ok(());
        }
    };
    let target = target(&children, live, outline);
    let parked = subject.wanted.spec.pools.iter().all(|pool| Threshold::from(&pool.threshold).is_zero());
    outline.members = members::plan(&subject.wanted, &live.members, &target, parked);
    for (kind, metadata, wanted) in built(&children) {
        let found = live.find(access, kind, &name(&metadata)).await?;
        outline.objects.extend(step(kind, &metadata, &wanted, found.as_ref()));
    }
    of_members(&children, live, parked, outline);
    secrets(access, subject, &children, outline).await?;
    unwanted(&children, live, outline);
    Ok(())
}

/// What every member is to run. Contents of Secrets are taken as they were when members were last rolled.
fn target(children: &ClusterChildren, live: &Live, outline: &mut Outline) -> Target {
    let hash = live.members.iter().find_map(|member| member.spec.workload.as_ref()?.secrets_hash.clone());
    if hash.is_some() {
        outline
            .notes
            .push("the contents of Secrets are taken to be those that the members run with".to_owned());
    }
    Target {
        version: children.config.version.clone(),
        config: name(&children.config_map.metadata),
        secrets_hash: hash,
    }
}

fn name(metadata: &ObjectMeta) -> String {
    metadata.name.clone().unwrap_or_default()
}

fn value(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

/// What the cluster itself owns, with kind and metadata.
fn built(children: &ClusterChildren) -> Vec<(&'static str, ObjectMeta, Value)> {
    let mut all = vec![("ConfigMap", children.config_map.metadata.clone(), value(&children.config_map))];
    for service in &children.services {
        all.push(("Service", service.metadata.clone(), value(service)));
    }
    let budget = &children.disruption_budget;
    all.push(("PodDisruptionBudget", budget.metadata.clone(), value(budget)));
    for driver in &children.drivers {
        all.push(match driver {
            DriverWorkload::Deployment(one) => ("Deployment", one.metadata.clone(), value(one)),
            DriverWorkload::DaemonSet(one) => ("DaemonSet", one.metadata.clone(), value(one)),
        });
    }
    all
}

fn step(kind: &str, metadata: &ObjectMeta, wanted: &Value, found: Option<&Value>) -> Option<ObjectStep> {
    let object = format!("{kind}/{}", name(metadata));
    let Some(found) = found else {
        return Some(ObjectStep { verb: Verb::Create, object, why: String::new() });
    };
    let theirs: ObjectMeta =
        serde_json::from_value(found.get("metadata").cloned().unwrap_or_default()).unwrap_or_default();
    if let Some(why) = owners::taken(metadata, &theirs) {
        let why = format!("the name is taken: {why}");
        return Some(ObjectStep { verb: Verb::Blocked, object, why });
    }
    let difference = drift::differs(wanted, found, FIELD_MANAGER)?;
    Some(ObjectStep { verb: Verb::Change, object, why: difference.to_string() })
}

/// The workloads and claims of members that are there and are not to be rolled: those that are, change with that.
fn of_members(children: &ClusterChildren, live: &Live, parked: bool, outline: &mut Outline) {
    let presence = if parked { Presence::Parked } else { Presence::Running };
    for member in live.members.iter().filter(|member| member.metadata.deletion_timestamp.is_none()) {
        let found = |kind: &str, name: &str| live.objects.get(&(kind.to_owned(), name.to_owned()));
        if let Ok(set) = stateful_set::of_member(member, &children.config, presence) {
            let there = found("StatefulSet", &name(&set.metadata));
            outline.objects.extend(step("StatefulSet", &set.metadata, &value(&set), there));
        }
        if names::ordinal(member).is_some()
            && let Some(claim) = claim::of_member(member, None)
            && found("PersistentVolumeClaim", &name(&claim.metadata)).is_none()
        {
            let object = format!("PersistentVolumeClaim/{}", name(&claim.metadata));
            outline.objects.push(ObjectStep { verb: Verb::Create, object, why: String::new() });
        }
    }
}

/// Secrets that are generated once; only their names are asked for.
async fn secrets(
    access: &Access,
    subject: &Subject,
    children: &ClusterChildren,
    outline: &mut Outline,
) -> Result<(), Failure> {
    let cluster = subject.wanted.name_any();
    let accounts = children.accounts.iter().map(|secret| names::account_secret(&cluster, &secret.name));
    let wanted: Vec<String> = std::iter::once(names::agent_ca(&cluster)).chain(accounts).collect();
    for name in wanted {
        let doing = format!("look for Secret {name:?} in namespace {:?}", access.namespace);
        match access.call_opt(&doing, access.api::<Secret>().get_metadata(&name)).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                let why = "generated once, then kept".to_owned();
                outline.objects.push(ObjectStep {
                    verb: Verb::Create,
                    object: format!("Secret/{name}"),
                    why,
                });
            }
            Err(Failure::Forbidden { .. }) => outline.notes.push(format!("not checked: you may not {doing}")),
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Workloads of drivers that the spec does not ask for any more.
fn unwanted(children: &ClusterChildren, live: &Live, outline: &mut Outline) {
    let wanted: Vec<String> = children.drivers.iter().map(|driver| name(driver.metadata())).collect();
    for ((kind, name), object) in &live.objects {
        let driver = object.pointer("/metadata/labels").and_then(|labels| labels.get(LABEL_DRIVER)).is_some();
        if driver && matches!(kind.as_str(), "Deployment" | "DaemonSet") && !wanted.contains(name) {
            let why = "the spec asks for no such driver".to_owned();
            outline.objects.push(ObjectStep { verb: Verb::Delete, object: format!("{kind}/{name}"), why });
        }
    }
}
