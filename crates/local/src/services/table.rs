//! What listens where, and to whom it leads: computed from Services and `EndpointSlices`, without sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;

use super::names;
use super::slices::SERVICE_NAME;

/// For how long a client stays with an endpoint if nothing is said, as on a real cluster.
const STICKY: Duration = Duration::from_secs(10_800);

/// An object by namespace and name.
pub(super) type Key = (String, String);

/// A place to listen, and to whom it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The Service that it is of.
    pub(super) service: Key,
    /// For how long a client stays with its endpoint; None: each connection goes to the next.
    pub(super) sticky: Option<Duration>,
    /// The endpoints that are ready.
    pub(super) endpoints: BTreeSet<SocketAddr>,
}

/// Everything that listens.
pub(super) type Table = BTreeMap<SocketAddr, Entry>;

/// Computes the table. Of two Services that want the same place, the first by name has it.
pub(super) fn table<'a>(
    services: impl Iterator<Item = &'a Service>,
    slices: &BTreeMap<Key, EndpointSlice>,
) -> Table {
    let mut table = Table::new();
    let mut by_service: BTreeMap<Key, Vec<&EndpointSlice>> = BTreeMap::new();
    for slice in slices.values() {
        if let Some(service) = service_of(slice) {
            by_service.entry(service).or_default().push(slice);
        }
    }
    for service in services {
        let Some(spec) = &service.spec else { continue };
        let key = (service.namespace().unwrap_or_default(), service.name_any());
        let own = by_service.get(&key).map_or(&[][..], Vec::as_slice);
        for port in spec.ports.iter().flatten().filter(|port| is_tcp(port.protocol.as_deref())) {
            let entry = Entry { service: key.clone(), sticky: sticky(spec), endpoints: endpoints(port, own) };
            for place in places(spec, port) {
                table.entry(place).or_insert_with(|| entry.clone());
            }
        }
    }
    table
}

/// The Service that a slice is of.
fn service_of(slice: &EndpointSlice) -> Option<Key> {
    Some((slice.namespace()?, slice.labels().get(SERVICE_NAME)?.clone()))
}

fn is_tcp(protocol: Option<&str>) -> bool {
    protocol.is_none_or(|protocol| protocol == "TCP")
}

fn sticky(spec: &ServiceSpec) -> Option<Duration> {
    if spec.session_affinity.as_deref() != Some("ClientIP") {
        return None;
    }
    let config = spec.session_affinity_config.as_ref().and_then(|config| config.client_ip.as_ref());
    let seconds = config.and_then(|config| config.timeout_seconds);
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    Some(seconds.map_or(STICKY, Duration::from_secs))
}

/// Where a port is listened on: the address of the Service, and its node port.
fn places(spec: &ServiceSpec, port: &ServicePort) -> Vec<SocketAddr> {
    let number = |number: i32| u16::try_from(number).ok().filter(|number| *number > 0);
    let address = spec.cluster_ip.as_deref().and_then(|address| address.parse::<IpAddr>().ok());
    let of_service = address.zip(number(port.port)).map(SocketAddr::from);
    let of_node = port.node_port.and_then(number);
    let of_node = of_node.map(|number| SocketAddr::from((Ipv4Addr::LOCALHOST, number)));
    of_service.into_iter().chain(of_node).collect()
}

fn endpoints(port: &ServicePort, slices: &[&EndpointSlice]) -> BTreeSet<SocketAddr> {
    let wanted = port.name.as_deref().unwrap_or_default();
    let mut found = BTreeSet::new();
    for slice in slices {
        let mut ports = slice.ports.iter().flatten();
        let number = ports
            .find(|it| it.name.as_deref().unwrap_or_default() == wanted && is_tcp(it.protocol.as_deref()));
        let Some(number) = number.and_then(|it| u16::try_from(it.port?).ok()) else { continue };
        for endpoint in slice.endpoints.iter().flatten() {
            // What nothing is said of is ready.
            let ready = endpoint.conditions.as_ref().and_then(|conditions| conditions.ready).unwrap_or(true);
            let addresses = endpoint.addresses.iter().filter_map(|address| names::read(address));
            if ready {
                found.extend(addresses.map(|address| SocketAddr::from((address, number))));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_ready_endpoints_of_the_named_port_are_led_to() {
        let service: Service = serde_json::from_value(json!({
            "metadata": {"name": "db", "namespace": "n"},
            "spec": {"clusterIP": "127.78.0.9", "type": "NodePort", "ports": [
                {"name": "sql", "port": 3306, "nodePort": 30306}, {"name": "udp", "port": 1, "protocol": "UDP"},
            ]},
        }))
        .unwrap();
        let headless: Service = serde_json::from_value(json!({
            "metadata": {"name": "all", "namespace": "n"},
            "spec": {"clusterIP": "None", "ports": [{"name": "sql", "port": 3306}]},
        }))
        .unwrap();
        let slice: EndpointSlice = serde_json::from_value(json!({
            "metadata": {"name": "db-x", "namespace": "n", "labels": {"kubernetes.io/service-name": "db"}},
            "addressType": "FQDN", "ports": [{"name": "other", "port": 1}, {"name": "sql", "port": 33, "protocol": "TCP"}],
            "endpoints": [
                {"addresses": ["127.77.0.1"], "conditions": {"ready": true}},
                {"addresses": ["127.77.0.2"], "conditions": {"ready": false}},
                {"addresses": ["127.77.0.3"]},
            ],
        }))
        .unwrap();
        let slices = BTreeMap::from([(("n".to_owned(), "db-x".to_owned()), slice)]);
        let table = table([&headless, &service].into_iter(), &slices);
        let places: Vec<_> = table.keys().map(ToString::to_string).collect();
        assert_eq!(places, ["127.0.0.1:30306", "127.78.0.9:3306"]);
        let ready: Vec<_> =
            table.values().next().unwrap().endpoints.iter().map(ToString::to_string).collect();
        assert_eq!(ready, ["127.77.0.1:33", "127.77.0.3:33"]);
    }
}
