//! The Pod of an engine's template: what members and drivers have in common.

use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, EmptyDirVolumeSource, KeyToPath, PodSecurityContext, PodSpec, SecretVolumeSource,
    Volume,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as KubeQuantity;
use muster_api::engine::{self, Template};

use super::{container, names};

/// Where the names in a template lead: an engine's own secret is `<cluster>-<name>`, any other is a Secret of the
/// namespace.
#[derive(Clone, Copy)]
pub(super) struct Secrets<'a> {
    pub(super) cluster: &'a str,
    pub(super) names: &'a [String],
}

impl Secrets<'_> {
    pub(super) fn resolve(self, name: &str) -> String {
        if self.names.iter().any(|own| own == name) {
            return names::account_secret(self.cluster, name);
        }
        name.to_owned()
    }
}

/// The Pod. It gets no token of the API server, and no variables for every Service of the namespace: both would tell the
/// application what it need not know.
pub(super) fn spec(template: &Template, secrets: Secrets<'_>) -> PodSpec {
    let some = |volumes: Vec<Volume>| (!volumes.is_empty()).then_some(volumes);
    PodSpec {
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        containers: template.containers.iter().map(|own| container::container(own, secrets)).collect(),
        security_context: template.security_context.as_ref().map(security_context),
        termination_grace_period_seconds: template.termination_grace_period_seconds,
        volumes: some(template.volumes.iter().map(|own| volume(own, secrets)).collect()),
        ..PodSpec::default()
    }
}

fn security_context(own: &engine::PodSecurityContext) -> PodSecurityContext {
    PodSecurityContext {
        run_as_user: own.run_as_user,
        run_as_group: own.run_as_group,
        run_as_non_root: own.run_as_non_root,
        fs_group: own.fs_group,
        ..PodSecurityContext::default()
    }
}

fn volume(own: &engine::Volume, secrets: Secrets<'_>) -> Volume {
    let mut volume = Volume { name: own.name.clone(), ..Volume::default() };
    if let Some(empty) = &own.empty_dir {
        volume.empty_dir = Some(EmptyDirVolumeSource {
            medium: empty.memory.filter(|memory| *memory).map(|_| "Memory".to_owned()),
            size_limit: empty.size_limit.as_ref().map(|size| KubeQuantity(size.to_string())),
        });
    }
    volume.config_map = own.config_map.as_ref().map(|source| ConfigMapVolumeSource {
        name: source.name.clone(),
        items: items(&source.items),
        default_mode: source.default_mode,
        optional: None,
    });
    volume.secret = own.secret.as_ref().map(|source| SecretVolumeSource {
        secret_name: Some(secrets.resolve(&source.name)),
        items: items(&source.items),
        default_mode: source.default_mode,
        optional: None,
    });
    volume
}

fn items(own: &[engine::KeyToFile]) -> Option<Vec<KeyToPath>> {
    let item =
        |item: &engine::KeyToFile| KeyToPath { key: item.key.clone(), path: item.path.clone(), mode: None };
    (!own.is_empty()).then(|| own.iter().map(item).collect())
}
