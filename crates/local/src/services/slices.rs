//! `EndpointSlices`: where the Pods of a Service are, and whether they are ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ObjectReference, Pod, Service, ServicePort, ServiceSpec};
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::{Api, DeleteParams, ListParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::{Controller, watcher};
use kube::{Client, ResourceExt};

use super::names;
use crate::control::{Error, bounded, drive, writing};
use crate::workloads::{hash, ownership, pods};

pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// As the real controller says it, where this one does its work; and what this one says beside it.
const MANAGER: &str = "endpointslice-controller.k8s.io";
const BESIDE: &str = "node.muster.dev";
const HEADLESS: &str = "service.kubernetes.io/headless";
/// How many endpoints a slice holds, as on a real cluster: a change of one rewrites its slice only.
const MAX_ENDPOINTS: usize = 100;

/// Keeps the `EndpointSlices` of all Services until dropped.
/// With `alone` for all Pods, else only for those whose addresses the real controller cannot write.
pub(super) async fn run(client: Client, alone: bool) {
    let config = watcher::Config::default;
    let controller = Controller::new(Api::<Service>::all(client.clone()), config());
    let known = controller.store();
    let controller = controller.owns(Api::<EndpointSlice>::all(client.clone()), config()).watches(
        Api::<Pod>::all(client.clone()),
        config(),
        move |pod| services_of(&known, &pod),
    );
    drive(controller, move |service| {
        let client = client.clone();
        async move { Box::pin(keep(&client, &service, alone)).await }
    })
    .await;
}

/// The Services that might lead to a Pod: all of its namespace, because its labels may have changed.
fn services_of(known: &Store<Service>, pod: &Pod) -> Vec<ObjectRef<Service>> {
    let same = |service: &&Arc<Service>| service.metadata.namespace == pod.metadata.namespace;
    known.state().iter().filter(same).map(|service| ObjectRef::from_obj(service.as_ref())).collect()
}

/// One pass over a Service.
async fn keep(client: &Client, known: &Service, alone: bool) -> Result<Action, Error> {
    let (namespace, name) = (known.namespace().unwrap_or_default(), known.name_any());
    let done = Ok(Action::await_change());
    let services: Api<Service> = Api::namespaced(client.clone(), &namespace);
    let Some(service) = bounded(services.get_opt(&name)).await? else { return done };
    let Some(spec) = service.spec.as_ref().filter(|spec| is_selective(spec)) else { return done };
    if service.metadata.deletion_timestamp.is_some() {
        return done;
    }
    let selector: Vec<_> =
        spec.selector.iter().flatten().map(|(name, value)| format!("{name}={value}")).collect();
    let all: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let chosen = bounded(all.list(&ListParams::default().labels(&selector.join(",")))).await?;
    let wanted = slices(&service, spec, &chosen.items, alone)?;
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), &namespace);
    let ours = format!("{SERVICE_NAME}={name},{MANAGED_BY}={}", manager(alone));
    let there = bounded(slices.list(&ListParams::default().labels(&ours))).await?;
    for slice in &wanted {
        let found = there.items.iter().find(|it| it.metadata.name == slice.metadata.name);
        match found {
            Some(found) if same(found, slice) => {}
            Some(found) => {
                let mut slice = slice.clone();
                slice.metadata.resource_version.clone_from(&found.metadata.resource_version);
                bounded(slices.replace(&slice.name_any(), &writing(), &slice)).await?;
            }
            None => drop(bounded(slices.create(&writing(), slice)).await?),
        }
    }
    let is_old = |it: &&EndpointSlice| wanted.iter().all(|slice| slice.metadata.name != it.metadata.name);
    for old in there.items.iter().filter(is_old) {
        match bounded(slices.delete(&old.name_any(), &DeleteParams::default())).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
    }
    done
}

fn manager(alone: bool) -> &'static str {
    if alone { MANAGER } else { BESIDE }
}

/// Whether it chooses Pods itself.
fn is_selective(spec: &ServiceSpec) -> bool {
    let selects = spec.selector.as_ref().is_some_and(|selector| !selector.is_empty());
    selects && spec.type_.as_deref() != Some("ExternalName")
}

fn same(one: &EndpointSlice, other: &EndpointSlice) -> bool {
    let labels = |slice: &EndpointSlice| slice.metadata.labels.clone().unwrap_or_default();
    let endpoints = |slice: &EndpointSlice| slice.endpoints.clone().unwrap_or_default();
    let ports = |slice: &EndpointSlice| slice.ports.clone().unwrap_or_default();
    labels(one) == labels(other) && endpoints(one) == endpoints(other) && ports(one) == ports(other)
}

/// What Pods have in common that are in one slice.
#[derive(Clone, Debug, PartialEq)]
struct Common {
    /// How their addresses are written.
    kind: &'static str,
    ports: Vec<EndpointPort>,
}

/// The slices of a Service. With no Pod there is one that is empty.
fn slices(
    service: &Service,
    spec: &ServiceSpec,
    all: &[Pod],
    alone: bool,
) -> Result<Vec<EndpointSlice>, Error> {
    let mut groups: BTreeMap<String, (Common, Vec<Endpoint>)> = BTreeMap::new();
    for pod in all.iter().filter(|pod| !pods::has_ended(pod)) {
        let Some((kind, endpoint)) = endpoint(service, spec, pod) else { continue };
        if !alone && kind != "FQDN" {
            continue;
        }
        let ports = spec.ports.iter().flatten().filter_map(|port| resolved(port, pod)).collect();
        let common = Common { kind, ports };
        groups.entry(format!("{common:?}")).or_insert_with(|| (common, Vec::new())).1.push(endpoint);
    }
    if groups.is_empty() && alone {
        groups.insert(String::new(), (Common { kind: "IPv4", ports: Vec::new() }, Vec::new()));
    }
    let mut slices = Vec::new();
    for (common, mut endpoints) in groups.into_values() {
        endpoints.sort_by(|one, other| one.addresses.cmp(&other.addresses));
        let mut parts: Vec<Vec<Endpoint>> = endpoints.chunks(MAX_ENDPOINTS).map(<[_]>::to_vec).collect();
        if parts.is_empty() {
            parts.push(Vec::new());
        }
        for (number, part) in parts.into_iter().enumerate() {
            // Its name follows from what it is: made again after an answer was lost, it is the same.
            let key = serde_json::json!([service.uid(), format!("{common:?}"), number, alone]);
            let name = format!("{}-{}", service.name_any(), hash::name(&key, 0));
            let mut slice = slice(service, spec, name, &common, part)?;
            slice.labels_mut().insert(MANAGED_BY.to_owned(), manager(alone).to_owned());
            slices.push(slice);
        }
    }
    Ok(slices)
}

fn slice(
    service: &Service,
    spec: &ServiceSpec,
    name: String,
    common: &Common,
    endpoints: Vec<Endpoint>,
) -> Result<EndpointSlice, Error> {
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.insert(SERVICE_NAME.to_owned(), service.name_any());
    if spec.cluster_ip.as_deref() == Some("None") {
        labels.insert(HEADLESS.to_owned(), String::new());
    }
    Ok(EndpointSlice {
        address_type: common.kind.to_owned(),
        metadata: ObjectMeta {
            name: Some(name),
            generate_name: Some(format!("{}-", service.name_any())),
            namespace: service.namespace(),
            labels: Some(labels),
            owner_references: Some(vec![ownership::owner(service)?]),
            ..ObjectMeta::default()
        },
        endpoints: Some(endpoints),
        ports: Some(common.ports.clone()),
    })
}

fn endpoint(service: &Service, spec: &ServiceSpec, pod: &Pod) -> Option<(&'static str, Endpoint)> {
    let address = pod.status.as_ref()?.pod_ip.clone().filter(|address| !address.is_empty())?;
    let (kind, address) = names::written(&address, &pod.namespace().unwrap_or_default());
    let (serving, ending) = (pods::is_ready(pod), pods::is_ending(pod));
    let published = spec.publish_not_ready_addresses == Some(true);
    let pod_spec = pod.spec.as_ref()?;
    let is_named = pod_spec.subdomain.is_some() && pod_spec.subdomain == service.metadata.name;
    let endpoint = Endpoint {
        addresses: vec![address],
        conditions: Some(EndpointConditions {
            ready: Some(published || serving && !ending),
            serving: Some(serving),
            terminating: Some(ending),
        }),
        hostname: pod_spec.hostname.clone().filter(|_| is_named),
        node_name: pod_spec.node_name.clone(),
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            name: pod.metadata.name.clone(),
            namespace: pod.metadata.namespace.clone(),
            uid: pod.metadata.uid.clone(),
            ..ObjectReference::default()
        }),
        ..Endpoint::default()
    };
    Some((kind, endpoint))
}

/// The port of a Pod that a port of a Service leads to.
fn resolved(port: &ServicePort, pod: &Pod) -> Option<EndpointPort> {
    let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
    let number = match &port.target_port {
        None | Some(IntOrString::Int(0)) => port.port,
        Some(IntOrString::Int(number)) => *number,
        Some(IntOrString::String(name)) => {
            let containers = &pod.spec.as_ref()?.containers;
            let mut ports = containers.iter().flat_map(|container| container.ports.iter().flatten());
            let of_name = |it: &&k8s_openapi::api::core::v1::ContainerPort| {
                it.name.as_ref() == Some(name) && it.protocol.as_deref().unwrap_or("TCP") == protocol
            };
            ports.find(of_name)?.container_port
        }
    };
    Some(EndpointPort {
        app_protocol: port.app_protocol.clone(),
        name: Some(port.name.clone().unwrap_or_default()),
        port: Some(number),
        protocol: Some(protocol),
    })
}
