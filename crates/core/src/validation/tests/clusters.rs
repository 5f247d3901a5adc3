//! A cluster and what it refers to.

use super::*;

#[test]
fn everything_found_is_valid() {
    let report = where_is(|_| {});
    assert!(report.is_valid(), "{report:?}");
    let finding = report.finding();
    assert_eq!((finding.truth, finding.reason.as_str()), (Truth::True, "Valid"));
}

#[test]
fn what_does_not_exist_is_a_violation() {
    type Change = fn(&mut ClusterReferences);
    let rows: [(Change, &str); 7] = [
        (|r| r.engine = Lookup::NotFound, "spec.engine.name: there is no ReplicationEngine \"ledger\""),
        (
            |r| drop(r.storage_classes.insert("fast".into(), Lookup::NotFound)),
            "spec.pools[0].storage.storageClassName: there is no StorageClass \"fast\"",
        ),
        (
            |r| r.default_storage_class = Lookup::NotFound,
            "spec.pools[1].storage.storageClassName: there is no default StorageClass: name one",
        ),
        (
            |r| drop(r.secrets.insert("ca".into(), Lookup::NotFound)),
            "spec.certificateAuthority.secretName: there is no Secret \"ca\" in this namespace",
        ),
        (
            |r| drop(r.secrets.insert("replication".into(), Lookup::NotFound)),
            "spec.replication.credentials.secretName: there is no Secret \"replication\" in this namespace",
        ),
        (
            |r| drop(r.secrets.insert("far".into(), Lookup::NotFound)),
            "spec.replication.targets[0].credentials.secretName: there is no Secret \"far\" in this namespace",
        ),
        (
            |r| r.namespace_labels = Lookup::NotFound,
            "spec.engine.name: ReplicationEngine \"ledger\" may not be used in this namespace",
        ),
    ];
    for (change, expected) in rows {
        let report = where_is(change);
        assert_eq!(texts(&report), [expected]);
        let finding = report.finding();
        assert_eq!((finding.truth, finding.reason.as_str()), (Truth::False, "Invalid"));
        assert_eq!(finding.message, expected);
    }
}

#[test]
fn what_cannot_be_read_is_unknown() {
    type Change = fn(&mut ClusterReferences);
    let rows: [(Change, &str); 7] = [
        (|r| r.engine = unreadable(), "spec.engine.name: ReplicationEngine \"ledger\": forbidden"),
        (
            |r| drop(r.storage_classes.insert("fast".into(), unreadable())),
            "spec.pools[0].storage.storageClassName: StorageClass \"fast\": forbidden",
        ),
        (
            |r| r.storage_classes.clear(),
            "spec.pools[0].storage.storageClassName: StorageClass \"fast\": it was not looked at",
        ),
        (
            |r| r.default_storage_class = unreadable(),
            "spec.pools[1].storage.storageClassName: the default StorageClass: forbidden",
        ),
        (
            |r| drop(r.secrets.insert("ca".into(), unreadable())),
            "spec.certificateAuthority.secretName: Secret \"ca\": forbidden",
        ),
        (
            |r| drop(r.secrets.remove("ca")),
            "spec.certificateAuthority.secretName: Secret \"ca\": it was not looked at",
        ),
        (|r| r.namespace_labels = unreadable(), "spec.engine.name: the namespace: forbidden"),
    ];
    for (change, expected) in rows {
        let report = where_is(change);
        assert!(!report.is_valid());
        let finding = report.finding();
        assert_eq!((finding.truth, finding.reason.as_str()), (Truth::Unknown, "ReferenceUnreadable"));
        assert_eq!(finding.message, expected);
    }
}

#[test]
fn a_violation_outweighs_what_cannot_be_read() {
    let report = where_is(|r| {
        r.engine = Lookup::NotFound;
        r.default_storage_class = unreadable();
    });
    assert_eq!(report.finding().truth, Truth::False);
    assert_eq!(report.unreadable.len(), 1);
}

#[test]
fn a_ca_must_be_one() {
    let report = where_is(|r| drop(r.secrets.insert("ca".into(), found(&["tls.crt"], false))));
    let expected = "spec.certificateAuthority.secretName: tls.crt in Secret \"ca\" is not a CA certificate";
    assert_eq!(texts(&report), [expected]);
    let report = where_is(|r| drop(r.secrets.insert("ca".into(), found(&["other"], false))));
    assert_eq!(texts(&report), ["spec.certificateAuthority.secretName: Secret \"ca\" has no key tls.crt"]);
}

#[test]
fn the_engine_has_its_say() {
    assert_eq!(
        with("/spec/engine/version", json!("2.0")),
        ["spec.engine.version: \"2.0\" is not one of the engine's versions: 1.0, 0.9"]
    );
    assert_eq!(
        with("/spec/engine/parameters", json!({"other": "1"})),
        ["spec.engine.parameters[other]: the engine has no such parameter"]
    );
    let wrong = with("/spec/engine/parameters", json!({"batch_size": "x50"}));
    assert_eq!(wrong, ["spec.engine.parameters[batch_size]: \"x50\" does not match \"[1-9][0-9]{0,4}\""]);
    assert_eq!(
        with("/spec/engine/parameters", json!({"batch_size": "50x"})).len(),
        1,
        "the whole value matches"
    );
    assert_eq!(with("/spec/primaries", json!(2)), ["spec.primaries: the engine allows at most 1"]);
    assert_eq!(
        with("/spec/drivers/0/name", json!("csi")),
        ["spec.drivers[0].name: the engine has no driver \"csi\""]
    );
}

#[test]
fn as_few_members_as_the_engine_needs() {
    let needs = |fewest: i32, pools: Value| {
        let mut object = cluster();
        object["spec"]["pools"] = pools;
        let mut references = references();
        let mut spec: ReplicationEngineSpec = read(engine());
        spec.topology.min_members = fewest;
        references.engine = Lookup::Found(spec);
        texts(&check_cluster(&read(object), &references))
    };
    let pool = |name: &str, threshold: Value| json!({"name": name, "threshold": threshold, "storage": {"capacity": "1Gi"}});
    let two = json!([pool("a", json!({"nodes": 1})), pool("b", json!({"minNodes": 1}))]);
    assert_eq!(needs(2, two.clone()), Vec::<String>::new());
    assert_eq!(needs(3, two), ["spec.pools: the engine needs at least 3 members, and these pools come to 2"]);
    assert_eq!(
        needs(3, json!([pool("a", json!({"freeStorageMin": "1Gi"}))])),
        Vec::<String>::new(),
        "it may grow"
    );
    assert_eq!(needs(3, json!([pool("a", json!({"nodes": 0}))])), Vec::<String>::new(), "parked");
}

#[test]
fn an_engine_that_does_not_hold_together_is_named() {
    let report = where_is(|r| {
        let mut spec = engine();
        spec["parameters"][0]["pattern"] = json!("[");
        spec["parameters"][0]["default"] = Value::Null;
        r.engine = Lookup::Found(read(spec));
    });
    let first = &texts(&report)[0];
    assert!(
        first.starts_with(
            "spec.engine.name: ReplicationEngine \"ledger\" is not valid: spec.parameters[0].pattern"
        ),
        "{first}"
    );
}

#[test]
fn the_namespace_is_selected() {
    let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let allowed = |selector: Value, pairs: &[(&str, &str)]| {
        where_is(|r| {
            let mut spec = engine();
            spec["namespaceSelector"] = selector.clone();
            r.engine = Lookup::Found(read(spec));
            r.namespace_labels = Lookup::Found(labels(pairs));
        })
        .is_valid()
    };
    let one = |operator: &str, values: Value| json!({"matchExpressions": [{"key": "k", "operator": operator, "values": values}]});
    assert!(allowed(Value::Null, &[]));
    assert!(allowed(json!({}), &[]));
    assert!(allowed(json!({"matchLabels": {"k": "v"}}), &[("k", "v")]));
    assert!(!allowed(json!({"matchLabels": {"k": "v"}}), &[("k", "w")]));
    assert!(allowed(one("In", json!(["u", "v"])), &[("k", "v")]));
    assert!(!allowed(one("In", json!(["u"])), &[("k", "v")]));
    assert!(!allowed(one("In", json!(["u"])), &[]));
    assert!(allowed(one("NotIn", json!(["u"])), &[]));
    assert!(!allowed(one("NotIn", json!(["v"])), &[("k", "v")]));
    assert!(allowed(one("Exists", json!([])), &[("k", "v")]));
    assert!(!allowed(one("Exists", json!([])), &[]));
    assert!(allowed(one("DoesNotExist", json!([])), &[]));
    assert!(!allowed(one("DoesNotExist", json!([])), &[("k", "v")]));
}

#[test]
fn what_a_pod_would_be_refused_for_is_found_in_pools_and_drivers() {
    let mut object = cluster();
    object["spec"]["pools"][1]["nodeAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "disk", "operator": "In"}, {"key": "n", "operator": "Gt", "values": ["x"]}]},
    ]}});
    object["spec"]["pools"][1]["tolerations"] = json!([{"operator": "Equal"}]);
    object["spec"]["pools"][1]["resources"] = json!({"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}});
    object["spec"]["drivers"][0]["resources"] = json!({"requests": {"gpu": -1}});
    object["spec"]["service"] = json!({"annotations": {"Example.com/OK": "", "not ok": ""}});
    let said = texts(&check_cluster(&read(object), &references()));
    let paths: Vec<&str> = said.iter().filter_map(|line| line.split(": ").next()).collect();
    let terms =
        "spec.pools[1].nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]";
    assert_eq!(
        paths,
        [
            format!("{terms}.matchExpressions[0].values").as_str(),
            format!("{terms}.matchExpressions[1].values[0]").as_str(),
            "spec.pools[1].tolerations[0].operator",
            "spec.pools[1].resources.requests[cpu]",
            "spec.drivers[0].resources.requests[gpu]",
            "spec.drivers[0].resources.requests[gpu]",
            "spec.service.annotations[not ok]",
        ]
    );
}
