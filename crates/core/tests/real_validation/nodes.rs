//! `nodeAffinity` and tolerations: a Pod that has them gets the same verdict from the API server.

mod real_validation {
    use k8s_openapi::api::core::v1::{NodeAffinity, Toleration};
    use muster_core::validation::{Path, node_affinity, tolerations};
    use serde_json::{Value, json};

    use crate::chance::Chance;
    use crate::server::{Server, Verdict};

    const CASES: u64 = 400;

    const LABEL_KEYS: [&str; 12] = [
        "disk",
        "example.com/disk",
        "a.b_c-D",
        "",
        "/x",
        "x/",
        "a/b/c",
        "-x",
        "x-",
        "EXAMPLE.com/x",
        "a b",
        "metadata.name",
    ];
    const VALUES: [&str; 9] = ["nvme", "", "5", "-5", "a b", "A.b_c", "-", "x.", "é"];
    const OPERATORS: [&str; 8] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like", ""];

    /// Mostly the usual choice, so that whole affinities are right often enough.
    fn mostly(chance: &mut Chance, usual: &str, others: &[&str]) -> String {
        if chance.one_in(8) { chance.pick(others).to_owned() } else { usual.to_owned() }
    }

    fn values(chance: &mut Chance, usual: usize) -> Value {
        let number = if chance.one_in(8) { chance.below(3) } else { usual };
        let long = "x".repeat(63 + chance.below(2));
        (0..number)
            .map(|_| if chance.one_in(20) { long.clone() } else { mostly(chance, "5", &VALUES) })
            .collect()
    }

    fn expression(chance: &mut Chance) -> Value {
        let operator = if chance.one_in(15) { chance.pick(&OPERATORS) } else { chance.pick(&OPERATORS[..6]) };
        let usual = usize::from(!(operator.ends_with("Exist") || operator == "Exists"));
        let key = if chance.one_in(20) {
            "k".repeat(63 + chance.below(2))
        } else {
            mostly(chance, "disk", &LABEL_KEYS)
        };
        json!({"key": key, "operator": operator, "values": values(chance, usual)})
    }

    fn field(chance: &mut Chance) -> Value {
        let key = mostly(chance, "metadata.name", &["metadata.namespace", "disk"]);
        let usual = chance.pick(&["In", "NotIn"]);
        let operator = mostly(chance, usual, &OPERATORS);
        json!({"key": key, "operator": operator, "values": values(chance, 1)})
    }

    fn term(chance: &mut Chance) -> Value {
        let expressions: Vec<Value> = (0..chance.below(3)).map(|_| expression(chance)).collect();
        let fields: Vec<Value> = (0..chance.below(2)).map(|_| field(chance)).collect();
        json!({"matchExpressions": expressions, "matchFields": fields})
    }

    fn affinity(chance: &mut Chance) -> Value {
        let mut affinity = json!({});
        if !chance.one_in(3) {
            let number = if chance.one_in(8) { 0 } else { 1 + chance.below(2) };
            let terms: Vec<Value> = (0..number).map(|_| term(chance)).collect();
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] = json!({"nodeSelectorTerms": terms});
        }
        if chance.one_in(2) {
            let weight = [1, 100, 50, 2, 99, 0, 101, -1][chance.below(8)];
            let preferred = json!([{"weight": weight, "preference": term(chance)}]);
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred;
        }
        affinity
    }

    fn toleration(chance: &mut Chance) -> Value {
        let mut toleration = json!({});
        let options: [(&str, &[&str]); 4] = [
            ("key", &LABEL_KEYS),
            ("operator", &["Exists", "Equal"]),
            ("value", &VALUES),
            ("effect", &["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        ];
        for (name, choices) in options {
            if chance.one_in(2) {
                toleration[name] = json!(mostly(chance, choices[0], choices));
            }
        }
        if chance.one_in(5) {
            toleration["tolerationSeconds"] = json!(5);
        }
        toleration
    }

    fn pod(index: u64, part: &str, value: &Value) -> Value {
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": format!("pod-{index}"), "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "example.com/main"}]},
        });
        pod["spec"][part] = value.clone();
        pod
    }

    async fn same_verdict(part: &str, make: fn(&mut Chance) -> Value, ours: fn(&Value) -> Vec<String>) {
        let server = Server::of_pods().await;
        let cases: Vec<_> = (0..CASES).map(|seed| (make(&mut Chance::new(seed)), seed)).collect();
        let mut accepted = 0;
        for some in cases.chunks(16) {
            let pods: Vec<_> = some.iter().map(|(value, seed)| (pod(*seed, part, value), None)).collect();
            for ((value, _), theirs) in some.iter().zip(server.ask(&pods).await) {
                let ours = ours(value);
                assert_eq!(
                    ours.is_empty(),
                    theirs == Verdict::Accepted,
                    "{value}\nhere: {ours:?}\nthere: {theirs:?}"
                );
                accepted += u64::from(ours.is_empty());
            }
        }
        assert!(
            (CASES / 5..CASES * 4 / 5).contains(&accepted),
            "{accepted} of {CASES} accepted: a poor mixture"
        );
    }

    #[tokio::test]
    async fn real_r2_4_node_affinities_get_the_same_verdict() {
        let make: fn(&mut Chance) -> Value = |chance| json!({"nodeAffinity": affinity(chance)});
        same_verdict("affinity", make, |value| {
            let affinity: NodeAffinity = serde_json::from_value(value["nodeAffinity"].clone()).unwrap();
            node_affinity(&affinity, &Path::root("a")).iter().map(ToString::to_string).collect()
        })
        .await;
    }

    #[tokio::test]
    async fn real_tolerations_get_the_same_verdict() {
        let make: fn(&mut Chance) -> Value = |chance| {
            let number = 1 + chance.below(2);
            (0..number).map(|_| toleration(chance)).collect()
        };
        same_verdict("tolerations", make, |value| {
            let list: Vec<Toleration> = serde_json::from_value(value.clone()).unwrap();
            tolerations(&list, &Path::root("t")).iter().map(ToString::to_string).collect()
        })
        .await;
    }
}
