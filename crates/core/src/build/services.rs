//! The Services of a cluster: for clients (primaries), for readers (secondaries), and the headless one by which members
//! find each other and the operator finds their agents.

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use muster_api::ReplicatedCluster;
use muster_api::cluster::ServiceType;
use muster_api::engine::{Protocol, ReplicationEngineSpec};
use muster_api::names::{AGENT_PORT, AGENT_PROBE_PORT, LABEL_ROLE, Role};

use super::{names, owners};

/// The name of the clients' port.
const CLIENT: &str = "client";
/// The names of the agent's ports; engines cannot have names that start so.
pub(super) const AGENT_PORT_NAME: &str = "muster-agent";
pub(super) const PROBE_PORT_NAME: &str = "muster-probe";
/// The clients' port where an engine calls another one `client`.
const OWN_CLIENT: &str = "muster-client";

/// The Service that clients use: the Pods that are primary now.
pub fn client(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> Service {
    let wanted = &cluster.spec.service;
    let mut service =
        by_role(cluster, engine, names::client_service(names::of_cluster(cluster)), Role::Primary);
    service.metadata.annotations = (!wanted.annotations.is_empty()).then(|| wanted.annotations.clone());
    if let Some(spec) = &mut service.spec {
        spec.type_ = Some(wanted.type_.as_str().to_owned());
    }
    service
}

/// The Service for readers: the Pods that are secondary now.
pub fn replicas(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> Service {
    by_role(cluster, engine, names::replicas_service(names::of_cluster(cluster)), Role::Secondary)
}

/// The headless Service: every member, ready or not, because they form the cluster before any of them is ready.
pub fn members(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> Service {
    let of = names::of_cluster(cluster);
    let mut service = named(cluster, names::members_service(of));
    service.spec = Some(ServiceSpec {
        type_: Some(ServiceType::ClusterIP.as_str().to_owned()),
        cluster_ip: Some("None".to_owned()),
        publish_not_ready_addresses: Some(true),
        selector: Some(names::members_selector(of)),
        ports: Some(all_ports(engine)),
        ..ServiceSpec::default()
    });
    service
}

fn named(cluster: &ReplicatedCluster, name: String) -> Service {
    let labels = names::cluster_labels(names::of_cluster(cluster));
    let metadata = names::metadata(name, cluster.metadata.namespace.as_ref(), labels);
    Service { metadata: owners::owned(metadata, owners::by_cluster(cluster)), spec: None, status: None }
}

fn by_role(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec, name: String, role: Role) -> Service {
    let mut selector = names::cluster_labels(names::of_cluster(cluster));
    selector.insert(LABEL_ROLE.to_owned(), role.as_str().to_owned());
    let mut service = named(cluster, name);
    service.spec = Some(ServiceSpec {
        type_: Some(ServiceType::ClusterIP.as_str().to_owned()),
        selector: Some(selector),
        ports: Some(vec![port(CLIENT, engine.client_port, Protocol::Tcp)]),
        ..ServiceSpec::default()
    });
    service
}

fn port(name: &str, number: i32, protocol: Protocol) -> ServicePort {
    ServicePort {
        name: Some(name.to_owned()),
        port: number,
        protocol: Some(protocol.as_str().to_owned()),
        // Said, though it is the default: so it is put back when someone else changes it.
        target_port: Some(IntOrString::Int(number)),
        ..ServicePort::default()
    }
}

/// The clients' port, the engine's, the agent's. An engine may name its clients' port among the others; a Service has each
/// port once.
fn all_ports(engine: &ReplicationEngineSpec) -> Vec<ServicePort> {
    let mut ports: Vec<ServicePort> =
        engine.ports.iter().map(|own| port(&own.name, own.port, own.protocol)).collect();
    let listed = |own: &muster_api::engine::EnginePort| {
        own.port == engine.client_port && own.protocol == Protocol::Tcp
    };
    if !engine.ports.iter().any(listed) {
        let taken = engine.ports.iter().any(|own| own.name == CLIENT);
        let name = if taken { OWN_CLIENT } else { CLIENT };
        ports.insert(0, port(name, engine.client_port, Protocol::Tcp));
    }
    ports.push(port(AGENT_PORT_NAME, AGENT_PORT, Protocol::Tcp));
    ports.push(port(PROBE_PORT_NAME, AGENT_PROBE_PORT, Protocol::Tcp));
    ports
}
