//! Services.

use serde_json::{Value, json};

use crate::compare::{Creation, change, compare, create, create_loosely, create_really};
use crate::server::{Sides, Stays};

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "service"},
        "spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]},
    })
}

/// Addresses.
fn addresses() -> Vec<Creation> {
    vec![
        create("minimal", json!({})),
        create("headless", json!({"/spec/clusterIP": "None"})),
        create("headless without ports", json!({"/spec/clusterIP": "None", "/spec/ports": null})),
        create("headless without selector", json!({"/spec/clusterIP": "None", "/spec/selector": null})),
        create("without selector", json!({"/spec/selector": null})),
        create("address of its own", json!({"/spec/clusterIP": "10.0.0.77"})),
        create(
            "addresses of its own",
            json!({"/spec/clusterIP": "10.0.0.77", "/spec/clusterIPs": ["10.0.0.77"]}),
        ),
        create("list without address", json!({"/spec/clusterIPs": ["10.0.0.77"]})),
        create(
            "other address in the list",
            json!({"/spec/clusterIP": "10.0.0.77", "/spec/clusterIPs": ["10.0.0.78"]}),
        ),
        create("taken address", json!({"/spec/clusterIP": "10.0.0.10"})),
        create_really("taken address", json!({"/spec/clusterIP": "10.0.0.10"})),
        create("address elsewhere", json!({"/spec/clusterIP": "10.9.0.1"})),
        create_really("address elsewhere", json!({"/spec/clusterIP": "10.9.0.1"})),
        create("first address", json!({"/spec/clusterIP": "10.0.0.0"})),
        create_really("first address", json!({"/spec/clusterIP": "10.0.0.0"})),
        create("no address", json!({"/spec/clusterIP": "x"})),
        create("address of version 6", json!({"/spec/clusterIP": "2001:db8::1"})),
    ]
}

/// Types, and the ports that come with them.
fn types() -> Vec<Creation> {
    let node_port = |port: i64| json!({"/spec/type": "NodePort", "/spec/ports/0/nodePort": port});
    vec![
        create("node port", json!({"/spec/type": "NodePort"})),
        create("node port of its own", node_port(30077)),
        create("taken node port", node_port(30001)),
        create_really("taken node port", node_port(30001)),
        create("node port elsewhere", node_port(80)),
        create_really("node port elsewhere", node_port(80)),
        create(
            "node ports of one port",
            json!({"/spec/type": "NodePort", "/spec/ports": [
            {"name": "a", "port": 53, "protocol": "UDP", "nodePort": 30053}, {"name": "b", "port": 53, "nodePort": 30053}]}),
        ),
        create("node port of a cluster address", json!({"/spec/ports/0/nodePort": 30077})),
        create("balancer", json!({"/spec/type": "LoadBalancer"})),
        create(
            "balancer without ports",
            json!({"/spec/type": "LoadBalancer", "/spec/allocateLoadBalancerNodePorts": false}),
        ),
        create(
            "local balancer",
            json!({"/spec/type": "LoadBalancer", "/spec/externalTrafficPolicy": "Local"}),
        ),
        create("headless balancer", json!({"/spec/type": "LoadBalancer", "/spec/clusterIP": "None"})),
        create("headless node port", json!({"/spec/type": "NodePort", "/spec/clusterIP": "None"})),
        create("external name", json!({"/spec/type": "ExternalName", "/spec/externalName": "example.org"})),
        create("external without name", json!({"/spec/type": "ExternalName"})),
        create("wrong external name", json!({"/spec/type": "ExternalName", "/spec/externalName": "a_b"})),
        create(
            "external with address",
            json!({"/spec/type": "ExternalName", "/spec/externalName": "a", "/spec/clusterIP": "10.0.0.9"}),
        ),
        create("unknown type", json!({"/spec/type": "Magic"})),
    ]
}

/// Ports.
fn ports() -> Vec<Creation> {
    let ports = |ports: Value| json!({"/spec/ports": ports});
    vec![
        create("no ports", json!({"/spec/ports": null})),
        create("port 0", ports(json!([{"port": 0}]))),
        create("large port", ports(json!([{"port": 70000}]))),
        create("two ports without names", ports(json!([{"port": 1}, {"port": 2}]))),
        create(
            "two ports",
            ports(json!([{"name": "a", "port": 1}, {"name": "b", "port": 2, "targetPort": "web"}])),
        ),
        create("name twice", ports(json!([{"name": "a", "port": 1}, {"name": "a", "port": 2}]))),
        create_loosely("port twice", ports(json!([{"name": "a", "port": 1}, {"name": "b", "port": 1}]))),
        create("wrong name", ports(json!([{"name": "A", "port": 1}]))),
        create("wrong protocol", ports(json!([{"port": 1, "protocol": "ICMP"}]))),
        create("wrong target", ports(json!([{"port": 1, "targetPort": "Web_Port"}]))),
        create("target 0", ports(json!([{"port": 1, "targetPort": 0}]))),
    ]
}

/// Policies and families.
fn policies() -> Vec<Creation> {
    vec![
        create("sticky", json!({"/spec/sessionAffinity": "ClientIP"})),
        create(
            "too sticky",
            json!({"/spec/sessionAffinity": "ClientIP", "/spec/sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 100_000}}}),
        ),
        create(
            "not sticky with config",
            json!({"/spec/sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}),
        ),
        create("wrong affinity", json!({"/spec/sessionAffinity": "Love"})),
        create("wrong selector", json!({"/spec/selector": {"a b": "c"}})),
        create("external addresses", json!({"/spec/externalIPs": ["1.2.3.4"]})),
        create("wrong external addresses", json!({"/spec/externalIPs": ["x", "127.0.0.1", "0.0.0.0"]})),
        create("traffic policy", json!({"/spec/externalTrafficPolicy": "Local"})),
        create(
            "wrong traffic policy",
            json!({"/spec/type": "NodePort", "/spec/externalTrafficPolicy": "Far"}),
        ),
        create("wrong internal policy", json!({"/spec/internalTrafficPolicy": "Far"})),
        create("health port", json!({"/spec/healthCheckNodePort": 30055})),
        create("both families", json!({"/spec/ipFamilyPolicy": "PreferDualStack"})),
        create("both families required", json!({"/spec/ipFamilyPolicy": "RequireDualStack"})),
        create("version 6", json!({"/spec/ipFamilies": ["IPv6"]})),
        create("two families", json!({"/spec/ipFamilies": ["IPv4", "IPv6"]})),
        create("unknown family", json!({"/spec/ipFamilies": ["IPv5"]})),
        create("unknown family policy", json!({"/spec/ipFamilyPolicy": "Any"})),
        create("ranges", json!({"/spec/loadBalancerSourceRanges": ["1.2.3.0/24"]})),
        create("class", json!({"/spec/loadBalancerClass": "example.org/a"})),
        create("publish", json!({"/spec/publishNotReadyAddresses": true})),
    ]
}

#[tokio::test]
async fn services_are_made_as_on_the_real_server() {
    let sides = Sides::new().await;
    let mut other = service();
    other["metadata"]["name"] = json!("taken");
    other["spec"] =
        json!({"type": "NodePort", "clusterIP": "10.0.0.10", "ports": [{"port": 1, "nodePort": 30001}]});
    for server in sides.of(&other) {
        server.create(&other, Stays::Yes).await.unwrap();
    }
    let creations = [addresses(), types(), ports(), policies()].into_iter().flatten().collect();
    compare(&sides, &service(), creations, Vec::new()).await;
    for server in sides.of(&other) {
        server.delete("taken", "").await.unwrap();
    }
}

#[tokio::test]
async fn services_change_as_on_the_real_server() {
    let node_port = json!({"/spec/type": "NodePort"});
    let without = json!({"/spec/clusterIP": null, "/spec/clusterIPs": null});
    let changes = vec![
        change("nothing", json!({})),
        change("port", json!({"/spec/ports/0/port": 81})),
        change("addresses left out", without.clone()),
        change("other address", json!({"/spec/clusterIP": "10.0.0.9"})),
        change("other addresses", json!({"/spec/clusterIP": "10.0.0.9", "/spec/clusterIPs": ["10.0.0.9"]})),
        change("to headless", json!({"/spec/clusterIP": "None", "/spec/clusterIPs": ["None"]})),
        change("to node port", json!({"/spec/type": "NodePort"})),
        change("to balancer", json!({"/spec/type": "LoadBalancer"})),
        change("to external name", json!({"/spec/type": "ExternalName", "/spec/externalName": "a.b"})),
        change(
            "to external name by an old client",
            json!({"/spec/type": "ExternalName", "/spec/externalName": "a.b", "/spec/clusterIPs": null}),
        ),
        change("from node port", json!({"/spec/type": "ClusterIP"})).before(node_port.clone()),
        change("node port left out", json!({"/spec/ports/0/nodePort": null})).before(node_port.clone()),
        change("other node port", json!({"/spec/ports/0/nodePort": 30050})).before(node_port.clone()),
        change("another port", json!({"/spec/ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}))
            .before(node_port),
        change("from external name", json!({"/spec/type": "ClusterIP", "/spec/externalName": null}))
            .before(json!({"/spec/type": "ExternalName", "/spec/externalName": "a.b"})),
        change("from balancer", json!({"/spec/type": "ClusterIP"}))
            .before(json!({"/spec/type": "LoadBalancer"})),
        change("balancer to node port", json!({"/spec/type": "NodePort"}))
            .before(json!({"/spec/type": "LoadBalancer"})),
        change("headless keeps", without).before(json!({"/spec/clusterIP": "None"})),
        change("selector", json!({"/spec/selector": {"b": "c"}})),
        change("status", json!({"/status/loadBalancer/ingress": [{"ip": "1.2.3.4"}]}))
            .before(json!({"/spec/type": "LoadBalancer"}))
            .of_status(),
    ];
    compare(&Sides::new().await, &service(), Vec::new(), changes).await;
}
