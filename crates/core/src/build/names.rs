//! What every object is called, and the labels it carries.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_api::names::{
    CLAIM_PREFIX, COMPONENT_DRIVER, COMPONENT_MEMBER, LABEL_CLUSTER, LABEL_COMPONENT, LABEL_DRIVER,
    LABEL_MEMBER, LABEL_POOL,
};
use muster_api::{Member, ReplicatedCluster};

/// The name of an engine's secret that would be that of the agents' CA.
pub const AGENT_CA: &str = "agent-ca";
/// The highest ordinal that a name can carry (`limits::ORDINAL_PATTERN`).
const ORDINAL_DIGITS: usize = 4;

/// Labels, by key.
pub type Labels = BTreeMap<String, String>;

/// The Service that clients use, and the disruption budget.
pub fn client_service(cluster: &str) -> String {
    cluster.to_owned()
}

/// The Service of the secondaries.
pub fn replicas_service(cluster: &str) -> String {
    format!("{cluster}-replicas")
}

/// The headless Service of all members.
pub fn members_service(cluster: &str) -> String {
    format!("{cluster}-members")
}

/// The ConfigMap with this hash.
pub fn config_map(cluster: &str, hash: &str) -> String {
    format!("{cluster}-{hash}")
}

/// The Secret with the agents' CA.
pub fn agent_ca(cluster: &str) -> String {
    format!("{cluster}-{AGENT_CA}")
}

/// The Secret with a Member's certificate.
pub fn agent_secret(member: &str) -> String {
    format!("{member}-agent")
}

/// The claim of a pool's Member.
pub fn claim(member: &str) -> String {
    format!("{CLAIM_PREFIX}{member}")
}

/// The workload of a driver.
pub fn driver(cluster: &str, driver: &str) -> String {
    format!("{cluster}-{driver}")
}

/// The Secret of an engine's accounts.
pub fn account_secret(cluster: &str, secret: &str) -> String {
    format!("{cluster}-{secret}")
}

/// The Member of a pool.
pub fn member(cluster: &str, pool: &str, ordinal: u32) -> String {
    format!("{cluster}-{pool}-{ordinal}")
}

/// The Pod of a Member: the first of its StatefulSet.
pub fn pod(member: &str) -> String {
    format!("{member}-0")
}

/// The cluster, pool and ordinal in the name of a pool's Member. Only the last two dashes part them, because neither a
/// pool nor an ordinal has one.
pub fn parse_member(name: &str) -> Option<(&str, &str, u32)> {
    let (rest, ordinal) = name.rsplit_once('-')?;
    let (cluster, pool) = rest.rsplit_once('-')?;
    let canonical = ordinal.len() <= ORDINAL_DIGITS
        && !ordinal.is_empty()
        && ordinal.bytes().all(|byte| byte.is_ascii_digit())
        && (ordinal == "0" || !ordinal.starts_with('0'));
    (canonical && !cluster.is_empty() && !pool.is_empty())
        .then(|| ordinal.parse().ok().map(|ordinal| (cluster, pool, ordinal)))?
}

/// The ordinal of a Member that was made from a pool: it carries the pool's label and the name that follows from it.
/// `None` for one made by hand.
pub fn ordinal(member: &Member) -> Option<u32> {
    let labels = member.metadata.labels.as_ref()?;
    let (cluster, pool, ordinal) = parse_member(member.metadata.name.as_deref()?)?;
    let of_pool = labels.get(LABEL_POOL).is_some_and(|label| *label == member.spec.pool);
    (of_pool && cluster == member.spec.cluster_name && pool == member.spec.pool).then_some(ordinal)
}

/// The name of a cluster.
pub fn of_cluster(cluster: &ReplicatedCluster) -> &str {
    cluster.metadata.name.as_deref().unwrap_or_default()
}

/// The name of a Member.
pub fn of_member(member: &Member) -> &str {
    member.metadata.name.as_deref().unwrap_or_default()
}

fn labels<const N: usize>(pairs: [(&str, &str); N]) -> Labels {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// On what belongs to a cluster as a whole.
pub fn cluster_labels(cluster: &str) -> Labels {
    labels([(LABEL_CLUSTER, cluster)])
}

/// On what belongs to a Member.
pub fn member_labels(member: &Member) -> Labels {
    labels([
        (LABEL_CLUSTER, &member.spec.cluster_name),
        (LABEL_POOL, &member.spec.pool),
        (LABEL_MEMBER, of_member(member)),
    ])
}

/// On the Pod of a Member. Its role is the manager's to add.
pub fn member_pod_labels(member: &Member) -> Labels {
    let mut all = member_labels(member);
    all.insert(LABEL_COMPONENT.to_owned(), COMPONENT_MEMBER.to_owned());
    all
}

/// What the StatefulSet of a Member selects its Pod by.
pub fn member_selector(member: &Member) -> Labels {
    labels([(LABEL_CLUSTER, &member.spec.cluster_name), (LABEL_MEMBER, of_member(member))])
}

/// What all Pods of members are selected by.
pub fn members_selector(cluster: &str) -> Labels {
    labels([(LABEL_CLUSTER, cluster), (LABEL_COMPONENT, COMPONENT_MEMBER)])
}

/// On the workload of a driver.
pub fn driver_labels(cluster: &str, driver: &str) -> Labels {
    labels([(LABEL_CLUSTER, cluster), (LABEL_DRIVER, driver)])
}

/// On the Pods of a driver.
pub fn driver_pod_labels(cluster: &str, driver: &str) -> Labels {
    labels([(LABEL_CLUSTER, cluster), (LABEL_DRIVER, driver), (LABEL_COMPONENT, COMPONENT_DRIVER)])
}

/// The metadata of an object of ours.
pub(super) fn metadata(name: String, namespace: Option<&String>, labels: Labels) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: namespace.cloned(),
        labels: Some(labels),
        ..ObjectMeta::default()
    }
}
