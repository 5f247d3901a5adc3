//! Probes and hooks.

use serde_json::Value;

use super::super::fields::{given, list, number, text};
use super::super::names;
use crate::schema::{FieldError, Path};

const KINDS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

/// Checks the probes and hooks of a container that runs beside others. `grace` is the Pod's.
pub(super) fn check_handlers(
    container: &Value,
    grace: Option<i64>,
    path: &Path,
    errors: &mut Vec<FieldError>,
) {
    if let Some(lifecycle) = given(container, "lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(handler) = given(lifecycle, hook) {
                check_handler(handler, grace, &path.child("lifecycle").child(hook), errors);
            }
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = given(container, name) else { continue };
        let path = path.child(name);
        check_probe(probe, grace, &path, errors);
        let grace = number(probe, "terminationGracePeriodSeconds");
        if name == "readinessProbe" {
            if let Some(grace) = grace {
                let path = path.child("terminationGracePeriodSeconds");
                errors.push(FieldError::invalid(&path, grace, "must not be set for readinessProbes"));
            }
        } else if let Some(threshold) = number(probe, "successThreshold").filter(|threshold| *threshold != 1)
        {
            errors.push(FieldError::invalid(&path.child("successThreshold"), threshold, "must be 1"));
        }
    }
}

fn check_probe(probe: &Value, grace: Option<i64>, path: &Path, errors: &mut Vec<FieldError>) {
    check_handler(probe, grace, path, errors);
    let numbers =
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    for name in numbers {
        names::check_not_negative(number(probe, name), &path.child(name), errors);
    }
    if let Some(grace) = number(probe, "terminationGracePeriodSeconds").filter(|grace| *grace <= 0) {
        let path = path.child("terminationGracePeriodSeconds");
        errors.push(FieldError::invalid(&path, grace, "must be greater than 0"));
    }
}

fn check_handler(handler: &Value, grace: Option<i64>, path: &Path, errors: &mut Vec<FieldError>) {
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| given(handler, kind).is_some()).collect();
    let Some((first, others)) = kinds.split_first() else {
        errors.push(FieldError::required(path, "must specify a handler type"));
        return;
    };
    check_action(first, &handler[first], grace, &path.child(first), errors);
    for other in others {
        errors.push(FieldError::forbidden(&path.child(other), "may not specify more than 1 handler type"));
    }
}

fn check_action(kind: &str, action: &Value, grace: Option<i64>, path: &Path, errors: &mut Vec<FieldError>) {
    match kind {
        "exec" => {
            if list(action, "command").is_empty() {
                errors.push(FieldError::required(&path.child("command"), ""));
            }
        }
        "httpGet" => check_http(action, path, errors),
        "sleep" => check_sleep(number(action, "seconds").unwrap_or(0), grace, path, errors),
        _ => check_port(given(action, "port"), &path.child("port"), errors),
    }
}

fn check_http(action: &Value, path: &Path, errors: &mut Vec<FieldError>) {
    check_port(given(action, "port"), &path.child("port"), errors);
    let schemes = ["HTTP", "HTTPS"];
    if !schemes.contains(&text(action, "scheme")) {
        errors.push(names::not_one_of(&path.child("scheme"), text(action, "scheme"), &schemes));
    }
    for header in list(action, "httpHeaders") {
        let name = text(header, "name");
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            let wrong = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
                 regex used for validation is '[-A-Za-z0-9]+')";
            errors.push(FieldError::invalid(&path.child("httpHeaders"), name, wrong));
        }
    }
}

fn check_sleep(seconds: i64, grace: Option<i64>, path: &Path, errors: &mut Vec<FieldError>) {
    if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
        let wrong = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.push(FieldError::invalid(path, seconds, wrong));
    }
}

/// Checks a port that is a number or the name of one.
pub(in super::super) fn check_port(port: Option<&Value>, path: &Path, errors: &mut Vec<FieldError>) {
    match port {
        Some(Value::String(name)) => names::check(names::port_name, name, path, errors),
        other => {
            let port = other.and_then(Value::as_i64).unwrap_or(0);
            errors.extend(
                names::port_number(port).into_iter().map(|wrong| FieldError::invalid(path, port, wrong)),
            );
        }
    }
}
