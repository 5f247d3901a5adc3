//! Roles and their bindings, which are kept as data.

use serde_json::Value;

use super::fields::{check_choice, check_form, check_selector, fill_text, list, text};
use crate::kind::Particular;
use crate::kind::metadata::{path_segment, subdomain};
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path, go_json};

const GROUP: &str = "rbac.authorization.k8s.io";

/// What is particular to `Role` and `ClusterRole`.
#[derive(Debug)]
pub(super) struct Role {
    pub(super) namespaced: bool,
}

impl Particular for Role {
    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, rule) in list(object, "/rules").iter().enumerate() {
            check_rule(&Path::new("rules").index(index), rule, self.namespaced, &mut errors);
        }
        if self.namespaced {
            return errors;
        }
        let Some(aggregation) = object.get("aggregationRule").filter(|rule| !rule.is_null()) else {
            return errors;
        };
        let path = Path::new("aggregationRule.clusterRoleSelectors");
        let selectors = list(aggregation, "/clusterRoleSelectors");
        if selectors.is_empty() {
            let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            errors.push(FieldError::required(&path, detail));
        }
        let known = old.map_or(&[][..], |old| list(old, "/aggregationRule/clusterRoleSelectors"));
        let were_wrong = known.iter().any(has_wrong_values);
        for (index, selector) in selectors.iter().enumerate() {
            let (path, before) = (path.index(index), errors.len());
            check_selector(&path, selector, !were_wrong, &mut errors);
            if errors.len() > before {
                errors.push(FieldError::invalid(&path, Value::Null, "invalid label selector."));
            }
        }
        errors
    }
}

fn has_wrong_values(selector: &Value) -> bool {
    let mut found = Vec::new();
    check_selector(&Path::root(), selector, true, &mut found);
    !found.is_empty()
}

fn check_rule(path: &Path, rule: &Value, namespaced: bool, errors: &mut Vec<FieldError>) {
    let has = |field: &str| !list(rule, &format!("/{field}")).is_empty();
    if !has("verbs") {
        errors.push(FieldError::required(&path.child("verbs"), "verbs must contain at least one value"));
    }
    if has("nonResourceURLs") {
        let urls = rule.get("nonResourceURLs").cloned().unwrap_or_default();
        let mut say = |detail: &str| {
            errors.push(FieldError::invalid(&path.child("nonResourceURLs"), urls.clone(), detail));
        };
        if namespaced {
            say("namespaced rules cannot apply to non-resource URLs");
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            say("rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if !has("apiGroups") {
        let detail = "resource rules must supply at least one api group";
        errors.push(FieldError::required(&path.child("apiGroups"), detail));
    }
    if !has("resources") {
        let detail = "resource rules must supply at least one resource";
        errors.push(FieldError::required(&path.child("resources"), detail));
    }
}

/// What is particular to `RoleBinding` and `ClusterRoleBinding`.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) namespaced: bool,
}

impl Particular for Binding {
    fn default(&self, object: &mut Value) {
        if let Some(role) = super::fields::object_at(object, "roleRef") {
            fill_text(role, "apiGroup", GROUP);
        }
        let subjects = object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten();
        for subject in subjects.filter(|subject| matches!(text(subject, "/kind"), "User" | "Group")) {
            if let Some(subject) = subject.as_object_mut() {
                fill_text(subject, "apiGroup", GROUP);
            }
        }
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let (role, path) = (object.get("roleRef").unwrap_or(&Value::Null), Path::new("roleRef"));
        check_choice(&path.child("apiGroup"), text(role, "/apiGroup"), &[GROUP], &mut errors);
        let kinds: &[&str] = if self.namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
        check_choice(&path.child("kind"), text(role, "/kind"), kinds, &mut errors);
        match text(role, "/name") {
            "" => errors.push(FieldError::required(&path.child("name"), "")),
            name => check_form(&path.child("name"), name, path_segment(name, false), &mut errors),
        }
        for (index, subject) in list(object, "/subjects").iter().enumerate() {
            check_subject(&Path::new("subjects").index(index), subject, self.namespaced, &mut errors);
        }
        let parts = |role: &Value| ["/apiGroup", "/kind", "/name"].map(|part| text(role, part).to_owned());
        if old.is_some_and(|old| parts(&old["roleRef"]) != parts(role)) {
            let [group, kind, name] = parts(role).map(|part| go_json(&part.into()));
            let shown = format!(r#"{{"APIGroup":{group},"Kind":{kind},"Name":{name}}}"#);
            errors.push(FieldError::invalid_shown(&path, role.clone(), shown, "cannot change roleRef"));
        }
        errors
    }
}

fn check_subject(path: &Path, subject: &Value, namespaced: bool, errors: &mut Vec<FieldError>) {
    let (name, group) = (text(subject, "/name"), text(subject, "/apiGroup"));
    if name.is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    }
    match text(subject, "/kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                check_form(&path.child("name"), name, subdomain(name), errors);
            }
            if !group.is_empty() {
                check_choice(&path.child("apiGroup"), group, &[""], errors);
            }
            if !namespaced && text(subject, "/namespace").is_empty() {
                errors.push(FieldError::required(&path.child("namespace"), ""));
            }
        }
        "User" | "Group" => check_choice(&path.child("apiGroup"), group, &[GROUP], errors),
        kind => check_choice(&path.child("kind"), kind, &["ServiceAccount", "User", "Group"], errors),
    }
}
