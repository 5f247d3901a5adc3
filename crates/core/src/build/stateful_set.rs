//! The workload of a member: a StatefulSet of one Pod, a function of the Member's spec and of the configuration it names.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy};
use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec, TopologySpreadConstraint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use muster_api::Member;
use muster_api::member::Workload;
use muster_api::names::{ANNOTATION_SECRETS_HASH, MAIN_CONTAINER};

use super::config::MemberConfig;
use super::container::some;
use super::pod::Secrets;
use super::storage::Volumes;
use super::{BuildError, affinity, main_container, names, owners, pod};

/// The label of a node's own name: two members on one node go down together.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Whether a member's Pod is to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// One Pod.
    Running,
    /// None: the cluster is parked, or the member has left.
    Parked,
}

/// The StatefulSet of a Member.
///
/// Its Pod changes only when the manager deletes it (`OnDelete`). Pods are managed in parallel: there is one, and a sick
/// one must not keep the set from being scaled to nothing.
pub fn of_member(
    member: &Member,
    config: &MemberConfig,
    presence: Presence,
) -> Result<StatefulSet, BuildError> {
    let name = names::of_member(member);
    if member.spec.external.is_some() {
        return Err(BuildError::External(name.to_owned()));
    }
    let workload = member.spec.workload.as_ref().ok_or_else(|| BuildError::NoWorkload(name.to_owned()))?;
    config.check(member, workload)?;
    let labels = names::member_labels(member);
    let metadata = names::metadata(name.to_owned(), member.metadata.namespace.as_ref(), labels);
    Ok(StatefulSet {
        metadata: owners::owned(metadata, owners::by_member(member)),
        spec: Some(StatefulSetSpec {
            replicas: Some(i32::from(presence == Presence::Running)),
            service_name: Some(names::members_service(&member.spec.cluster_name)),
            pod_management_policy: Some("Parallel".to_owned()),
            update_strategy: Some(StatefulSetUpdateStrategy {
                type_: Some("OnDelete".to_owned()),
                rolling_update: None,
            }),
            selector: LabelSelector {
                match_labels: Some(names::member_selector(member)),
                match_expressions: None,
            },
            template: template(member, workload, config)?,
            ..StatefulSetSpec::default()
        }),
        status: None,
    })
}

fn template(
    member: &Member,
    workload: &Workload,
    config: &MemberConfig,
) -> Result<PodTemplateSpec, BuildError> {
    let secrets = Secrets { cluster: &member.spec.cluster_name, names: &config.secrets };
    let mut spec = pod::spec(&config.template, secrets);
    let volumes = Volumes::of(member, &workload.config, config)?;
    spec.volumes.get_or_insert_default().extend(volumes.list.iter().cloned());
    spec.containers.iter_mut().for_each(main_container::hide_agent_state);
    let main = spec.containers.iter_mut().find(|container| container.name == MAIN_CONTAINER);
    let main = main.ok_or(BuildError::NoMain)?;
    spec.init_containers = Some(vec![main_container::init(config, main)]);
    main_container::under_agent(main, member, config, volumes);
    placed(&mut spec, member, workload);
    let hash = workload.secrets_hash.clone();
    let annotations = hash.map(|hash| BTreeMap::from([(ANNOTATION_SECRETS_HASH.to_owned(), hash)]));
    let metadata =
        ObjectMeta { labels: Some(names::member_pod_labels(member)), annotations, ..ObjectMeta::default() };
    Ok(PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) })
}

/// Where it runs: as zone, affinity and tolerations say; and apart from the other members where that can be had.
fn placed(spec: &mut PodSpec, member: &Member, workload: &Workload) {
    spec.affinity = affinity::affinity(member.spec.zone.as_deref(), member.spec.node_affinity.as_ref());
    spec.tolerations = some(workload.tolerations.clone());
    spec.topology_spread_constraints = Some(vec![TopologySpreadConstraint {
        max_skew: 1,
        topology_key: HOSTNAME.to_owned(),
        when_unsatisfiable: "ScheduleAnyway".to_owned(),
        label_selector: Some(LabelSelector {
            match_labels: Some(names::members_selector(&member.spec.cluster_name)),
            match_expressions: None,
        }),
        ..TopologySpreadConstraint::default()
    }]);
}
