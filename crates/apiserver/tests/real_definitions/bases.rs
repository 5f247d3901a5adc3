//! An object of each kind that the real server accepts.

use muster_apiserver::registry::Resource;
use serde_json::{Value, json};

/// An object of this kind.
pub(crate) fn base(resource: &Resource) -> Option<Value> {
    let mut object = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", plural) => core(plural)?,
        ("apps" | "batch", plural) => workload(plural)?,
        (_, plural) => other(plural)?,
    };
    object["apiVersion"] = resource.api_version().into();
    object["kind"] = resource.kind_name.clone().into();
    if object.get("metadata").is_none() {
        object["metadata"] = json!({"name": "odd"});
    }
    object["metadata"]["labels"] = json!({"a": "b"});
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}]);
    if resource.traits.namespaced {
        object["metadata"]["namespace"] = "default".into();
    }
    Some(object)
}

fn core(plural: &str) -> Option<Value> {
    Some(match plural {
        "configmaps" => json!({"data": {"a": "b"}, "binaryData": {"c": "YQ=="}}),
        "endpoints" => {
            json!({"subsets": [{"addresses": [{"ip": "10.0.0.1", "targetRef": {}}], "ports": [{"port": 80}]}]})
        }
        "events" => {
            json!({"involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "source": {"component": "c"}, "series": null})
        }
        "namespaces" => json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}),
        "nodes" => json!({
            "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "1000m"}, "nodeInfo": {}, "conditions": [{"type": "Ready", "status": "True"}]},
        }),
        "persistentvolumeclaims" => json!({"spec": claim(), "status": {"capacity": {"storage": "1024Mi"}}}),
        "persistentvolumes" => json!({"spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}, "storageClassName": "s",
        }}),
        "pods" => json!({"spec": pod(), "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        "secrets" => json!({"data": {"a": "YQ=="}, "stringData": {"b": "c"}}),
        "serviceaccounts" => json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{"name": "b"}]}),
        "services" => json!({
            "spec": {"ports": [{"port": 80, "targetPort": 80}], "selector": {"a": "b"}, "sessionAffinityConfig": null},
            "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
        }),
        _ => return None,
    })
}

fn workload(plural: &str) -> Option<Value> {
    let labels = json!({"matchLabels": {"a": "b"}, "matchExpressions": []});
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    Some(match plural {
        "controllerrevisions" => json!({"revision": 1, "data": {"a": 1}}),
        "daemonsets" => {
            json!({"spec": {"selector": labels, "template": template, "updateStrategy": {"rollingUpdate": {}}}})
        }
        "deployments" => {
            json!({"spec": {"replicas": 1, "selector": labels, "template": template, "strategy": {"rollingUpdate": {}}}})
        }
        "replicasets" => {
            json!({"spec": {"selector": labels, "template": template}, "status": {"replicas": 1}})
        }
        "statefulsets" => json!({"spec": {
            "serviceName": "s", "selector": labels, "template": template,
            "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": claim()}],
        }}),
        "jobs" => {
            json!({"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
        }
        "cronjobs" => json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
        }}}}}),
        _ => return None,
    })
}

fn other(plural: &str) -> Option<Value> {
    let subject = json!([{"kind": "User", "name": "u"}]);
    let role = |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "r"});
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    Some(match plural {
        "customresourcedefinitions" => crd(),
        "leases" => json!({"spec": {"holderIdentity": "a", "renewTime": "2024-01-01T00:00:00.000000Z"}}),
        "endpointslices" => json!({
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {}, "targetRef": {}}], "ports": [{"port": 1}],
        }),
        "events" => json!({
            "eventTime": "2024-01-01T00:00:00.000000Z", "reportingController": "e.org/c", "reportingInstance": "i", "action": "a", "reason": "r",
            "type": "Normal", "regarding": {"kind": "Pod", "namespace": "default"}, "note": "n",
        }),
        "poddisruptionbudgets" => {
            json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}, "status": {"conditions": []}})
        }
        "clusterroles" => json!({"rules": rules, "aggregationRule": null}),
        "roles" => json!({"rules": rules}),
        "clusterrolebindings" => json!({"roleRef": role("ClusterRole"), "subjects": subject}),
        "rolebindings" => json!({"roleRef": role("Role"), "subjects": subject}),
        "storageclasses" => json!({"provisioner": "e.org/p", "parameters": {"a": "b"}}),
        _ => return None,
    })
}

fn claim() -> Value {
    json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})
}

fn pod() -> Value {
    let probe = json!({"httpGet": {"port": "http"}});
    json!({
        "containers": [{
            "name": "c", "image": "i", "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "ports": [{"containerPort": 1, "name": "http"}], "resources": {"limits": {"cpu": "1"}}, "livenessProbe": probe,
            "volumeMounts": [{"name": "v", "mountPath": "/m"}], "securityContext": {"capabilities": {}},
        }],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "x"}}],
        "affinity": {"nodeAffinity": {}}, "tolerations": [{"key": "k", "operator": "Exists"}], "securityContext": {},
    })
}

fn crd() -> Value {
    let schema = json!({
        "type": "object", "properties": {"spec": {"type": "object", "properties": {
            "l": {"type": "array", "items": {"type": "string"}}, "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "d": {"type": "string", "default": "x", "enum": ["x"]},
        }}},
    });
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.d"}],
    });
    json!({
        "metadata": {"name": "odds.example.org"},
        "spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "odds", "kind": "Odd"}, "versions": [version]},
    })
}
