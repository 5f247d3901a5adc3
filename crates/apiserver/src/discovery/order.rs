//! The order in which groups and versions are told: clients prefer what comes first.

use std::cmp::{Ordering, Reverse};

/// The built-in groups in the order of the real server; what is not here comes after them, by name.
const GROUPS: &[&str] = &[
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// Which of two groups comes first.
pub(super) fn by_group(one: &str, other: &str) -> Ordering {
    let place = |group: &str| GROUPS.iter().position(|known| *known == group).unwrap_or(GROUPS.len());
    place(one).cmp(&place(other)).then_with(|| one.cmp(other))
}

/// Which of two versions comes first: stable before beta before alpha, the newer before the older; what is not written
/// as Kubernetes writes versions comes last, by name.
pub(crate) fn by_version(one: &str, other: &str) -> Ordering {
    match (Parsed::of(one), Parsed::of(other)) {
        (Some(one), Some(other)) => Reverse(one).cmp(&Reverse(other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

/// `v1beta2` and the like, in the order of what is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Parsed {
    stability: Stability,
    major: u64,
    minor: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl Parsed {
    fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('v')?;
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (major, rest) = rest.split_at(end);
        let major = number(major)?;
        if rest.is_empty() {
            return Some(Self { stability: Stability::Stable, major, minor: 0 });
        }
        let (stability, minor) = match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
            (Some(minor), _) => (Stability::Beta, minor),
            (_, Some(minor)) => (Stability::Alpha, minor),
            _ => return None,
        };
        Some(Self { stability, major, minor: number(minor)? })
    }
}

/// A number from 1 on, without leading zeros.
fn number(text: &str) -> Option<u64> {
    let starts_well = text.starts_with(|letter: char| ('1'..='9').contains(&letter));
    starts_well.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first_and_strange_ones_last() {
        let wanted =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        let mut versions = wanted;
        versions.reverse();
        versions.sort_by(|one, other| by_version(one, other));
        assert_eq!(versions, wanted);
        assert!(
            Parsed::of("v0").is_none() && Parsed::of("v1beta").is_none() && Parsed::of("v1rc1").is_none()
        );
    }

    #[test]
    fn groups_that_are_not_built_in_come_last_by_name() {
        let mut groups = ["zoo.example.org", "apps", "example.org", "policy", ""];
        groups.sort_by(|one, other| by_group(one, other));
        assert_eq!(groups, ["", "apps", "policy", "example.org", "zoo.example.org"]);
    }
}
