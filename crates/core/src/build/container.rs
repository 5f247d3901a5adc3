//! One container of an engine's template, as Kubernetes has it.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, EnvVar, EnvVarSource, ExecAction, HTTPGetAction, Probe,
    SecretKeySelector, SecurityContext, TCPSocketAction, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use muster_api::engine;

use super::pod::Secrets;

/// A list, or nothing where there is nothing in it.
pub(super) fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

pub(super) fn container(own: &engine::Container, secrets: Secrets<'_>) -> Container {
    Container {
        name: own.name.clone(),
        image: own.image.clone(),
        command: some(own.command.clone()),
        args: some(own.args.clone()),
        env: some(own.env.iter().map(|variable| env(variable, secrets)).collect()),
        ports: some(own.ports.iter().map(port).collect()),
        resources: own.resources.as_ref().map(Into::into),
        liveness_probe: own.liveness_probe.as_ref().map(|own| probe(own, Of::Liveness)),
        readiness_probe: own.readiness_probe.as_ref().map(|own| probe(own, Of::Readiness)),
        startup_probe: own.startup_probe.as_ref().map(|own| probe(own, Of::Startup)),
        security_context: own.security_context.as_ref().map(security_context),
        volume_mounts: some(own.mounts.iter().map(mount).collect()),
        ..Container::default()
    }
}

fn env(own: &engine::EnvVar, secrets: Secrets<'_>) -> EnvVar {
    let from_secret = |key: &engine::SecretKey| EnvVarSource {
        secret_key_ref: Some(SecretKeySelector {
            name: secrets.resolve(&key.name),
            key: key.key.clone(),
            optional: None,
        }),
        ..EnvVarSource::default()
    };
    EnvVar {
        name: own.name.clone(),
        value: own.value.clone(),
        value_from: own.secret_key.as_ref().map(from_secret),
    }
}

fn port(own: &engine::ContainerPort) -> ContainerPort {
    ContainerPort {
        name: Some(own.name.clone()),
        container_port: own.container_port,
        protocol: Some(own.protocol.as_str().to_owned()),
        ..ContainerPort::default()
    }
}

/// What a probe is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Liveness,
    Readiness,
    Startup,
}

fn probe(own: &engine::Probe, of: Of) -> Probe {
    Probe {
        exec: own.exec.as_ref().map(|exec| ExecAction { command: some(exec.command.clone()) }),
        http_get: own.http_get.as_ref().map(|http| HTTPGetAction {
            path: http.path.clone(),
            port: IntOrString::Int(http.port),
            ..HTTPGetAction::default()
        }),
        tcp_socket: own
            .tcp_socket
            .as_ref()
            .map(|tcp| TCPSocketAction { host: None, port: IntOrString::Int(tcp.port) }),
        initial_delay_seconds: own.initial_delay_seconds,
        period_seconds: own.period_seconds,
        timeout_seconds: own.timeout_seconds,
        // Kubernetes takes nothing but 1 where a failure restarts the container.
        success_threshold: own.success_threshold.filter(|_| of == Of::Readiness),
        failure_threshold: own.failure_threshold,
        ..Probe::default()
    }
}

fn security_context(own: &engine::ContainerSecurityContext) -> SecurityContext {
    SecurityContext {
        run_as_user: own.run_as_user,
        run_as_group: own.run_as_group,
        run_as_non_root: own.run_as_non_root,
        read_only_root_filesystem: own.read_only_root_filesystem,
        allow_privilege_escalation: own.allow_privilege_escalation,
        privileged: own.privileged,
        capabilities: own
            .capabilities
            .as_ref()
            .map(|own| Capabilities { add: some(own.add.clone()), drop: some(own.drop.clone()) }),
        ..SecurityContext::default()
    }
}

fn mount(own: &engine::Mount) -> VolumeMount {
    VolumeMount {
        name: own.name.clone(),
        mount_path: own.mount_path.clone(),
        sub_path: own.sub_path.clone(),
        read_only: own.read_only,
        ..VolumeMount::default()
    }
}
