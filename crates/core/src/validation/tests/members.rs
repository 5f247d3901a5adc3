//! A Member and what it refers to.

use super::*;

fn member(external: bool) -> Member {
    let mut object = json!({
        "apiVersion": "muster.dev/v1alpha1",
        "kind": "Member",
        "metadata": {"name": "orders-a-0"},
        "spec": {"clusterName": "orders", "pool": "a"},
    });
    if external {
        object["spec"]["external"] = json!({"address": "host", "credentials": {"secretName": "agent"}});
    } else {
        object["spec"]["storage"] = json!([{"device": "/dev/sdb"}, {"pvcName": "meta"}]);
    }
    read(object)
}

fn ask(external: bool, cluster: Lookup<()>, secret: Option<Lookup<SecretFacts>>) -> Report {
    let secrets = secret.map(|facts| ("agent".to_owned(), facts)).into_iter().collect();
    check_member(&member(external), &MemberReferences { cluster, secrets })
}

#[test]
fn its_cluster_exists_in_its_namespace() {
    assert!(ask(false, Lookup::Found(()), None).is_valid());
    let missing = ask(false, Lookup::NotFound, None);
    assert_eq!(
        texts(&missing),
        ["spec.clusterName: there is no ReplicatedCluster \"orders\" in this namespace"]
    );
    let unknown = ask(false, unreadable(), None).finding();
    assert_eq!(unknown.truth, Truth::Unknown);
    assert_eq!(unknown.message, "spec.clusterName: ReplicatedCluster \"orders\": forbidden");
}

#[test]
fn its_credentials_are_complete() {
    let all = found(&["ca.crt", "tls.crt", "tls.key"], false);
    assert!(ask(true, Lookup::Found(()), Some(all)).is_valid());
    let partial = ask(true, Lookup::Found(()), Some(found(&["tls.crt"], false)));
    assert_eq!(
        texts(&partial),
        [
            "spec.external.credentials.secretName: Secret \"agent\" has no key ca.crt",
            "spec.external.credentials.secretName: Secret \"agent\" has no key tls.key",
        ]
    );
    assert_eq!(ask(true, Lookup::Found(()), Some(Lookup::NotFound)).finding().truth, Truth::False);
    assert_eq!(ask(true, Lookup::Found(()), None).finding().truth, Truth::Unknown);
}

#[test]
fn its_affinity_and_workload_are_checked() {
    let mut member = member(false);
    member.spec.node_affinity = Some(read(json!({
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {}}],
    })));
    member.spec.workload = Some(read(json!({
        "version": "1", "config": "c", "tolerations": [{"key": "-"}], "resources": {"limits": {"cpu": -1}},
    })));
    let none = MemberReferences { cluster: Lookup::Found(()), secrets: BTreeMap::new() };
    let report = check_member(&member, &none);
    let paths: Vec<&str> = report.violations.iter().map(|v| v.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "spec.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
            "spec.workload.tolerations[0].key",
            "spec.workload.resources.limits[cpu]",
        ]
    );
}

#[test]
fn its_devices_are_devices_and_the_agent_has_a_volume() {
    let with = |storage: Value| {
        let mut member = member(false);
        member.spec.storage = read(storage);
        let references = MemberReferences { cluster: Lookup::Found(()), secrets: BTreeMap::new() };
        let report = check_member(&member, &references);
        report.violations.into_iter().map(|violation| violation.path).collect::<Vec<_>>()
    };
    assert!(with(json!([{"pvcName": "a"}, {"device": "/dev/disk/by-id/x"}])).is_empty());
    assert_eq!(with(json!([{"device": "/dev/sdb"}])), ["spec.storage"]);
    for wrong in ["/etc/shadow", "/dev/../etc/shadow", "/dev", "/dev/", "/devices/x"] {
        assert_eq!(with(json!([{"pvcName": "a"}, {"device": wrong}])), ["spec.storage[1].device"], "{wrong}");
    }
}
