//! The resources that behave as those of kube-apiserver do, as far as the README promises.

use super::entry::{Entry, Field, ONE_BY_ONE, at, cluster, namespaced};
use crate::kind::metadata::NameRule;

const NAME: Field = at("metadata.name");
const NAMESPACE: Field = at("metadata.namespace");
const ALL: &[&str] = &["all"];
const RBAC: &str = "rbac.authorization.k8s.io";

/// All of them.
pub(super) const ENTRIES: &[Entry] = &[
    Entry { short: &["cm"], ..namespaced("", "configmaps", "ConfigMap") },
    Entry { short: &["ep"], create_on_update: true, ..namespaced("", "endpoints", "Endpoints") },
    Entry {
        short: &["ev"],
        create_on_update: true,
        selectable: &[
            at("involvedObject.kind"),
            at("involvedObject.namespace"),
            at("involvedObject.name"),
            at("involvedObject.uid"),
            at("involvedObject.apiVersion"),
            at("involvedObject.resourceVersion"),
            at("involvedObject.fieldPath"),
            at("reason"),
            at("reportingComponent"),
            ("source", "source.component|reportingComponent", ""),
            at("type"),
            NAMESPACE,
            NAME,
        ],
        checks: (1, 1),
        ..namespaced("", "events", "Event")
    },
    Entry {
        short: &["ev"],
        create_on_update: true,
        selectable: &[
            at("reason"),
            ("regarding.kind", "regarding.kind|involvedObject.kind", ""),
            ("regarding.namespace", "regarding.namespace|involvedObject.namespace", ""),
            ("regarding.name", "regarding.name|involvedObject.name", ""),
            ("regarding.uid", "regarding.uid|involvedObject.uid", ""),
            ("regarding.apiVersion", "regarding.apiVersion|involvedObject.apiVersion", ""),
            ("regarding.resourceVersion", "regarding.resourceVersion|involvedObject.resourceVersion", ""),
            ("regarding.fieldPath", "regarding.fieldPath|involvedObject.fieldPath", ""),
            ("reportingController", "reportingController|reportingComponent", ""),
            at("type"),
            NAMESPACE,
            NAME,
        ],
        checks: (1, 2),
        ..namespaced("events.k8s.io", "events", "Event")
    },
    Entry {
        short: &["ns"],
        status: true,
        returns_deleted: true,
        name: NameRule::Label,
        verbs: ONE_BY_ONE,
        selectable: &[at("status.phase"), NAME],
        ..cluster("", "namespaces", "Namespace")
    },
    Entry {
        short: &["no"],
        status: true,
        first_status: true,
        selectable: &[NAME, ("spec.unschedulable", "spec.unschedulable", "false")],
        ..cluster("", "nodes", "Node")
    },
    Entry {
        short: &["pvc"],
        status: true,
        returns_deleted: true,
        ..namespaced("", "persistentvolumeclaims", "PersistentVolumeClaim")
    },
    Entry {
        short: &["pv"],
        status: true,
        returns_deleted: true,
        checks: (3, 1),
        ..cluster("", "persistentvolumes", "PersistentVolume")
    },
    Entry {
        short: &["po"],
        categories: ALL,
        status: true,
        generation: true,
        returns_deleted: true,
        selectable: &[
            NAME,
            NAMESPACE,
            at("spec.nodeName"),
            ("spec.host", "spec.nodeName", ""),
            at("spec.restartPolicy"),
            at("spec.schedulerName"),
            at("spec.serviceAccountName"),
            ("spec.hostNetwork", "spec.hostNetwork", "false"),
            at("status.phase"),
            at("status.podIP"),
            ("status.podIPs", "", ""),
            at("status.nominatedNodeName"),
        ],
        reset_by_status: &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]],
        ..namespaced("", "pods", "Pod")
    },
    Entry { selectable: &[at("type"), NAMESPACE, NAME], ..namespaced("", "secrets", "Secret") },
    Entry { short: &["sa"], returns_deleted: true, ..namespaced("", "serviceaccounts", "ServiceAccount") },
    Entry {
        short: &["svc"],
        categories: ALL,
        status: true,
        create_on_update: true,
        returns_deleted: true,
        name: NameRule::Label,
        selectable: &[NAMESPACE, NAME, at("spec.clusterIP"), at("spec.type")],
        checks: (1, 2),
        ..namespaced("", "services", "Service")
    },
    namespaced("apps", "controllerrevisions", "ControllerRevision"),
    workload(Entry { short: &["ds"], ..namespaced("apps", "daemonsets", "DaemonSet") }),
    workload(Entry {
        short: &["deploy"],
        scale: true,
        reset_by_status: &[&["spec"], &["metadata", "labels"]],
        ..namespaced("apps", "deployments", "Deployment")
    }),
    workload(Entry { short: &["rs"], scale: true, ..namespaced("apps", "replicasets", "ReplicaSet") }),
    workload(Entry {
        short: &["sts"],
        scale: true,
        name: NameRule::Label,
        ..namespaced("apps", "statefulsets", "StatefulSet")
    }),
    workload(Entry { short: &["cj"], ..namespaced("batch", "cronjobs", "CronJob") }),
    Entry {
        selectable: &[NAME, NAMESPACE, ("status.successful", "status.succeeded", "0")],
        checks: (2, 2),
        ..workload(namespaced("batch", "jobs", "Job"))
    },
    Entry {
        short: &["crd", "crds"],
        categories: &["api-extensions"],
        status: true,
        generation: true,
        unconditional_update: false,
        standard_finalizers: false,
        checks: (1, 2),
        ..cluster("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition")
    },
    Entry {
        create_on_update: true,
        unconditional_update: false,
        standard_finalizers: false,
        checks: (1, 2),
        ..namespaced("coordination.k8s.io", "leases", "Lease")
    },
    Entry {
        generation: true,
        checks: (2, 1),
        ..namespaced("discovery.k8s.io", "endpointslices", "EndpointSlice")
    },
    Entry {
        short: &["pdb"],
        status: true,
        generation: true,
        unconditional_update: false,
        standard_finalizers: false,
        name: NameRule::PathSegment,
        checks: (1, 1),
        ..namespaced("policy", "poddisruptionbudgets", "PodDisruptionBudget")
    },
    rbac(cluster(RBAC, "clusterrolebindings", "ClusterRoleBinding")),
    rbac(cluster(RBAC, "clusterroles", "ClusterRole")),
    rbac(namespaced(RBAC, "rolebindings", "RoleBinding")),
    rbac(namespaced(RBAC, "roles", "Role")),
    Entry {
        short: &["sc"],
        returns_deleted: true,
        ..cluster("storage.k8s.io", "storageclasses", "StorageClass")
    },
];

const fn workload(entry: Entry) -> Entry {
    Entry { categories: ALL, status: true, generation: true, checks: (1, 2), ..entry }
}

const fn rbac(entry: Entry) -> Entry {
    Entry { name: NameRule::PathSegment, create_on_update: true, ..entry }
}
