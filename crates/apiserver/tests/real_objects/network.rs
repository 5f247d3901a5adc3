//! `Endpoints` and `EndpointSlice`.

use muster_apiserver::lifecycle::Part;
use serde_json::{Value, json};

use crate::bench::Bench;

/// Addresses in every form.
const ADDRESSES: [&str; 15] = [
    "1.2.3.4",
    "01.2.3.4",
    "1.2.3",
    "1.2.3.256",
    "::ffff:1.2.3.4",
    "2001:db8::1",
    "2001:DB8::1",
    "2001:db8:0::1",
    "fe80::1",
    "169.254.1.1",
    "127.0.0.1",
    "::1",
    "0.0.0.0",
    "224.0.0.1",
    "x",
];

#[test]
fn real_endpoints_are_the_same() {
    let mut bench = Bench::new("v1", "Endpoints", "/api/v1/namespaces/default/endpoints");
    let address = |address: Value| json!({"subsets": [{"addresses": [address]}]});
    let ports =
        |ports: Value| json!({"subsets": [{"notReadyAddresses": [{"ip": "1.2.3.4"}], "ports": ports}]});
    let mut changes = vec![
        json!({}),
        json!({"subsets": [{}]}),
        address(
            json!({"ip": "1.2.3.4", "hostname": "a", "nodeName": "n", "targetRef": {"kind": "Pod", "name": "a"}}),
        ),
        address(json!({"ip": "1.2.3.4", "hostname": "a.b", "nodeName": "N"})),
        ports(json!([{"port": 1}])),
        ports(
            json!([{"port": 1, "name": "a", "protocol": "UDP", "appProtocol": "x.y/z"}, {"port": 2, "name": "b"}]),
        ),
        ports(json!([{"port": 0, "name": "A", "protocol": "HTTP", "appProtocol": "a b"}])),
        ports(json!([{"port": 65536}, {"port": 2, "name": "b"}])),
        json!({"metadata": {"labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}}, "subsets": [{"addresses": [{"ip": "2001:DB8::1"}]}]}),
    ];
    changes.extend(ADDRESSES.iter().map(|ip| address(json!({"ip": ip}))));
    bench.creations(&json!({}), &changes);
    let stored =
        bench.create(&json!({"metadata": {"name": "ends"}, "subsets": [{"addresses": [{"ip": "1.2.3.4"}]}]}));
    bench.updates(
        &stored,
        Part::Whole,
        &[json!({}), json!({"subsets": null}), json!({"subsets": [{"addresses": [{"ip": "x"}]}]})],
    );
    bench.assert_same(27);
}

#[test]
fn real_endpoint_slices_are_the_same() {
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let mut bench = Bench::new("discovery.k8s.io/v1", "EndpointSlice", path);
    let endpoint = |endpoint: Value| json!({"addressType": "IPv4", "endpoints": [endpoint]});
    let fine = |rest: Value| endpoint(crate::bench::changed(&json!({"addresses": ["1.2.3.4"]}), &rest));
    let names = |all: &[&str]| -> Value { all.iter().map(|name| json!({"name": name})).collect() };
    let ports = |ports: Value| json!({"addressType": "IPv4", "ports": ports});
    let mut changes = vec![
        json!({}),
        json!({"addressType": "IPv5"}),
        json!({"addressType": "IPv4"}),
        endpoint(json!({})),
        endpoint(json!({"addresses": vec!["1.2.3.4"; 101]})),
        fine(json!({"conditions": {"ready": true}, "hostname": "a", "nodeName": "n", "zone": "z"})),
        fine(json!({"hostname": "a.b", "nodeName": "N", "deprecatedTopology": {"a": "b"}})),
        fine(json!({"hints": {"forZones": names(&["a", "b"]), "forNodes": names(&["n"])}})),
        fine(json!({"hints": {"forZones": names(&["a", "a", "-"]), "forNodes": names(&["n", "N", "n"])}})),
        fine(json!({"hints": {"forZones": names(&["x"; 9])}})),
        fine(json!({"hints": {"forNodes": names(&["x"; 9])}})),
        ports(json!([{}])),
        ports(json!([{"name": "a", "port": 1, "protocol": "SCTP", "appProtocol": "x.y/z"}, {"port": 70000}])),
        ports(json!([{"name": "a"}, {"name": "a"}, {"name": "A", "protocol": "HTTP", "appProtocol": "a b"}])),
        json!({"addressType": "IPv4", "endpoints": vec![json!({"addresses": ["1.2.3.4"]}); 1001]}),
        json!({"metadata": {"labels": {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}}, "addressType": "FQDN"}),
    ];
    for kind in ["IPv4", "IPv6"] {
        changes.extend(
            ADDRESSES.iter().map(|ip| json!({"addressType": kind, "endpoints": [{"addresses": [ip]}]})),
        );
    }
    for name in ["a.b", "a.b.", "a", "", "A.b", &format!("{}.b", "a".repeat(64))] {
        changes.push(json!({"addressType": "FQDN", "endpoints": [{"addresses": [name]}]}));
    }
    bench.creations(&json!({}), &changes);
    let stored = bench.create(&json!({"metadata": {"name": "slice"}, "addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}]}));
    bench.updates(
        &stored,
        Part::Whole,
        &[
            json!({}),
            json!({"addressType": "IPv6"}),
            json!({"addressType": "IPv6", "endpoints": null}),
            json!({"endpoints": null, "ports": [{"port": 1}]}),
            json!({"metadata": {"labels": {"a": "b"}}}),
        ],
    );
    bench.assert_same(57);
}
