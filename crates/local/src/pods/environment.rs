//! The environment of a container, as a kubelet makes it: sources first, then variables in order, which may use those before them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVarSource, Pod};
use kube::ResourceExt as _;

use super::sources::{Contents, Sources};

/// Why a container has no environment yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EnvironmentError {
    /// What it refers to is not there.
    #[error("{kind} {name:?} not found")]
    NotFound {
        /// Of which kind.
        kind: &'static str,
        /// Which one.
        name: String,
    },
    /// It has no such key.
    #[error("{kind} {name:?} has no key {key:?}")]
    NoKey {
        /// Of which kind.
        kind: &'static str,
        /// Which one.
        name: String,
        /// Which key.
        key: String,
    },
    /// What is there is no text.
    #[error("{0} is not valid UTF-8")]
    NoText(String),
    /// A field that is not known here.
    #[error("the field {0:?} is not supported in the environment")]
    Field(String),
}

/// A container's variables.
pub(super) type Variables = BTreeMap<String, String>;

/// The variables that a container's spec says.
pub(super) fn variables(
    pod: &Pod,
    container: &Container,
    address: &str,
    sources: &Sources,
) -> Result<Variables, EnvironmentError> {
    let mut variables = Variables::new();
    for from in container.env_from.iter().flatten() {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        let maps = from.config_map_ref.iter().map(|map| ("configmap", &map.name, map.optional));
        let secrets = from.secret_ref.iter().map(|secret| ("secret", &secret.name, secret.optional));
        for (kind, name, optional) in maps.chain(secrets) {
            for (key, bytes) in whole(sources, kind, name, optional)?.into_iter().flatten() {
                variables.insert(format!("{prefix}{key}"), text(bytes, key)?);
            }
        }
    }
    for variable in container.env.iter().flatten() {
        let value = match (&variable.value, &variable.value_from) {
            (Some(value), _) => Some(expand(value, &variables)),
            (None, Some(from)) => value_from(pod, address, sources, from)?,
            (None, None) => Some(String::new()),
        };
        if let Some(value) = value {
            variables.insert(variable.name.clone(), value);
        }
    }
    Ok(variables)
}

fn value_from(
    pod: &Pod,
    address: &str,
    sources: &Sources,
    from: &EnvVarSource,
) -> Result<Option<String>, EnvironmentError> {
    if let Some(field) = &from.field_ref {
        return self::field(pod, address, &field.field_path).map(Some);
    }
    if let Some(key) = &from.secret_key_ref {
        return one(sources, "secret", &key.name, &key.key, key.optional);
    }
    if let Some(key) = &from.config_map_key_ref {
        return one(sources, "configmap", &key.name, &key.key, key.optional);
    }
    Err(EnvironmentError::Field("resourceFieldRef".into()))
}

/// A field of the Pod, as the downward API names it.
pub(super) fn field(pod: &Pod, address: &str, path: &str) -> Result<String, EnvironmentError> {
    let keyed = |start: &str| path.strip_prefix(start).and_then(|rest| rest.strip_suffix("']"));
    if let Some(label) = keyed("metadata.labels['") {
        return Ok(pod.labels().get(label).cloned().unwrap_or_default());
    }
    if let Some(annotation) = keyed("metadata.annotations['") {
        return Ok(pod.annotations().get(annotation).cloned().unwrap_or_default());
    }
    let spec = pod.spec.as_ref();
    Ok(match path {
        "metadata.name" => pod.name_any(),
        "metadata.namespace" => pod.namespace().unwrap_or_default(),
        "metadata.uid" => pod.uid().unwrap_or_default(),
        "spec.nodeName" => spec.and_then(|spec| spec.node_name.clone()).unwrap_or_default(),
        "spec.serviceAccountName" => {
            spec.and_then(|spec| spec.service_account_name.clone()).unwrap_or_default()
        }
        "status.podIP" | "status.podIPs" => address.to_owned(),
        "status.hostIP" | "status.hostIPs" => crate::node::ADDRESS.to_owned(),
        _ => return Err(EnvironmentError::Field(path.to_owned())),
    })
}

fn whole<'a>(
    sources: &'a Sources,
    kind: &'static str,
    name: &str,
    optional: Option<bool>,
) -> Result<Option<&'a Contents>, EnvironmentError> {
    let all = if kind == "secret" { &sources.secrets } else { &sources.config_maps };
    match all.get(name).and_then(Option::as_ref) {
        None if optional != Some(true) => Err(EnvironmentError::NotFound { kind, name: name.to_owned() }),
        found => Ok(found),
    }
}

fn one(
    sources: &Sources,
    kind: &'static str,
    name: &str,
    key: &str,
    optional: Option<bool>,
) -> Result<Option<String>, EnvironmentError> {
    let Some(contents) = whole(sources, kind, name, optional)? else { return Ok(None) };
    match contents.get(key) {
        Some(bytes) => text(bytes, key).map(Some),
        None if optional == Some(true) => Ok(None),
        None => Err(EnvironmentError::NoKey { kind, name: name.to_owned(), key: key.to_owned() }),
    }
}

fn text(bytes: &[u8], key: &str) -> Result<String, EnvironmentError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| EnvironmentError::NoText(key.to_owned()))
}

/// `$(NAME)` is the value of a variable that is known, `$$` a dollar; all else stays as it is.
pub(super) fn expand(text: &str, variables: &Variables) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            match variables.get(name) {
                Some(value) => out.push_str(value),
                None => out.extend(["$(", name, ")"]),
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod() -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"a/b": "c"}},
            "spec": {"containers": [], "nodeName": "here"},
        }))
        .unwrap()
    }

    fn of(container: serde_json::Value, sources: &Sources) -> Result<Variables, EnvironmentError> {
        let mut container = container;
        container["name"] = "main".into();
        variables(&pod(), &serde_json::from_value(container).unwrap(), "127.77.0.9", sources)
    }

    fn sources() -> Sources {
        let contents =
            |key: &str, value: &str| Some(Contents::from([(key.to_owned(), value.as_bytes().to_vec())]));
        Sources {
            config_maps: [("m".to_owned(), contents("k", "v")), ("gone".to_owned(), None)].into(),
            secrets: [("s".to_owned(), contents("p", "secret"))].into(),
            ..Sources::default()
        }
    }

    #[test]
    fn dollars_are_expanded_as_kubernetes_does() {
        let known = Variables::from([("A".to_owned(), "1".to_owned())]);
        for (text, expanded) in [
            ("$(A)", "1"),
            ("x$(A)y$(A)", "x1y1"),
            ("$(B)", "$(B)"),
            ("$$(A)", "$(A)"),
            ("$A", "$A"),
            ("$", "$"),
            ("$(A", "$(A"),
            ("$$", "$"),
        ] {
            assert_eq!(expand(text, &known), expanded, "{text}");
        }
    }

    #[test]
    fn fields_keys_and_earlier_variables() {
        let container = json!({
            "envFrom": [{"prefix": "M_", "configMapRef": {"name": "m"}}],
            "env": [
                {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a/b']"}}},
                {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p"}}},
                {"name": "BOTH", "value": "$(IP)/$(M_k)/$(LATER)"},
                {"name": "LATER", "value": "x"},
                {"name": "NOT", "valueFrom": {"configMapKeyRef": {"name": "gone", "key": "x", "optional": true}}},
            ],
        });
        let found = of(container, &sources()).unwrap();
        let wanted = [
            ("BOTH", "127.77.0.9/v/$(LATER)"),
            ("IP", "127.77.0.9"),
            ("L", "c"),
            ("LATER", "x"),
            ("M_k", "v"),
            ("S", "secret"),
        ];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn what_is_missing_is_named() {
        let key = |name: &str, key: &str| json!({"env": [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}]});
        let said = |container| of(container, &sources()).unwrap_err().to_string();
        assert_eq!(said(key("gone", "k")), "configmap \"gone\" not found");
        assert_eq!(said(key("m", "other")), "configmap \"m\" has no key \"other\"");
        let field = json!({"env": [{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "status.x"}}}]});
        assert_eq!(said(field), "the field \"status.x\" is not supported in the environment");
    }
}
