//! The roles as YAML, each rule with its reason above it.

use muster_api::names::OPERATOR_NAMESPACE;

use super::{PERMISSIONS, Scope, users};

/// The name of the operator's account and of its roles.
const NAME: &str = "muster-operator";
/// The role beside the Role of one namespace.
const BESIDE: &str = "muster-operator-beside";
/// The namespace in the file for one of them; `muster rbac --namespace` prints it for another.
const SOME_NAMESPACE: &str = "default";

/// A file of `deploy/rbac`: its name and what it holds.
pub type Manifest = (&'static str, String);

/// All files of `deploy/rbac`.
pub fn manifests() -> Vec<Manifest> {
    vec![
        ("all-namespaces.yaml", for_all_namespaces()),
        ("one-namespace.yaml", for_namespace(SOME_NAMESPACE)),
        ("users.yaml", for_users()),
    ]
}

/// A rule of a role for people.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) verbs: &'static [&'static str],
    pub(super) only: Option<&'static str>,
    pub(super) why: &'static str,
}

/// For an operator of all namespaces, in a namespace of its own.
pub fn for_all_namespaces() -> String {
    let home = OPERATOR_NAMESPACE;
    let everywhere = [Scope::Clusters, Scope::Beside, Scope::Everywhere];
    file(
        "The operator of all namespaces. Written by `cargo xtask rbac`.",
        &[
            format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {home}\n"),
            account(home),
            role("ClusterRole", NAME, None, &everywhere),
            binding("ClusterRole", NAME, NAME, None, home),
            role("Role", NAME, Some(home), &[Scope::Lease]),
            binding("Role", NAME, NAME, Some(home), home),
        ],
    )
}

/// For an operator of this namespace, in it.
pub fn for_namespace(namespace: &str) -> String {
    let title = format!(
        "The operator of one namespace, {namespace}. For another: `muster rbac --namespace NAMESPACE`."
    );
    file(
        &title,
        &[
            account(namespace),
            role("Role", NAME, Some(namespace), &[Scope::Clusters, Scope::Lease]),
            binding("Role", NAME, NAME, Some(namespace), namespace),
            role("ClusterRole", BESIDE, None, &[Scope::Beside]),
            binding("ClusterRole", BESIDE, &format!("{BESIDE}-{namespace}"), None, namespace),
        ],
    )
}

/// For people: added to `view`, `edit` and `admin`.
pub fn for_users() -> String {
    file(
        "What Muster adds to the roles of people: they read engines, and write no status.",
        &[
            added("muster-view", &["view", "edit", "admin"], users::VIEW),
            added("muster-edit", &["edit", "admin"], users::EDIT),
        ],
    )
}

fn file(title: &str, documents: &[String]) -> String {
    format!("# {title}\n{}", documents.join("---\n"))
}

/// A role whose rules the roles of people take over.
fn added(name: &str, to: &[&str], list: &[Rule]) -> String {
    let labels = to.iter().map(|role| format!("    rbac.authorization.k8s.io/aggregate-to-{role}: \"true\""));
    let rules =
        list.iter().map(|it| rule(it.group, it.resource, it.verbs, it.only, &[it.why])).collect::<Vec<_>>();
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {name}\n  labels:\n{}\nrules:\n{}",
        labels.collect::<Vec<_>>().join("\n"),
        rules.concat()
    )
}

fn account(namespace: &str) -> String {
    format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {NAME}\n  namespace: {namespace}\n")
}

fn role(kind: &str, name: &str, namespace: Option<&str>, scopes: &[Scope]) -> String {
    let rules = PERMISSIONS.iter().filter(|one| scopes.contains(&one.scope)).map(|one| {
        let besides: Vec<String> = one.besides.iter().map(|(verb, why)| format!("{verb}: {why}")).collect();
        let reasons: Vec<&str> = [one.why].into_iter().chain(besides.iter().map(String::as_str)).collect();
        rule(one.group, one.resource, &one.all_verbs(), one.only, &reasons)
    });
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{}rules:\n{}",
        namespaced(namespace),
        rules.collect::<Vec<_>>().concat()
    )
}

fn rule(group: &str, resource: &str, verbs: &[&str], only: Option<&str>, reasons: &[&str]) -> String {
    let reasons: Vec<String> =
        reasons.iter().filter(|reason| !reason.is_empty()).map(|reason| format!("# {reason}\n")).collect();
    let group = if group.is_empty() { "\"\"" } else { group };
    let only = only.map(|name| format!("  resourceNames: [{name}]\n")).unwrap_or_default();
    format!(
        "{}- apiGroups: [{group}]\n  resources: [{resource}]\n{only}  verbs: [{}]\n",
        reasons.concat(),
        verbs.join(", ")
    )
}

fn binding(kind: &str, role: &str, name: &str, namespace: Option<&str>, account_in: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}Binding\nmetadata:\n  name: {name}\n{}\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {kind}\n  name: {role}\n\
         subjects:\n- kind: ServiceAccount\n  name: {NAME}\n  namespace: {account_in}\n",
        namespaced(namespace)
    )
}

fn namespaced(namespace: Option<&str>) -> String {
    namespace.map(|namespace| format!("  namespace: {namespace}\n")).unwrap_or_default()
}
