//! Validation: every violation of a spec, each with the path of its field (R2.4, R2.8).
//!
//! Three parts, because they need different things:
//!
//! * [`schema`] is what the CRDs refuse by themselves: bounds, patterns and rules, on the manifest as it was written,
//!   and on a change of it;
//! * the semantic part ([`check_cluster`]) is what Kubernetes would refuse later, when a Pod is made of it: affinity,
//!   tolerations, resources;
//! * [`references`] is what needs other objects: the engine, storage classes, Secrets, the cluster of a Member.
//!
//! The controller and `kubectl muster validate` call the same functions. A reference that could not be read
//! is not a violation: then it is not known whether the spec is valid.

use muster_api::names::Reason;
use muster_api::{Member, ReplicatedCluster, ReplicationEngine};

use crate::conditions::{Finding, MESSAGE_LIMIT};

pub mod certificate;
mod engine;
mod labels;
mod node_affinity;
mod path;
mod pod;
pub mod references;
pub mod schema;
mod storage;
mod template;

pub use node_affinity::{node_affinity, unschedulable};
pub use path::Path;
pub use pod::tolerations;
use references::{ClusterReferences, MemberReferences};

/// Something in a spec that is not right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Where: `spec.pools[2].threshold.minNodes`.
    pub path: String,
    /// What, for the person who wrote it.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// All that is wrong with a spec, and what could not be found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order of the fields.
    pub violations: Vec<Violation>,
    /// References that could not be read, in words.
    pub unreadable: Vec<String>,
}

impl Report {
    /// Adds a violation.
    pub(crate) fn refuse(&mut self, path: &Path, message: impl Into<String>) {
        self.violations.push(Violation { path: path.to_string(), message: message.into() });
    }

    /// Whether nothing is wrong and everything was found out.
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty() && self.unreadable.is_empty()
    }

    /// The condition `SpecValid`. A violation is certain, whatever else could not be read.
    pub fn finding(&self) -> Finding {
        if !self.violations.is_empty() {
            let lines: Vec<String> = self.violations.iter().map(ToString::to_string).collect();
            return Finding::is_false(Reason::Invalid, fitting(&lines));
        }
        if !self.unreadable.is_empty() {
            return Finding::unknown(Reason::ReferenceUnreadable, fitting(&self.unreadable));
        }
        Finding::is_true(Reason::Valid, "every check passed")
    }
}

/// Everything wrong with a cluster that the API server accepted.
pub fn check_cluster(cluster: &ReplicatedCluster, references: &ClusterReferences) -> Report {
    let mut report = Report::default();
    let pools = Path::root("spec").field("pools");
    for (index, pool) in cluster.spec.pools.iter().enumerate() {
        let path = pools.index(index);
        if let Some(affinity) = &pool.node_affinity {
            let path = path.field("nodeAffinity");
            report.violations.extend(node_affinity(affinity, &path));
            report.violations.extend(unschedulable(affinity, &path));
        }
        report.violations.extend(tolerations(&pool.tolerations, &path.field("tolerations")));
        if let Some(resources) = &pool.resources {
            report.violations.extend(pod::resources(resources, &path.field("resources")));
        }
    }
    for (index, driver) in cluster.spec.drivers.iter().enumerate() {
        if let Some(resources) = &driver.resources {
            let path = Path::root("spec").field("drivers").index(index).field("resources");
            report.violations.extend(pod::resources(resources, &path));
        }
    }
    let annotations = Path::root("spec").field("service").field("annotations");
    report.violations.extend(pod::annotations(&cluster.spec.service.annotations, &annotations));
    references::cluster(cluster, references, &mut report);
    report
}

/// Everything wrong with a Member that the API server accepted.
pub fn check_member(member: &Member, references: &MemberReferences) -> Report {
    let mut report = Report::default();
    let spec = Path::root("spec");
    if let Some(affinity) = &member.spec.node_affinity {
        let path = spec.field("nodeAffinity");
        report.violations.extend(node_affinity(affinity, &path));
        report.violations.extend(unschedulable(affinity, &path));
    }
    if let Some(workload) = &member.spec.workload {
        let path = spec.field("workload");
        report.violations.extend(tolerations(&workload.tolerations, &path.field("tolerations")));
        if let Some(resources) = &workload.resources {
            report.violations.extend(pod::resources(resources, &path.field("resources")));
        }
    }
    report.violations.extend(storage::violations(&member.spec.storage, &spec.field("storage")));
    references::member(member, references, &mut report);
    report
}

/// Everything wrong with an engine that the API server accepted; it refers to nothing outside itself.
pub fn check_engine(engine: &ReplicationEngine) -> Report {
    Report { violations: engine::violations(&engine.spec), unreadable: Vec::new() }
}

/// As many lines as a message holds, then how many more there are.
fn fitting(lines: &[String]) -> String {
    const MORE: usize = " and 99999 more".len();
    let mut text = String::new();
    for (told, line) in lines.iter().enumerate() {
        let separator = if told == 0 { "" } else { "; " };
        let last = told + 1 == lines.len();
        let length = text.chars().count() + separator.len() + line.chars().count();
        if length + if last { 0 } else { MORE } > MESSAGE_LIMIT && told > 0 {
            return format!("{text} and {} more", lines.len() - told);
        }
        text.push_str(separator);
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests;
