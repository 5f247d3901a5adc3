//! `ConfigMap` and `Secret`: data under keys, which may be closed for good.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::docker_config;
use super::fields::{check_form, check_unchanged, entries, fill_text, is_true, object_at, something, text};
use super::names::data_key;
use crate::kind::Particular;
use crate::lifecycle::Part;
use crate::schema::{FieldError, Path};

/// All data of one object together.
const MAX_SIZE: usize = 1024 * 1024;

/// What is particular to `ConfigMap`.
#[derive(Debug)]
pub(super) struct ConfigMap;

impl Particular for ConfigMap {
    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_closed(object, old, &["data", "binaryData"], &mut errors);
        let mut size = 0;
        for (key, value) in entries(object, "/data") {
            let path = Path::new("data").key(key);
            check_form(&path, key, data_key(key), &mut errors);
            if object.get("binaryData").is_some_and(|binary| binary.get(key).is_some()) {
                let detail = "duplicate of key present in binaryData";
                errors.push(FieldError::invalid(&path, key, detail));
            }
            size += value.as_str().map_or(0, str::len);
        }
        for (key, value) in entries(object, "/binaryData") {
            check_form(&Path::new("binaryData").key(key), key, data_key(key), &mut errors);
            size += bytes(value).len();
        }
        if size > MAX_SIZE {
            errors.push(too_large(&Path::new("[]")));
        }
        errors
    }
}

/// What is particular to `Secret`.
#[derive(Debug)]
pub(super) struct Secret;

impl Particular for Secret {
    fn default(&self, object: &mut Value) {
        let Some(fields) = object.as_object_mut() else { return };
        fill_text(fields, "type", "Opaque");
        let Some(Value::Object(texts)) = fields.remove("stringData") else { return };
        if texts.is_empty() {
            return;
        }
        let Some(data) = object_at(object, "data") else { return };
        for (key, value) in texts {
            data.insert(key, BASE64_STANDARD.encode(value.as_str().unwrap_or_default()).into());
        }
    }

    fn check(&self, object: &Value, old: Option<&Value>, _: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let Some(old) = old {
            check_unchanged(object, old, "type", &mut errors);
        }
        check_closed(object, old, &["data"], &mut errors);
        let path = Path::new("data");
        let mut size = 0;
        for (key, value) in entries(object, "/data") {
            check_form(&path.key(key), key, data_key(key), &mut errors);
            size += bytes(value).len();
        }
        if size > MAX_SIZE {
            errors.push(too_large(&path));
        }
        check_type(object, &mut errors);
        errors
    }

    fn warnings(&self, object: &Value, _: Option<&Value>) -> Vec<String> {
        if text(object, "/type") != "kubernetes.io/tls" {
            return Vec::new();
        }
        let has = |key: &str, block: &str| {
            let pem = object.get("data").and_then(|data| data.get(key)).map(bytes).unwrap_or_default();
            String::from_utf8_lossy(&pem).contains(block)
        };
        let missing = match (has("tls.crt", "-----BEGIN CERTIFICATE-----"), has("tls.key", "-----BEGIN ")) {
            (false, _) => "certificate",
            (true, false) => "key",
            (true, true) => return Vec::new(),
        };
        vec![format!("tls: failed to find any PEM data in {missing} input")]
    }
}

/// What a secret of a known type must have.
fn check_type(object: &Value, errors: &mut Vec<FieldError>) {
    let data = |key: &str| object.get("data").and_then(|data| data.get(key));
    let path = Path::new("data");
    let mut require = |keys: &[&str]| {
        errors.extend(keys.iter().map(|key| FieldError::required(&path.key(key), "")));
    };
    let is_there = |key: &&str| data(key).is_some();
    match text(object, "/type") {
        "kubernetes.io/service-account-token" => {
            let name = "kubernetes.io/service-account.name";
            let account = object.pointer("/metadata/annotations").and_then(|all| all.get(name));
            if account.and_then(Value::as_str).unwrap_or_default().is_empty() {
                errors.push(FieldError::required(&Path::new("metadata.annotations").key(name), ""));
            }
        }
        "kubernetes.io/dockercfg" => docker_config::check(&path, ".dockercfg", data(".dockercfg"), errors),
        "kubernetes.io/dockerconfigjson" => {
            docker_config::check(&path, ".dockerconfigjson", data(".dockerconfigjson"), errors);
        }
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            if !keys.iter().any(is_there) {
                require(&keys);
            }
        }
        "kubernetes.io/ssh-auth" => {
            let is_empty = data("ssh-privatekey").map(bytes).unwrap_or_default().is_empty();
            require(if is_empty { &["ssh-privatekey"] } else { &[] });
        }
        "kubernetes.io/tls" => {
            let missing: Vec<&str> =
                ["tls.crt", "tls.key"].into_iter().filter(|key| !is_there(key)).collect();
            require(&missing);
        }
        _ => {}
    }
}

/// What was made immutable stays so, with all its data.
fn check_closed(object: &Value, old: Option<&Value>, kept: &[&str], errors: &mut Vec<FieldError>) {
    let Some(old) = old.filter(|old| is_true(old, "immutable")) else { return };
    let detail = "field is immutable when `immutable` is set";
    if !is_true(object, "immutable") {
        errors.push(FieldError::forbidden(&Path::new("immutable"), detail));
    }
    for field in kept {
        if something(object.get(*field)) != something(old.get(*field)) {
            errors.push(FieldError::forbidden(&Path::new(field), detail));
        }
    }
}

/// The bytes that a text in base 64 stands for.
pub(super) fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default()
}

fn too_large(path: &Path) -> FieldError {
    FieldError::too_long(path, 1024 * 1024)
}
