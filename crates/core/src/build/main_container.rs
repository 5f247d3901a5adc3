//! The container `main`, which runs under the agent, and the init container that brings the agent.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, ObjectFieldSelector, Probe,
    SecurityContext, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use muster_api::Member;
use muster_api::engine::Protocol;
use muster_api::names::{AGENT_PORT, AGENT_PROBE_PORT, DATA_VOLUME};

use super::config::MemberConfig;
use super::names;
use super::services::{AGENT_PORT_NAME, PROBE_PORT_NAME};
use super::storage::{self, Volumes};

/// The init container that copies the agent.
const INIT_CONTAINER: &str = "muster-agent";
/// The agent, in its own image, found by `PATH`.
const PROGRAM: &str = "muster-agent";

/// How often readiness is asked: clients are sent to a member, or no longer, this soon after it serves.
const READINESS_PERIOD: i32 = 2;
/// How often it is asked whether the agent lives.
const LIVENESS_PERIOD: i32 = 10;
/// How often it may fail to answer: a minute, because a restart of the agent is a restart of the application.
const LIVENESS_FAILURES: i32 = 6;
/// How long an answer may take: a busy machine is not a dead agent.
const PROBE_TIMEOUT: i32 = 5;

/// Copies the agent from its own image. As whom `main` runs, so that the copy is readable for it, and with no rights.
pub(super) fn init(config: &MemberConfig, main: &Container) -> Container {
    let of_main = main.security_context.clone().unwrap_or_default();
    Container {
        name: INIT_CONTAINER.to_owned(),
        image: Some(config.agent_image.clone()),
        command: Some(vec![PROGRAM.to_owned(), "install".to_owned(), storage::BIN.to_owned()]),
        volume_mounts: Some(vec![VolumeMount {
            name: storage::BIN_VOLUME.to_owned(),
            mount_path: storage::BIN.to_owned(),
            ..VolumeMount::default()
        }]),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities { add: None, drop: Some(vec!["ALL".to_owned()]) }),
            read_only_root_filesystem: Some(true),
            run_as_user: of_main.run_as_user,
            run_as_group: of_main.run_as_group,
            run_as_non_root: of_main.run_as_non_root,
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}

/// Puts `main` under the agent.
pub(super) fn under_agent(main: &mut Container, member: &Member, config: &MemberConfig, volumes: Volumes) {
    main.command = Some(vec![format!("{}/{PROGRAM}", storage::BIN), "run".to_owned()]);
    main.args = None;
    main.readiness_probe = Some(Probe { period_seconds: Some(READINESS_PERIOD), ..probe("/readyz") });
    main.liveness_probe = Some(Probe {
        period_seconds: Some(LIVENESS_PERIOD),
        failure_threshold: Some(LIVENESS_FAILURES),
        ..probe("/livez")
    });
    main.startup_probe = None;
    if let Some(resources) = member.spec.workload.as_ref().and_then(|workload| workload.resources.as_ref()) {
        main.resources = Some(resources.into());
    }
    let ports = main.ports.get_or_insert_default();
    ports.push(port(AGENT_PORT_NAME, AGENT_PORT));
    ports.push(port(PROBE_PORT_NAME, AGENT_PROBE_PORT));
    let mut variables = environment(member, config, &volumes.told);
    variables.append(main.env.get_or_insert_default());
    main.env = Some(variables);
    // An engine may say itself where the data is mounted; it means the same.
    let mounts = main.volume_mounts.get_or_insert_default();
    mounts.retain(|mount| mount.name != DATA_VOLUME || mount.mount_path != config.data_path);
    mounts.extend(volumes.mounts);
}

/// Mounts of the member's volume by the engine are mounts of its data: nobody but the agent sees what the agent keeps.
pub(super) fn hide_agent_state(container: &mut Container) {
    for mount in container.volume_mounts.iter_mut().flatten().filter(|mount| mount.name == DATA_VOLUME) {
        mount.sub_path = Some(match &mount.sub_path {
            Some(path) => format!("{}/{path}", storage::DATA_DIRECTORY),
            None => storage::DATA_DIRECTORY.to_owned(),
        });
    }
}

fn probe(path: &str) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::Int(AGENT_PROBE_PORT),
            ..HTTPGetAction::default()
        }),
        timeout_seconds: Some(PROBE_TIMEOUT),
        ..Probe::default()
    }
}

fn port(name: &str, number: i32) -> ContainerPort {
    ContainerPort {
        name: Some(name.to_owned()),
        container_port: number,
        protocol: Some(Protocol::Tcp.as_str().to_owned()),
        ..ContainerPort::default()
    }
}

/// What the agent and the actions are told; they come first, so that the engine's own may refer to them.
fn environment(member: &Member, config: &MemberConfig, storage: &str) -> Vec<EnvVar> {
    let value = |name: &str, value: &str| EnvVar {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        value_from: None,
    };
    vec![
        value("MUSTER_CLUSTER", &member.spec.cluster_name),
        value("MUSTER_MEMBER", names::of_member(member)),
        of_pod("MUSTER_NAMESPACE", "metadata.namespace"),
        of_pod("MUSTER_POD_UID", "metadata.uid"),
        of_pod("MUSTER_ADDRESS", "status.podIP"),
        value("MUSTER_DATA", &config.data_path),
        value("MUSTER_VOLUME", storage::VOLUME),
        value("MUSTER_STORAGE", storage),
        value("MUSTER_CONFIG", storage::CONFIG),
        value("MUSTER_FILES", storage::FILES),
        value("MUSTER_PARAMETERS", storage::PARAMETERS),
        value("MUSTER_SECRETS", storage::SECRETS),
        value("MUSTER_TLS", storage::TLS),
    ]
}

/// A variable that the kubelet fills in. The version is said, because the API server fills it in otherwise.
pub(super) fn of_pod(name: &str, path: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                api_version: Some("v1".to_owned()),
                field_path: path.to_owned(),
            }),
            ..EnvVarSource::default()
        }),
    }
}
