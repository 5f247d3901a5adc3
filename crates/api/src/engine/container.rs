//! A container of an engine's template: the part of Kubernetes' own that engines need, and nothing that reaches the
//! host.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::Resources;
use crate::limits;
use crate::rules;

/// One container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::CONTAINER_NAME_RESERVED)]
pub struct Container {
    /// Its name. `main` runs under the agent.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Its image, unless `versions[].images` names one for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::IMAGE_MAX))]
    pub image: Option<String>,
    /// What to run in place of the image's entry point. Not for `main`, which is started by actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_COMMAND), inner(length(max = limits::COMMAND_WORD_MAX)))]
    pub command: Vec<String>,
    /// The arguments of the entry point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_COMMAND), inner(length(max = limits::COMMAND_WORD_MAX)))]
    pub args: Vec<String>,
    /// Environment variables, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_ENV))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub env: Vec<EnvVar>,
    /// The ports it listens on, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_PORTS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub ports: Vec<ContainerPort>,
    /// What it asks for, and what it may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// When it is restarted. Not for `main`, which the agent supervises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<Probe>,
    /// When it is ready. Not for `main`, which is ready while it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<Probe>,
    /// When the other probes begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_probe: Option<Probe>,
    /// As whom and with which rights it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_context: Option<ContainerSecurityContext>,
    /// Where volumes are mounted, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_VOLUMES))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["mountPath".into()]))]
    pub mounts: Vec<Mount>,
}

/// One environment variable: a value, or a key of a Secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::ENV_ONE_SOURCE, validation = rules::ENV_NAME_RESERVED)]
pub struct EnvVar {
    /// Its name. `MUSTER_…` is Muster's own.
    #[schemars(length(min = 1, max = limits::ENV_NAME_MAX), regex(pattern = limits::ENV_NAME_PATTERN))]
    pub name: String,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ENV_VALUE_MAX))]
    pub value: Option<String>,
    /// The key of a Secret that holds its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_key: Option<SecretKey>,
}

/// One key of one of the engine's generated Secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKey {
    /// The name of one of the engine's `secrets`.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// The key in it.
    #[schemars(length(min = 1, max = limits::KEY_MAX), regex(pattern = limits::KEY_PATTERN))]
    pub key: String,
}

/// One port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerPort {
    /// Its name.
    #[schemars(length(min = 1, max = 15), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Its number.
    #[schemars(range(min = 1, max = limits::PORT_MAX))]
    pub container_port: i32,
    /// `TCP` (default) or `UDP`.
    #[serde(default)]
    pub protocol: Protocol,
}

/// The protocol of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

impl Protocol {
    /// The text that Kubernetes uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// How a container is probed: one of `exec`, `httpGet` and `tcpSocket`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rules::PROBE_ONE_KIND)]
pub struct Probe {
    /// A command that exits 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecProbe>,
    /// An HTTP GET that is answered with 200 to 399.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_get: Option<HttpProbe>,
    /// A TCP connection that is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<TcpProbe>,
    /// How long to wait before the first probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::TIMEOUT_MAX))]
    pub initial_delay_seconds: Option<i32>,
    /// How often to probe; 10 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::TIMEOUT_MAX))]
    pub period_seconds: Option<i32>,
    /// How long a probe may take; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::TIMEOUT_MAX))]
    pub timeout_seconds: Option<i32>,
    /// How many successes in a row make it pass; 1 if not given, and always for liveness and startup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub success_threshold: Option<i32>,
    /// How many failures in a row make it fail; 3 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub failure_threshold: Option<i32>,
}

/// A command as a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecProbe {
    /// The program and its arguments.
    #[schemars(length(min = 1, max = limits::MAX_COMMAND), inner(length(max = limits::COMMAND_WORD_MAX)))]
    pub command: Vec<String>,
}

/// An HTTP GET as a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpProbe {
    /// The path; `/` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PATH_MAX))]
    pub path: Option<String>,
    /// The port.
    #[schemars(range(min = 1, max = limits::PORT_MAX))]
    pub port: i32,
}

/// A TCP connection as a probe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct TcpProbe {
    /// The port.
    #[schemars(range(min = 1, max = limits::PORT_MAX))]
    pub port: i32,
}

/// As whom and with which rights a container runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerSecurityContext {
    /// The user id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::ID_MAX))]
    pub run_as_user: Option<i64>,
    /// The group id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = limits::ID_MAX))]
    pub run_as_group: Option<i64>,
    /// Whether to refuse to run as root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as_non_root: Option<bool>,
    /// Whether the image's files cannot be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_root_filesystem: Option<bool>,
    /// Whether a process may gain more rights than its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_privilege_escalation: Option<bool>,
    /// Whether it runs with all rights on the node's devices, as some storage software needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
    /// Which Linux capabilities it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

/// Linux capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// To be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_CAPABILITIES), inner(length(min = 1, max = limits::WORD_MAX)))]
    pub add: Vec<String>,
    /// To be dropped; `ALL` drops all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_CAPABILITIES), inner(length(min = 1, max = limits::WORD_MAX)))]
    pub drop: Vec<String>,
}

/// Where a volume is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mount {
    /// The name of a volume of the template, or `data` for the member's own.
    #[schemars(length(min = 1, max = limits::DNS_LABEL_MAX), regex(pattern = limits::DNS_LABEL_PATTERN))]
    pub name: String,
    /// Where in the container.
    #[schemars(length(min = 1, max = limits::PATH_MAX), regex(pattern = limits::PATH_PATTERN))]
    pub mount_path: String,
    /// A path within the volume, in place of its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::PATH_MAX), regex(pattern = limits::RELATIVE_PATH_PATTERN))]
    pub sub_path: Option<String>,
    /// Whether it cannot be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}
