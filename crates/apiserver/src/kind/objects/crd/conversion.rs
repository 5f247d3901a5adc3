//! How objects are converted between the versions of a CRD.

use std::collections::HashSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::super::fields::{check_choice, is_true, list, text, texts};
use super::internal::given;
use crate::kind::metadata::{label_1035, subdomain};
use crate::schema::{FieldError, Path};

const FORM: &str = "; desired format: https://host[/path]";

/// What is wrong with the conversion; `old` is the CRD before.
pub(super) fn check(spec: &Value, old: Option<&Value>, is_established: bool, errors: &mut Vec<FieldError>) {
    let Some(conversion) = given(spec, "conversion") else { return };
    let path = Path::new("spec.conversion");
    let strategy = text(conversion, "/strategy");
    if strategy != "None" && is_true(spec, "preserveUnknownFields") {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.push(FieldError::invalid(&path.child("strategy"), strategy, detail));
    }
    match strategy {
        "" => errors.push(FieldError::required(&path.child("strategy"), "")),
        _ => check_choice(&path.child("strategy"), strategy, &["None", "Webhook"], errors),
    }
    let webhook = given(conversion, "webhook").unwrap_or(&Value::Null);
    let (client, reviews) = (given(webhook, "clientConfig"), list(webhook, "/conversionReviewVersions"));
    let (at, at_reviews) = (path.child("webhookClientConfig"), path.child("conversionReviewVersions"));
    if strategy == "Webhook" {
        match client {
            None => errors.push(FieldError::required(&at, "required when strategy is set to Webhook")),
            Some(client) => check_client(&at, client, errors),
        }
        let bundle = client.map(|client| text(client, "/caBundle")).unwrap_or_default();
        if is_established && !is_bundle(bundle) && old.is_some_and(has_valid_bundle) {
            let detail = "unable to load root certificates: unable to parse bytes as PEM block";
            errors.push(FieldError::invalid(&at.child("caBundle"), bundle, detail));
        }
        check_reviews(&at_reviews, reviews, errors);
    } else {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.push(FieldError::forbidden(&at, detail));
        }
        if !reviews.is_empty() {
            errors.push(FieldError::forbidden(&at_reviews, detail));
        }
    }
}

/// Whether the certificates of the webhook of a CRD can be read, or there are none.
pub(super) fn has_valid_bundle(crd: &Value) -> bool {
    is_bundle(text(crd, "/spec/conversion/webhook/clientConfig/caBundle"))
}

fn is_bundle(encoded: &str) -> bool {
    if encoded.is_empty() {
        return true;
    }
    let bytes = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----")
}

fn check_client(path: &Path, client: &Value, errors: &mut Vec<FieldError>) {
    match (client.get("url").and_then(Value::as_str), given(client, "service")) {
        (Some(url), None) => check_url(&path.child("url"), url, errors),
        (None, Some(service)) => check_service(&path.child("service"), service, errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
}

fn check_url(path: &Path, url: &str, errors: &mut Vec<FieldError>) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let host = if scheme.is_empty() { "" } else { rest.split('/').next().unwrap_or_default() };
    let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
    let mut say = |value: &str, detail: String| errors.push(FieldError::invalid(path, value, detail));
    if scheme != "https" {
        say(scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if host.is_empty() {
        say(host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        say(user, "user information is not permitted in the URL".to_owned());
    }
    if !fragment.is_empty() {
        say(fragment, "fragments are not permitted in the URL".to_owned());
    }
    if !query.is_empty() {
        say(query, "query parameters are not permitted in the URL".to_owned());
    }
}

/// The server takes name and namespace for each other here.
fn check_service(path: &Path, service: &Value, errors: &mut Vec<FieldError>) {
    for (field, named) in [("namespace", "name"), ("name", "namespace")] {
        if text(service, &format!("/{field}")).is_empty() {
            errors.push(FieldError::required(&path.child(named), ""));
        }
    }
    let port = service.get("port").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.child("port"), port, detail));
    }
    let wanted = text(service, "/path");
    if wanted.is_empty() || wanted == "/" {
        return;
    }
    let mut say = |detail: String| errors.push(FieldError::invalid(&path.child("path"), wanted, detail));
    if wanted == "//" {
        return say("segment[0] may not be empty".to_owned());
    }
    if !wanted.starts_with('/') {
        say("must start with a '/'".to_owned());
    }
    let inside = wanted.get(1..).unwrap_or_default();
    for (index, step) in inside.strip_suffix('/').unwrap_or(inside).split('/').enumerate() {
        if step.is_empty() {
            say(format!("segment[{index}] may not be empty"));
            continue;
        }
        for detail in subdomain(step) {
            say(format!("segment[{index}]: {detail}"));
        }
    }
}

fn check_reviews(path: &Path, versions: &[Value], errors: &mut Vec<FieldError>) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let all: Vec<&str> = texts(versions).collect();
    let mut seen = HashSet::new();
    for (index, version) in all.iter().enumerate() {
        let path = path.index(index);
        if !seen.insert(*version) {
            errors.push(FieldError::invalid(&path, *version, "duplicate version"));
            continue;
        }
        let found = label_1035(version);
        errors.extend(found.into_iter().map(|detail| FieldError::invalid(&path, *version, detail)));
    }
    if !all.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, Value::Array(versions.to_vec()), detail));
    }
}
