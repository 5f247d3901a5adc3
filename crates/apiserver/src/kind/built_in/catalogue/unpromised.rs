//! Resources that are served because programs such as kube-controller-manager want to list and watch them. They are
//! read through their types and stored; nothing else is promised of them.

use super::entry::{Entry, at, cluster, namespaced};
use crate::kind::metadata::NameRule;

/// All of them.
pub(super) const ENTRIES: &[Entry] = &[
    Entry { short: &["limits"], create_on_update: true, ..namespaced("", "limitranges", "LimitRange") },
    Entry { generation: true, returns_deleted: true, ..namespaced("", "podtemplates", "PodTemplate") },
    Entry {
        short: &["rc"],
        categories: &["all"],
        status: true,
        generation: true,
        scale: true,
        selectable: &[
            at("metadata.name"),
            at("metadata.namespace"),
            ("status.replicas", "status.replicas", "0"),
        ],
        ..namespaced("", "replicationcontrollers", "ReplicationController")
    },
    Entry {
        short: &["quota"],
        status: true,
        returns_deleted: true,
        ..namespaced("", "resourcequotas", "ResourceQuota")
    },
    Entry {
        version: "v2",
        short: &["hpa"],
        categories: &["all"],
        status: true,
        ..namespaced("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
    },
    Entry {
        short: &["csr"],
        status: true,
        name: NameRule::PathSegment,
        selectable: &[at("metadata.name"), at("spec.signerName")],
        ..cluster("certificates.k8s.io", "certificatesigningrequests", "CertificateSigningRequest")
    },
    Entry { generation: true, ..cluster("networking.k8s.io", "ingressclasses", "IngressClass") },
    Entry {
        short: &["ing"],
        status: true,
        generation: true,
        ..namespaced("networking.k8s.io", "ingresses", "Ingress")
    },
    Entry {
        short: &["ip"],
        name: NameRule::Address,
        ..cluster("networking.k8s.io", "ipaddresses", "IPAddress")
    },
    Entry {
        short: &["netpol"],
        generation: true,
        ..namespaced("networking.k8s.io", "networkpolicies", "NetworkPolicy")
    },
    Entry {
        status: true,
        reset_by_status: &[&["metadata"], &["spec"]],
        ..cluster("networking.k8s.io", "servicecidrs", "ServiceCIDR")
    },
    Entry {
        create_on_update: true,
        unconditional_update: false,
        ..cluster("node.k8s.io", "runtimeclasses", "RuntimeClass")
    },
    Entry {
        generation: true,
        returns_deleted: true,
        ..cluster("resource.k8s.io", "deviceclasses", "DeviceClass")
    },
    Entry {
        status: true,
        returns_deleted: true,
        ..namespaced("resource.k8s.io", "resourceclaims", "ResourceClaim")
    },
    Entry {
        returns_deleted: true,
        ..namespaced("resource.k8s.io", "resourceclaimtemplates", "ResourceClaimTemplate")
    },
    Entry {
        generation: true,
        returns_deleted: true,
        selectable: &[at("metadata.name"), at("spec.nodeName"), at("spec.driver")],
        ..cluster("resource.k8s.io", "resourceslices", "ResourceSlice")
    },
    Entry { short: &["pc"], ..cluster("scheduling.k8s.io", "priorityclasses", "PriorityClass") },
    Entry {
        unconditional_update: false,
        returns_deleted: true,
        ..cluster("storage.k8s.io", "csidrivers", "CSIDriver")
    },
    Entry {
        unconditional_update: false,
        returns_deleted: true,
        ..cluster("storage.k8s.io", "csinodes", "CSINode")
    },
    Entry {
        unconditional_update: false,
        ..namespaced("storage.k8s.io", "csistoragecapacities", "CSIStorageCapacity")
    },
    Entry {
        status: true,
        unconditional_update: false,
        returns_deleted: true,
        reset_by_status: &[&["metadata"], &["spec"]],
        ..cluster("storage.k8s.io", "volumeattachments", "VolumeAttachment")
    },
    Entry {
        short: &["vac"],
        returns_deleted: true,
        ..cluster("storage.k8s.io", "volumeattributesclasses", "VolumeAttributesClass")
    },
];
