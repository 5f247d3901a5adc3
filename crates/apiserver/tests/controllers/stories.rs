//! What happens to objects after they are deleted, told to a client of any server.

use serde_json::{Value, json};

use crate::world::World;

/// A namespace of this name; what stories are about lives in namespaces of their own.
fn namespace(world: &dyn World, name: &str) -> String {
    world.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
    format!("/api/v1/namespaces/{name}/configmaps")
}

/// A config map that is owned by these: name and uid, and whether it blocks them.
fn owned(name: &str, owners: &[(&Value, bool)]) -> Value {
    let references: Vec<Value> = owners
        .iter()
        .map(|(owner, blocks)| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks,
            })
        })
        .collect();
    json!({"metadata": {"name": name, "ownerReferences": references}})
}

fn plain(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

fn held(mut object: Value, finalizer: &str) -> Value {
    object["metadata"]["finalizers"] = json!([finalizer]);
    object
}

/// Takes every finalizer of an object away.
fn free(world: &dyn World, path: &str) {
    let answer = world.send("PATCH", path, &json!({"metadata": {"finalizers": null}}));
    assert_ne!(answer["kind"], "Status", "{answer}");
}

pub(crate) fn background(world: &dyn World) {
    let maps = namespace(world, "background");
    let owner = world.create(&maps, &plain("owner"));
    world.create(&maps, &owned("child", &[(&owner, true)]));
    world.settle();
    assert!(world.is_there(&format!("{maps}/child")));
    world.delete(&format!("{maps}/owner"), "Background");
    assert!(!world.is_there(&format!("{maps}/owner")), "it goes at once");
    world.until_gone(&format!("{maps}/child"));
}

pub(crate) fn foreground(world: &dyn World) {
    let maps = namespace(world, "foreground");
    let owner = world.create(&maps, &plain("owner"));
    world.create(&maps, &held(owned("blocks", &[(&owner, true)]), "example.org/wait"));
    world.create(&maps, &held(owned("does-not", &[(&owner, false)]), "example.org/wait"));
    world.delete(&format!("{maps}/owner"), "Foreground");
    world.until_so(&format!("{maps}/blocks"), &|child| child["metadata"]["deletionTimestamp"].is_string());
    world.settle();
    let waiting = world.get(&format!("{maps}/owner"));
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]), "it waits");
    free(world, &format!("{maps}/blocks"));
    world.until_gone(&format!("{maps}/blocks"));
    world.until_gone(&format!("{maps}/owner"));
    world.until_so(&format!("{maps}/does-not"), &|child| child["metadata"]["deletionTimestamp"].is_string());
    free(world, &format!("{maps}/does-not"));
    world.until_gone(&format!("{maps}/does-not"));
}

pub(crate) fn orphan(world: &dyn World) {
    let maps = namespace(world, "orphan");
    let owner = world.create(&maps, &plain("owner"));
    world.create(&maps, &owned("child", &[(&owner, true)]));
    world.delete(&format!("{maps}/owner"), "Orphan");
    world.until_gone(&format!("{maps}/owner"));
    world.settle();
    let child = world.get(&format!("{maps}/child"));
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(child["metadata"]["name"], "child", "it stays");
}

pub(crate) fn absent_owner(world: &dyn World) {
    let maps = namespace(world, "absent");
    let never = json!({"metadata": {"name": "never", "uid": "11111111-2222-3333-4444-555555555555"}});
    world.create(&maps, &owned("child", &[(&never, false)]));
    world.until_gone(&format!("{maps}/child"));
    // Another object of the owner's name is not the owner.
    let other = world.create(&maps, &plain("named"));
    let mut was = other.clone();
    was["metadata"]["uid"] = "11111111-2222-3333-4444-555555555556".into();
    world.create(&maps, &owned("namesake", &[(&was, false)]));
    world.until_gone(&format!("{maps}/namesake"));
    assert!(world.is_there(&format!("{maps}/named")));
}

pub(crate) fn two_owners(world: &dyn World) {
    let maps = namespace(world, "two");
    let (one, other) = (world.create(&maps, &plain("one")), world.create(&maps, &plain("other")));
    world.create(&maps, &owned("child", &[(&one, true), (&other, true)]));
    world.delete(&format!("{maps}/one"), "Background");
    world.until_so(&format!("{maps}/child"), &|child| {
        let owners = child["metadata"]["ownerReferences"].as_array();
        owners.is_some_and(|owners| owners.len() == 1 && owners[0]["name"] == "other")
    });
    world.delete(&format!("{maps}/other"), "Background");
    world.until_gone(&format!("{maps}/child"));
}

pub(crate) fn other_namespace(world: &dyn World) {
    let (here, there) = (namespace(world, "here"), namespace(world, "there"));
    let owner = world.create(&there, &plain("owner"));
    world.create(&here, &owned("child", &[(&owner, false)]));
    world.until_gone(&format!("{here}/child"));
    assert!(world.is_there(&format!("{there}/owner")));
    told_astray(world, "here", ("v1", "ConfigMap", "child"), "here", &owner);
}

/// An event says that the owner is in another namespace.
fn told_astray(
    world: &dyn World,
    events: &str,
    (version, kind, name): (&str, &str, &str),
    namespace: &str,
    owner: &Value,
) {
    let mut about = json!({"apiVersion": version, "kind": kind, "name": name});
    if !namespace.is_empty() {
        about["namespace"] = namespace.into();
    }
    let uid = owner["metadata"]["uid"].as_str().unwrap();
    let expected = json!({
        "involvedObject": about, "type": "Warning", "reason": "OwnerRefInvalidNamespace", "count": 1,
        "message": format!(
            "ownerRef [v1/ConfigMap, namespace: {namespace}, name: owner, uid: {uid}] does not exist in namespace {namespace:?}"
        ),
        "source": {"component": "garbage-collector-controller"},
        "reportingComponent": "garbage-collector-controller", "reportingInstance": "",
    });
    world.until_so(&format!("/api/v1/namespaces/{events}/events"), &|list| {
        list["items"].as_array().into_iter().flatten().any(|event| {
            let mut said: Value =
                expected.as_object().unwrap().keys().map(|key| (key.clone(), event[key].clone())).collect();
            said["involvedObject"].as_object_mut().and_then(|about| about.remove("uid"));
            said == expected && event["metadata"]["name"].as_str().unwrap().starts_with(&format!("{name}."))
        })
    });
}

pub(crate) fn cluster_scoped(world: &dyn World) {
    let maps = namespace(world, "scoped");
    let owner = world.create(&maps, &plain("owner"));
    let mut role = owned("owned-by-a-map", &[(&owner, false)]);
    role["rules"] = json!([]);
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    world.create(roles, &role);
    let about = ("rbac.authorization.k8s.io/v1", "ClusterRole", "owned-by-a-map");
    told_astray(world, "default", about, "", &owner);
    world.delete(&format!("{maps}/owner"), "Background");
    world.settle();
    assert!(world.is_there(&format!("{roles}/owned-by-a-map")));
    world.delete(&format!("{roles}/owned-by-a-map"), "Background");
}

pub(crate) fn chain(world: &dyn World) {
    let maps = namespace(world, "chain");
    let first = world.create(&maps, &plain("first"));
    let second = world.create(&maps, &owned("second", &[(&first, true)]));
    world.create(&maps, &owned("third", &[(&second, true)]));
    world.delete(&format!("{maps}/first"), "Foreground");
    for name in ["third", "second", "first"] {
        world.until_gone(&format!("{maps}/{name}"));
    }
}

pub(crate) fn namespace_conditions(namespace: &Value) -> Vec<[String; 4]> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let read = |one: &Value| ["type", "status", "reason", "message"].map(|field| text(&one[field]));
    conditions.iter().map(read).collect()
}

pub(crate) fn namespace_ends(world: &dyn World) {
    let maps = namespace(world, "ends");
    world.create(&maps, &plain("goes"));
    world.create(&maps, &held(plain("stays"), "example.org/wait"));
    world.send("DELETE", "/api/v1/namespaces/ends", &Value::Null);
    world.until_so("/api/v1/namespaces/ends", &|namespace| {
        let said = namespace_conditions(namespace);
        said.iter().any(|one| one[0] == "NamespaceFinalizersRemaining" && one[1] == "True")
    });
    world.until_gone(&format!("{maps}/goes"));
    let ending = world.get("/api/v1/namespaces/ends");
    assert_eq!(ending["status"]["phase"], "Terminating");
    let well = |kind: &str, reason: &str, message: &str| [kind, "False", reason, message].map(str::to_owned);
    let remain = |kind: &str, reason: &str, message: &str| [kind, "True", reason, message].map(str::to_owned);
    let failure = "NamespaceDeletionDiscoveryFailure";
    let expected = vec![
        well(failure, "ResourcesDiscovered", "All resources successfully discovered"),
        well(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        well(
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        remain(
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        remain(
            "NamespaceFinalizersRemaining",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.org/wait in 1 resource instances",
        ),
    ];
    assert_eq!(namespace_conditions(&ending), expected);
    free(world, &format!("{maps}/stays"));
    world.until_gone("/api/v1/namespaces/ends");
}

pub(crate) fn claim(world: &dyn World) {
    let maps = namespace(world, "claims");
    let claims = maps.replace("configmaps", "persistentvolumeclaims");
    let pods = maps.replace("configmaps", "pods");
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let data = json!({"metadata": {"name": "data"}, "spec": spec});
    world.create(&claims, &held(data, "kubernetes.io/pvc-protection"));
    let pod = json!({"metadata": {"name": "user"}, "spec": {
        "nodeName": "n", "containers": [{"name": "c", "image": "x"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }});
    world.create(&pods, &pod);
    world.delete(&format!("{claims}/data"), "Background");
    world.settle();
    assert!(world.is_there(&format!("{claims}/data")), "a pod uses it");
    world.send("DELETE", &format!("{pods}/user"), &json!({"gracePeriodSeconds": 0}));
    world.until_gone(&format!("{claims}/data"));
}

pub(crate) fn volume(world: &dyn World) {
    let volumes = "/api/v1/persistentvolumes";
    let claims = namespace(world, "volumes").replace("configmaps", "persistentvolumeclaims");
    let modes = json!(["ReadWriteOnce"]);
    let claim = json!({"metadata": {"name": "user"}, "spec": {
        "volumeName": "bound", "storageClassName": "", "accessModes": modes,
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    let claim = world.create(&claims, &claim);
    let bound = json!({"metadata": {"name": "bound"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": modes, "hostPath": {"path": "/x"},
        "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "",
        "claimRef": {"namespace": "volumes", "name": "user", "uid": claim["metadata"]["uid"]},
    }});
    world.create(volumes, &held(bound, "kubernetes.io/pv-protection"));
    let path = format!("{volumes}/bound");
    // Whoever binds claims to volumes says the same; our server leaves it to others.
    let phase = |phase: &str| {
        world.send("PATCH", &format!("{path}/status"), &json!({"status": {"phase": phase}}));
    };
    phase("Bound");
    world.delete(&path, "Background");
    world.settle();
    assert!(world.is_there(&path), "it is bound");
    world.delete(&format!("{claims}/user"), "Background");
    world.until_gone(&format!("{claims}/user"));
    phase("Released");
    world.until_gone(&path);
}

pub(crate) fn account(world: &dyn World) {
    let accounts = namespace(world, "accounts").replace("configmaps", "serviceaccounts");
    let path = format!("{accounts}/default");
    world.until_so(&path, &|account| account["metadata"]["uid"].is_string());
    let first = world.get(&path)["metadata"]["uid"].clone();
    world.delete(&path, "Background");
    world.until_so(&path, &|account| {
        account["metadata"]["uid"].is_string() && account["metadata"]["uid"] != first
    });
}
