//! What an engine says that could not become the objects that are built from it: names and ports that are Muster's own,
//! and what the API server would refuse in a Pod or Service.

use std::collections::BTreeSet;

use muster_api::engine::{Container, ContainerSecurityContext, Protocol, ReplicationEngineSpec, Template};
use muster_api::names::{AGENT_PORT, AGENT_PROBE_PORT, DATA_VOLUME, MAIN_CONTAINER};

use super::{Path, Violation};
use crate::build::config::FILE_NAME_MAX;
use crate::build::names::AGENT_CA;
use crate::build::storage;

/// What the names of Muster's own ports start with.
const OWN_PREFIX: &str = "muster-";

/// Everything of it.
pub(super) fn violations(engine: &ReplicationEngineSpec) -> Vec<Violation> {
    let mut found = Found(Vec::new());
    let spec = Path::root("spec");
    found.ports(engine, &spec);
    if below(&engine.data_path, storage::ROOT) || engine.data_path == "/" {
        found.refuse(&spec.field("dataPath"), "must be neither / nor below /muster, which is Muster's own");
    }
    found.path(&engine.data_path, &spec.field("dataPath"));
    for name in engine.files.keys().filter(|name| name.len() > FILE_NAME_MAX) {
        let text = format!("the name of a file has at most {FILE_NAME_MAX} characters");
        found.refuse(&spec.field("files").key(name), text);
    }
    for (index, secret) in engine.secrets.iter().enumerate().filter(|(_, secret)| secret.name == AGENT_CA) {
        let path = spec.field("secrets").index(index).field("name");
        found.refuse(&path, format!("{:?} is Muster's own", secret.name));
    }
    let template = spec.field("template");
    found.template(&engine.template, &template);
    if let Some(index) = engine.template.containers.iter().position(|own| own.name == MAIN_CONTAINER) {
        let path = template.field("containers").index(index);
        found.main(&engine.template.containers[index], engine, &path);
    }
    for (index, driver) in engine.drivers.iter().enumerate() {
        found.template(&driver.template, &spec.field("drivers").index(index).field("template"));
    }
    found.0
}

/// Whether a path is another or below it.
fn below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_agents(port: i32, protocol: Protocol) -> bool {
    protocol == Protocol::Tcp && [AGENT_PORT, AGENT_PROBE_PORT].contains(&port)
}

struct Found(Vec<Violation>);

impl Found {
    fn refuse(&mut self, path: &Path, message: impl Into<String>) {
        self.0.push(Violation { path: path.to_string(), message: message.into() });
    }

    /// A path that leads out of where it is.
    fn path(&mut self, text: &str, path: &Path) {
        if text.split('/').any(|part| part == "..") {
            self.refuse(path, "must not contain ..");
        }
    }

    /// The ports that become those of a Service, where each stands once.
    fn ports(&mut self, engine: &ReplicationEngineSpec, spec: &Path) {
        let agents = "is a port of the agent";
        if is_agents(engine.client_port, Protocol::Tcp) {
            self.refuse(&spec.field("clientPort"), agents);
        }
        let mut seen = BTreeSet::new();
        for (index, port) in engine.ports.iter().enumerate() {
            let path = spec.field("ports").index(index);
            if is_agents(port.port, port.protocol) {
                self.refuse(&path.field("port"), agents);
            }
            if !seen.insert((port.port, port.protocol.as_str())) {
                self.refuse(&path.field("port"), "is there twice");
            }
            if port.name.starts_with(OWN_PREFIX) {
                self.refuse(&path.field("name"), "names that start with muster- are Muster's own");
            }
        }
    }

    fn template(&mut self, template: &Template, path: &Path) {
        for (index, container) in template.containers.iter().enumerate() {
            self.container(container, &path.field("containers").index(index));
        }
        for (index, volume) in template.volumes.iter().enumerate() {
            let path = path.field("volumes").index(index);
            let config_map = volume.config_map.as_ref().map(|source| ("configMap", &source.items));
            let secret = volume.secret.as_ref().map(|source| ("secret", &source.items));
            for (field, items) in config_map.into_iter().chain(secret) {
                for (index, item) in items.iter().enumerate() {
                    self.file(&item.path, &path.field(field).field("items").index(index).field("path"));
                }
            }
            if volume.secret.as_ref().is_some_and(|source| source.name.ends_with(&format!("-{AGENT_CA}"))) {
                self.refuse(&path.field("secret").field("name"), "the CA of agents is mounted nowhere");
            }
        }
    }

    fn file(&mut self, text: &str, path: &Path) {
        self.path(text, path);
        if text.starts_with("..") {
            self.refuse(path, "must not start with ..");
        }
    }

    fn container(&mut self, container: &Container, path: &Path) {
        let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
        for (index, port) in container.ports.iter().enumerate() {
            let path = path.field("ports").index(index);
            if !port.name.bytes().any(|byte| byte.is_ascii_lowercase()) || port.name.contains("--") {
                self.refuse(&path.field("name"), "must have a letter, and no two dashes in a row");
            }
            if !names.insert(&port.name) || !numbers.insert((port.container_port, port.protocol.as_str())) {
                self.refuse(&path, "is there twice");
            }
        }
        for (index, mount) in container.mounts.iter().enumerate() {
            let path = path.field("mounts").index(index);
            if let Some(sub_path) = &mount.sub_path {
                self.path(sub_path, &path.field("subPath"));
            }
        }
        if container.image.as_ref().is_some_and(|image| image.trim() != image) {
            self.refuse(&path.field("image"), "must not start or end with a blank");
        }
        if let Some(context) = &container.security_context {
            self.security_context(context, &path.field("securityContext"));
        }
    }

    fn security_context(&mut self, context: &ContainerSecurityContext, path: &Path) {
        let added = context.capabilities.iter().flat_map(|own| &own.add);
        let escalates = context.privileged == Some(true)
            || added.clone().any(|name| matches!(name.as_str(), "SYS_ADMIN" | "CAP_SYS_ADMIN"));
        if context.allow_privilege_escalation == Some(false) && escalates {
            let text = "must not be false where privileged or SYS_ADMIN is given";
            self.refuse(&path.field("allowPrivilegeEscalation"), text);
        }
    }

    /// `main` has what is Muster's beside its own.
    fn main(&mut self, main: &Container, engine: &ReplicationEngineSpec, path: &Path) {
        for (index, port) in main.ports.iter().enumerate() {
            let path = path.field("ports").index(index);
            if is_agents(port.container_port, port.protocol) {
                self.refuse(&path.field("containerPort"), "is a port of the agent");
            }
            if port.name.starts_with(OWN_PREFIX) {
                self.refuse(&path.field("name"), "names that start with muster- are Muster's own");
            }
        }
        for (index, mount) in main.mounts.iter().enumerate() {
            let path = path.field("mounts").index(index).field("mountPath");
            if below(&mount.mount_path, storage::ROOT) {
                self.refuse(&path, "what is below /muster is Muster's own");
            }
            let data = mount.name == DATA_VOLUME && mount.sub_path.is_none();
            if mount.mount_path == engine.data_path && !data {
                self.refuse(&path, "is where the data is");
            }
        }
    }
}
