//! Services.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::cluster_ip;
use super::controllers::reset_status;
use super::fields::{at, each, fill, fill_text, given, inner, list, number, set, text, unset};
use super::node_ports::{self, has_health_port, has_ports};
use super::service_checks::{check_changes, check_service, check_status};
use crate::error::{ApiError, Cause, Subject};
use crate::kind::{Around, Given, Particular};
use crate::lifecycle::{Part, metadata};
use crate::schema::{FieldError, aggregate};

/// For how long a client stays with a Pod, in seconds.
const STICKY_SECONDS: i64 = 10800;

/// What is particular to Services.
#[derive(Debug)]
pub(super) struct Service;

pub(super) fn is_external_name(spec: &Value) -> bool {
    text(spec, "type") == "ExternalName"
}

/// Whether a Service can be reached from outside.
pub(super) fn is_external(spec: &Value) -> bool {
    has_ports(spec) || (text(spec, "type") == "ClusterIP" && !list(spec, "externalIPs").is_empty())
}

/// What a Service holds that no other may have.
pub(crate) fn held(service: &Value) -> Given {
    let spec = at(service, "/spec");
    Given { addresses: cluster_ip::addresses_of(spec), ports: node_ports::ports_of(spec) }
}

/// The refusal of a Service, as what allocates for it says it.
pub(super) fn invalid(object: &Value, errors: &[FieldError]) -> ApiError {
    let subject = Subject {
        name: metadata::text(object, "name").to_owned(),
        kind: "Service".to_owned(),
        ..Subject::default()
    };
    let causes = errors.iter().map(|error| {
        let cause = error.cause();
        Cause { reason: cause.reason.to_owned(), message: cause.message, field: cause.field }
    });
    ApiError::invalid(subject, &aggregate(errors), causes.collect())
}

impl Particular for Service {
    fn default(&self, object: &mut Value) {
        inner(inner(object, "status"), "loadBalancer");
        let spec = inner(object, "spec");
        fill_text(spec, "sessionAffinity", "None");
        match text(spec, "sessionAffinity") {
            "None" => unset(spec, "sessionAffinityConfig"),
            "ClientIP" if at(spec, "/sessionAffinityConfig/clientIP/timeoutSeconds").is_null() => {
                let config = json!({"clientIP": {"timeoutSeconds": STICKY_SECONDS}});
                set(spec, "sessionAffinityConfig", config);
            }
            _ => {}
        }
        fill_text(spec, "type", "ClusterIP");
        each(spec, "ports", default_port);
        if is_external(spec) {
            fill_text(spec, "externalTrafficPolicy", "Cluster");
        }
        let kind = text(spec, "type").to_owned();
        if ["NodePort", "LoadBalancer", "ClusterIP"].contains(&kind.as_str()) {
            fill(spec, "internalTrafficPolicy", "Cluster");
        }
        if kind == "LoadBalancer" {
            fill(spec, "allocateLoadBalancerNodePorts", true);
            each(&mut object["status"]["loadBalancer"], "ingress", |ingress| {
                if !text(ingress, "ip").is_empty() {
                    fill(ingress, "ipMode", "VIP");
                }
            });
        }
    }

    fn allocates(&self) -> bool {
        true
    }

    fn prepare(
        &self,
        object: &mut Value,
        old: Option<&Value>,
        part: Part,
        around: &dyn Around,
    ) -> Result<(), ApiError> {
        if part != Part::Whole {
            return Ok(());
        }
        if let Some(old) = old {
            keep_allocated(inner(object, "spec"), at(old, "/spec"));
        }
        if is_external_name(at(object, "/spec")) {
            unset(inner(object, "spec"), "internalTrafficPolicy");
        }
        cluster_ip::allocate(object, old, around)?;
        node_ports::allocate(object, old, around)?;
        reset_status(object, old, json!({"loadBalancer": {}}));
        if let Some(old) = old {
            drop_by_type(inner(object, "spec"), at(old, "/spec"));
            if text(at(object, "/spec"), "type") != "LoadBalancer" {
                set(inner(object, "status"), "loadBalancer", json!({}));
            }
        }
        Ok(())
    }

    fn check(&self, object: &Value, old: Option<&Value>, part: Part) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if part == Part::Status {
            check_status(at(object, "/status"), &mut errors);
            return errors;
        }
        if let Some(old) = old {
            check_changes(at(object, "/spec"), at(old, "/spec"), &mut errors);
        }
        check_service(at(object, "/spec"), &mut errors);
        errors
    }

    fn warnings(&self, object: &Value, _: Option<&Value>) -> Vec<String> {
        let spec = at(object, "/spec");
        let mut warnings = Vec::new();
        if !list(spec, "externalIPs").is_empty() {
            let old = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
            warnings.push(old.to_owned());
        }
        if text(spec, "trafficDistribution") == "PreferClose" {
            let old = r#"spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone""#;
            warnings.push(old.to_owned());
        }
        warnings
    }
}

fn default_port(port: &mut Value) {
    fill_text(port, "protocol", "TCP");
    let target = at(port, "/targetPort");
    if target.is_null() || target == 0 || target == "" {
        let own = number(port, "port").unwrap_or(0);
        set(port, "targetPort", own);
    }
}

/// An update that leaves out what was allocated keeps it.
fn keep_allocated(spec: &mut Value, old: &Value) {
    if !is_external_name(spec) && !is_external_name(old) {
        fill_text(spec, "clusterIP", text(old, "clusterIP"));
        if let Some(addresses) = given(old, "clusterIPs") {
            fill(spec, "clusterIPs", addresses.clone());
        }
    }
    if has_ports(spec) && has_ports(old) {
        keep_ports(spec, old);
    }
    if has_health_port(spec) && has_health_port(old) {
        let port = number(old, "healthCheckNodePort").unwrap_or(0);
        super::fields::fill_number(spec, "healthCheckNodePort", port);
    }
}

fn keep_ports(spec: &mut Value, old: &Value) {
    let known = list(old, "ports").to_vec();
    let asked: Vec<i64> = list(spec, "ports").iter().filter_map(|port| number(port, "nodePort")).collect();
    each(spec, "ports", |port| {
        let before = known.iter().find(|old| text(old, "name") == text(port, "name"));
        let before = before.and_then(|old| number(old, "nodePort")).filter(|before| !asked.contains(before));
        if let (0, Some(before)) = (number(port, "nodePort").unwrap_or(0), before) {
            set(port, "nodePort", before);
        }
    });
}

/// What belongs to the type that the Service had, and was left as it was, goes with it.
fn drop_by_type(spec: &mut Value, old: &Value) {
    let same = |spec: &Value, field: &str| given(spec, field) == given(old, field);
    if is_external_name(spec) && !is_external_name(old) {
        if same(spec, "clusterIP") && same(spec, "clusterIPs") {
            unset(spec, "clusterIP");
            unset(spec, "clusterIPs");
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if same(spec, field) {
                unset(spec, field);
            }
        }
    }
    if has_ports(old) && !has_ports(spec) {
        let known: HashSet<i64> =
            list(old, "ports").iter().filter_map(|port| number(port, "nodePort")).collect();
        let all_known = list(spec, "ports")
            .iter()
            .filter_map(|port| number(port, "nodePort"))
            .all(|port| known.contains(&port));
        if all_known {
            each(spec, "ports", |port| unset(port, "nodePort"));
        }
    }
    if has_health_port(old) && !has_health_port(spec) && same(spec, "healthCheckNodePort") {
        unset(spec, "healthCheckNodePort");
    }
    let balanced = |spec: &Value| text(spec, "type") == "LoadBalancer";
    if balanced(old) && !balanced(spec) {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if same(spec, field) {
                unset(spec, field);
            }
        }
    }
    if is_external(old) && !is_external(spec) && same(spec, "externalTrafficPolicy") {
        unset(spec, "externalTrafficPolicy");
    }
}
