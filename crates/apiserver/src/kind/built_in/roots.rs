//! The types of k8s-openapi that definitions are made from; what these refer to comes with them.

use k8s_openapi::api::{
    apps::v1 as apps, authentication::v1 as authentication, authorization::v1 as authorization,
    autoscaling::v1 as autoscaling_v1, autoscaling::v2 as autoscaling, batch::v1 as batch,
    certificates::v1 as certificates, coordination::v1 as coordination, core::v1 as core,
    discovery::v1 as discovery, events::v1 as events, networking::v1 as networking, node::v1 as node,
    policy::v1 as policy, rbac::v1 as rbac, resource::v1 as resource, scheduling::v1 as scheduling,
    storage::v1 as storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schemars::SchemaGenerator;

macro_rules! refer {
    ($generator:ident, $($module:ident: $($kind:ident),+;)+) => {
        $($(drop($generator.subschema_for::<$module::$kind>());)+)+
    };
}

/// Makes the generator know every type.
pub(super) fn refer(generator: &mut SchemaGenerator) {
    refer! { generator,
        apiextensions: CustomResourceDefinition;
        apps: ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet;
        authentication: SelfSubjectReview, TokenRequest, TokenReview;
        authorization: LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview;
        autoscaling: HorizontalPodAutoscaler;
        autoscaling_v1: HorizontalPodAutoscaler, Scale;
        batch: CronJob, Job;
        certificates: CertificateSigningRequest;
        coordination: Lease;
        core: Binding, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod,
            PodTemplate, ReplicationController, ResourceQuota, Secret, Service, ServiceAccount;
        discovery: EndpointSlice;
        events: Event;
        meta: APIGroup, APIGroupList, APIResourceList, APIVersions, DeleteOptions, ListMeta, Patch, Status;
        networking: IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR;
        node: RuntimeClass;
        policy: Eviction, PodDisruptionBudget;
        rbac: ClusterRole, ClusterRoleBinding, Role, RoleBinding;
        resource: DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice;
        scheduling: PriorityClass;
        storage: CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass;
    }
}
