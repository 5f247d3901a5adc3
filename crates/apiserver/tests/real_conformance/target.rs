//! Short names for paths: `widgets/a/status?x=y` is in the namespace of the case.

/// Group and version of the kinds that are made up for the suite.
const OWN: &str = "apis/conformance.example.com/v1";

/// Resources by their short name: name, group and version, whether they are in namespaces.
const RESOURCES: &[(&str, &str, bool)] = &[
    ("widgets", OWN, true),
    ("gadgets", OWN, true),
    ("plans", OWN, true),
    ("lists", OWN, true),
    ("stars", OWN, false),
    ("tools", OWN, true),
    ("crds", "apis/apiextensions.k8s.io/v1", false),
    ("namespaces", "api/v1", false),
    ("configmaps", "api/v1", true),
    ("secrets", "api/v1", true),
    ("events", "api/v1", true),
    ("newevents", "apis/events.k8s.io/v1", true),
    ("serviceaccounts", "api/v1", true),
    ("endpoints", "api/v1", true),
    ("pods", "api/v1", true),
    ("services", "api/v1", true),
    ("persistentvolumeclaims", "api/v1", true),
    ("persistentvolumes", "api/v1", false),
    ("nodes", "api/v1", false),
    ("leases", "apis/coordination.k8s.io/v1", true),
    ("poddisruptionbudgets", "apis/policy/v1", true),
    ("endpointslices", "apis/discovery.k8s.io/v1", true),
    ("storageclasses", "apis/storage.k8s.io/v1", false),
    ("roles", "apis/rbac.authorization.k8s.io/v1", true),
    ("rolebindings", "apis/rbac.authorization.k8s.io/v1", true),
    ("clusterroles", "apis/rbac.authorization.k8s.io/v1", false),
    ("clusterrolebindings", "apis/rbac.authorization.k8s.io/v1", false),
    ("statefulsets", "apis/apps/v1", true),
    ("deployments", "apis/apps/v1", true),
    ("replicasets", "apis/apps/v1", true),
    ("daemonsets", "apis/apps/v1", true),
    ("controllerrevisions", "apis/apps/v1", true),
    ("jobs", "apis/batch/v1", true),
    ("cronjobs", "apis/batch/v1", true),
];

/// The path of a target: `/as/it/is`, `widgets/...` in the namespace, or `*widgets` in all of them.
pub(crate) fn path(target: &str, namespace: &str) -> String {
    if target.starts_with('/') {
        return escape(target);
    }
    let (everywhere, target) = match target.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, target),
    };
    let end = target.find(['/', '?']).unwrap_or(target.len());
    let (short, rest) = target.split_at(end);
    let known = RESOURCES.iter().find(|(name, ..)| *name == short);
    let (_, version, namespaced) = known.unwrap_or_else(|| panic!("no resource is called {short}"));
    let plural = match short {
        "crds" => "customresourcedefinitions",
        "newevents" => "events",
        other => other,
    };
    let within = if *namespaced && !everywhere { format!("/namespaces/{namespace}") } else { String::new() };
    escape(&format!("/{version}{within}/{plural}{rest}"))
}

/// What no URI may hold is escaped; `%` is not, so that cases can escape as they like.
fn escape(path: &str) -> String {
    let plain =
        |byte: u8| matches!(byte, b'!' | b'#'..=b';' | b'=' | b'?'..=b'Z' | b'_' | b'a'..=b'z' | b'~' | b'|');
    let escape = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_become_paths() {
        assert_eq!(path("configmaps/a", "n"), "/api/v1/namespaces/n/configmaps/a");
        assert_eq!(path("*configmaps?limit=1", "n"), "/api/v1/configmaps?limit=1");
        assert_eq!(path("crds", "n"), "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
        assert_eq!(path("/version?a=b c", "n"), "/version?a=b%20c");
    }
}
