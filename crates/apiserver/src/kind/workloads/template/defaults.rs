//! The defaults of a Pod's spec.

use serde_json::{Value, json};

use super::super::fields::{each, fill, fill_number, fill_text, inner, set, text, with};
use super::resources::round_up;
use super::volume_defaults::default_volume;

/// The lists of containers that a spec has.
pub(in super::super) const CONTAINER_LISTS: [&str; 3] =
    ["initContainers", "containers", "ephemeralContainers"];

/// Fills in a template: its metadata and its spec are always there.
pub(in super::super) fn default_template(template: &mut Value) {
    inner(template, "metadata");
    default_spec(inner(template, "spec"));
}

/// Fills in the spec of a Pod or of a template.
pub(in super::super) fn default_spec(spec: &mut Value) {
    fill_text(spec, "dnsPolicy", "ClusterFirst");
    fill_text(spec, "restartPolicy", "Always");
    fill_text(spec, "schedulerName", "default-scheduler");
    fill(spec, "securityContext", json!({}));
    fill(spec, "terminationGracePeriodSeconds", 30);
    one_account(spec);
    each(spec, "volumes", default_volume);
    for containers in CONTAINER_LISTS {
        each(spec, containers, default_container);
    }
    with(spec, "overhead", round_up);
    with(spec, "resources", default_resources);
}

/// The service account has two names, an old and a new one, which say the same.
fn one_account(spec: &mut Value) {
    let name = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount"),
        name => name,
    };
    if !name.is_empty() {
        let name = name.to_owned();
        set(spec, "serviceAccountName", name.clone());
        set(spec, "serviceAccount", name);
    }
}

fn default_container(container: &mut Value) {
    let policy = pull_policy(text(container, "image"));
    fill_text(container, "imagePullPolicy", policy);
    fill_text(container, "terminationMessagePath", "/dev/termination-log");
    fill_text(container, "terminationMessagePolicy", "File");
    default_resources(inner(container, "resources"));
    each(container, "ports", |port| fill_text(port, "protocol", "TCP"));
    each(container, "env", |variable| with(variable, "valueFrom", default_source));
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        with(container, probe, default_probe);
    }
    with(container, "lifecycle", |lifecycle| {
        for hook in ["postStart", "preStop"] {
            with(lifecycle, hook, |hook| with(hook, "httpGet", default_http));
        }
    });
}

fn default_resources(resources: &mut Value) {
    with(resources, "limits", round_up);
    with(resources, "requests", round_up);
}

fn default_source(source: &mut Value) {
    with(source, "fieldRef", |reference| fill_text(reference, "apiVersion", "v1"));
    with(source, "resourceFieldRef", |reference| fill(reference, "divisor", "0"));
    with(source, "fileKeyRef", |reference| fill(reference, "optional", false));
}

fn default_probe(probe: &mut Value) {
    fill_number(probe, "timeoutSeconds", 1);
    fill_number(probe, "periodSeconds", 10);
    fill_number(probe, "successThreshold", 1);
    fill_number(probe, "failureThreshold", 3);
    with(probe, "httpGet", default_http);
    with(probe, "grpc", |grpc| fill(grpc, "service", ""));
}

fn default_http(http: &mut Value) {
    fill_text(http, "path", "/");
    fill_text(http, "scheme", "HTTP");
}

/// An image whose tag is `latest`, or that has neither tag nor digest, is pulled every time.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") { "Always" } else { "IfNotPresent" }
}

/// The tag of an image; None when it is not known: there is a digest, or it is no name of an image.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let (path, tag) = match name[last..].split_once(':') {
        Some((_, tag)) => (&name[..name.len() - tag.len() - 1], Some(tag)),
        None => (name, None),
    };
    if !is_image_path(path) || tag.is_some_and(|tag| !is_tag(tag)) {
        return None;
    }
    match (tag, digest) {
        (Some(tag), _) => Some(tag),
        (None, Some(_)) => None,
        (None, None) => Some("latest"),
    }
}

/// Whether a text is `host:port/path/of/image`; only the host may have capitals.
fn is_image_path(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let has_host = parts.len() > 1
        && parts.first().is_some_and(|host| {
            host.contains(['.', ':']) || *host == "localhost" || host.chars().any(|c| c.is_ascii_uppercase())
        });
    if has_host {
        parts.remove(0);
    }
    let is_part = |part: &&str| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(is_letter)
            && part.ends_with(is_letter)
            && part.chars().all(|c| is_letter(c) || "._-".contains(c))
    };
    parts.iter().all(is_part)
}

fn is_tag(tag: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.starts_with(is_letter) && tag.len() <= 128 && tag.chars().all(|c| is_letter(c) || ".-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_latest_is_pulled_every_time() {
        let always =
            ["nginx", "nginx:latest", "example.org:5000/a/b", "localhost/a:latest", "a:latest@sha256:x"];
        for image in always {
            assert_eq!(pull_policy(image), "Always", "{image}");
        }
        for image in ["nginx:1", "nginx@sha256:abc", "example.org:5000/a:1", "Nginx", "", "a b"] {
            assert_eq!(pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
