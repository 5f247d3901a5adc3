//! What a Pod would be refused for.

use super::*;

fn affinity(value: Value) -> Vec<String> {
    let affinity: NodeAffinity = read(value);
    node_affinity(&affinity, &Path::root("a")).into_iter().map(|v| v.path).collect()
}

fn required(expression: &Value) -> Vec<String> {
    affinity(
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}),
    )
}

const REQUIRED: &str = "a.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

#[test]
fn operators_and_how_many_values_they_take() {
    for (operator, right, wrong) in [
        ("In", vec![1, 2], vec![0]),
        ("NotIn", vec![1, 2], vec![0]),
        ("Exists", vec![0], vec![1]),
        ("DoesNotExist", vec![0], vec![1]),
        ("Gt", vec![1], vec![0, 2]),
        ("Lt", vec![1], vec![0, 2]),
    ] {
        let ask =
            |number: usize| required(&json!({"key": "k", "operator": operator, "values": vec!["5"; number]}));
        for number in right {
            assert_eq!(ask(number), Vec::<String>::new(), "{operator} {number}");
        }
        for number in wrong {
            assert_eq!(
                ask(number),
                [format!("{REQUIRED}[0].matchExpressions[0].values")],
                "{operator} {number}"
            );
        }
    }
    let other = required(&json!({"key": "k", "operator": "Like"}));
    assert_eq!(other, [format!("{REQUIRED}[0].matchExpressions[0].operator")]);
}

#[test]
fn label_keys_and_values() {
    let key = |key: &str| required(&json!({"key": key, "operator": "Exists"})).is_empty();
    for right in
        ["k", "K.0_-x", "example.com/k", "a-b.c/k", &"k".repeat(63), &format!("{}/k", "p".repeat(253))]
    {
        assert!(key(right), "{right}");
    }
    for wrong in [
        "",
        "-k",
        "k-",
        "a b",
        "/k",
        "p/",
        "a/b/c",
        "P.com/k",
        "p..q/k",
        &"k".repeat(64),
        &format!("{}/k", "p".repeat(254)),
    ] {
        assert!(!key(wrong), "{wrong}");
    }
    let value = |value: &str| required(&json!({"key": "k", "operator": "In", "values": [value]})).is_empty();
    for right in ["", "v", "V.0_-x", &"v".repeat(63)] {
        assert!(value(right), "{right}");
    }
    for wrong in ["-", "v-", "a b", "a/b", "é", &"v".repeat(64)] {
        assert!(!value(wrong), "{wrong}");
    }
}

#[test]
fn a_required_affinity_has_a_term_and_a_preference_a_weight() {
    assert_eq!(affinity(json!({})), Vec::<String>::new());
    assert_eq!(
        affinity(json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}})),
        [REQUIRED]
    );
    for (weight, right) in [(0, false), (1, true), (100, true), (101, false)] {
        let said = affinity(
            json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "preference": {}}]}),
        );
        assert_eq!(said.is_empty(), right, "{weight}");
    }
    let preferred = json!({"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["not right"]}]}},
    ]});
    assert_eq!(affinity(preferred), Vec::<String>::new(), "the API server lets values of preferences pass");
}

#[test]
fn fields_are_selected_by_name_only() {
    let field = |expression: Value| {
        affinity(
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [expression]}]}}),
        )
    };
    let at = |part: &str| [format!("{REQUIRED}[0].matchFields[0].{part}")];
    assert_eq!(
        field(json!({"key": "metadata.name", "operator": "In", "values": ["node-1.x"]})),
        Vec::<String>::new()
    );
    assert_eq!(
        field(json!({"key": "metadata.name", "operator": "NotIn", "values": ["n", "m"]})),
        at("values")
    );
    assert_eq!(field(json!({"key": "metadata.name", "operator": "In"})), at("values"));
    assert_eq!(field(json!({"key": "metadata.name", "operator": "Exists", "values": ["n"]})), at("operator"));
    assert_eq!(field(json!({"key": "metadata.name", "operator": "In", "values": ["N"]})), at("values[0]"));
    assert_eq!(field(json!({"key": "spec.x", "operator": "In", "values": ["N"]})), at("key"));
}

#[test]
fn gt_and_lt_compare_with_an_integer() {
    let ask = |operator: &str, value: &str| {
        let term = json!({"matchExpressions": [{"key": "k", "operator": operator, "values": [value]}]});
        let affinity: NodeAffinity = read(json!({
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
        }));
        unschedulable(&affinity, &Path::root("a")).len()
    };
    assert_eq!(ask("Gt", "5"), 0);
    assert_eq!(ask("Lt", "-5"), 0);
    assert_eq!(ask("Lt", "x"), 2);
    assert_eq!(ask("Gt", "1.5"), 2);
    assert_eq!(ask("In", "x"), 0);
}

#[test]
fn tolerations_as_a_pod_may_have_them() {
    let ask = |value: Value| {
        let list: Vec<Toleration> = vec![read(value)];
        tolerations(&list, &Path::root("t")).into_iter().map(|v| v.path).collect::<Vec<String>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(ask(json!({"operator": "Exists"})), none);
    assert_eq!(ask(json!({"key": "k", "value": "v"})), none);
    assert_eq!(
        ask(json!({"key": "k", "operator": "Equal", "effect": "NoExecute", "tolerationSeconds": 1})),
        none
    );
    assert_eq!(ask(json!({})), ["t[0].operator"]);
    assert_eq!(ask(json!({"operator": "Exists", "value": "v"})), ["t[0].value"]);
    assert_eq!(ask(json!({"key": "k", "value": "-"})), ["t[0].value"]);
    assert_eq!(ask(json!({"key": "-"})), ["t[0].key"]);
    assert_eq!(ask(json!({"key": "k", "effect": "NoSchedule", "tolerationSeconds": 1})), ["t[0].effect"]);
    assert_eq!(ask(json!({"key": "k", "tolerationSeconds": 1})), ["t[0].effect"]);
}

#[test]
fn resources_as_a_container_may_have_them() {
    let ask = |value: Value| {
        pod::resources(&read(value), &Path::root("r")).into_iter().map(|v| v.path).collect::<Vec<String>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(
        ask(
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": 1, "hugepages-2Mi": "4Mi", "example.com/gpu": 1}})
        ),
        none
    );
    assert_eq!(
        ask(json!({"requests": {"memory": "1025"}, "limits": {"memory": "1Ki"}})),
        ["r.requests[memory]"]
    );
    assert_eq!(ask(json!({"limits": {"gpu": 1}})), ["r.limits[gpu]"]);
    assert_eq!(ask(json!({"limits": {"-/gpu": 1}})), ["r.limits[-/gpu]"]);
    assert_eq!(ask(json!({"limits": {"cpu": "-1n"}})), ["r.limits[cpu]"]);
    assert_eq!(ask(json!({"requests": {"example.com/gpu": 1}})), ["r.requests[example.com/gpu]"]);
    assert_eq!(
        ask(json!({"requests": {"example.com/gpu": 1}, "limits": {"example.com/gpu": 2}})),
        ["r.requests[example.com/gpu]"]
    );
    assert_eq!(ask(json!({"limits": {"example.com/gpu": "500m"}})), ["r.limits[example.com/gpu]"]);
    assert_eq!(ask(json!({"requests": {"kubernetes.io/gpu": "500m"}})), none);
    assert_eq!(ask(json!({"limits": {"requests.x/gpu": 1}})), ["r.limits[requests.x/gpu]"]);
    assert_eq!(ask(json!({"limits": {"cpu": 1, "hugepages-2Mi": "3Mi"}})), ["r.limits[hugepages-2Mi]"]);
    assert_eq!(ask(json!({"limits": {"cpu": 1, "hugepages-x": "2Mi"}})), ["r.limits[hugepages-x]"]);
    assert_eq!(ask(json!({"limits": {"hugepages-2Mi": "2Mi"}})), ["r"]);
}
