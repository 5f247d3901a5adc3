//! The configuration of a cluster's members: an immutable ConfigMap `<cluster>-<hash>` with all that a member needs
//! besides its own spec, and the same read back.
//!
//! A StatefulSet is a function of its Member's spec and of this, so whatever is in here rolls the members when it changes,
//! and what is not in here does not. Of the engine's versions only the wanted one is in it: to offer another restarts
//! nobody. Keys are such that a volume can show them as directories: `files.<name>`, `parameters.<name>`, and `engine.json`
//! for the rest.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use muster_api::ReplicatedCluster;
use muster_api::cluster::Replication;
use muster_api::common::SecretReference;
use muster_api::engine::{Actions, EnginePort, ReplicationEngineSpec, Template, Topology};
use muster_api::member::{Member, Workload};
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::{BuildError, hex, names, owners};

/// Most bytes in the values of a ConfigMap, as Kubernetes has it.
pub const SIZE_MAX: usize = 1 << 20;
/// Longest key of a ConfigMap, as Kubernetes has it.
const KEY_MAX: usize = 253;
/// Digits of the hash in a name. It tells the few configurations of one cluster apart; 48 bits are plenty.
const HASH_DIGITS: usize = 12;

/// The key of everything that is neither file nor parameter.
pub const ENGINE_KEY: &str = "engine.json";
/// What the keys of files start with.
pub const FILE_PREFIX: &str = "files.";
/// What the keys of parameters start with.
pub const PARAMETER_PREFIX: &str = "parameters.";

/// Longest name of an engine's file: with its prefix it is a key of the ConfigMap.
pub const FILE_NAME_MAX: usize = KEY_MAX - FILE_PREFIX.len();

/// What the members of a cluster run with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberConfig {
    /// The version of the software.
    pub version: String,
    /// The image that the agent is copied from.
    pub agent_image: String,
    /// The Pod, with the images of this version.
    pub template: Template,
    /// Where `main` expects its data.
    pub data_path: String,
    /// The port that clients use.
    pub client_port: i32,
    /// The other ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<EnginePort>,
    /// The engine's generated secrets, by the name that the engine gives them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The commands that drive the software.
    pub actions: Actions,
    /// How long a running member may show no progress.
    pub stall_timeout_seconds: i32,
    /// How the members stand to each other.
    pub topology: Topology,
    /// Replication to and from other places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replication>,
    /// The application's certificate authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<SecretReference>,
    /// The engine's files, by name.
    #[serde(skip)]
    pub files: BTreeMap<String, String>,
    /// The parameters that have a value: the cluster's, else the engine's default.
    #[serde(skip)]
    pub parameters: BTreeMap<String, String>,
}

/// The version that a cluster wants: the one it names, else the engine's first.
pub fn version<'a>(
    cluster: &'a ReplicatedCluster,
    engine: &'a ReplicationEngineSpec,
) -> Result<&'a str, BuildError> {
    let first = || engine.versions.first().map(|version| version.version.as_str());
    let wanted = cluster.spec.engine.version.as_deref().or_else(first).unwrap_or_default();
    let known = engine.versions.iter().any(|version| version.version == wanted);
    known.then_some(wanted).ok_or_else(|| BuildError::NoVersion(wanted.to_owned()))
}

impl MemberConfig {
    /// What the members of this cluster are to run with.
    pub fn of(
        cluster: &ReplicatedCluster,
        engine: &ReplicationEngineSpec,
        agent_image: &str,
    ) -> Result<Self, BuildError> {
        let version = version(cluster, engine)?;
        Ok(Self {
            version: version.to_owned(),
            agent_image: agent_image.to_owned(),
            template: with_images(engine, version),
            data_path: engine.data_path.clone(),
            client_port: engine.client_port,
            ports: engine.ports.clone(),
            secrets: engine.secrets.iter().map(|secret| secret.name.clone()).collect(),
            actions: engine.actions.clone(),
            stall_timeout_seconds: engine.stall_timeout_seconds,
            topology: engine.topology.clone(),
            replication: cluster.spec.replication.clone(),
            certificate_authority: cluster.spec.certificate_authority.clone(),
            files: engine.files.clone(),
            parameters: parameters(cluster, engine),
        })
    }

    /// Whether what the members of this cluster are to run with fits into a ConfigMap, whatever image the agent comes from.
    pub fn check_size(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> Result<(), BuildError> {
        let longest = usize::try_from(muster_api::limits::IMAGE_MAX).unwrap_or_default();
        let image = "x".repeat(longest);
        Self::of(cluster, engine, &image)?.data().map(drop)
    }

    /// The keys and values of the ConfigMap.
    fn data(&self) -> Result<BTreeMap<String, String>, BuildError> {
        let engine = serde_json::to_string(self).map_err(|error| BuildError::NotAConfig {
            name: ENGINE_KEY.to_owned(),
            why: error.to_string(),
        })?;
        let mut data = BTreeMap::from([(ENGINE_KEY.to_owned(), engine)]);
        for (name, text) in &self.files {
            if name.len() > FILE_NAME_MAX {
                return Err(BuildError::FileName(name.clone()));
            }
            data.insert(format!("{FILE_PREFIX}{name}"), text.clone());
        }
        for (name, value) in &self.parameters {
            data.insert(format!("{PARAMETER_PREFIX}{name}"), value.clone());
        }
        let size = data.values().map(String::len).sum();
        if size > SIZE_MAX { Err(BuildError::TooLarge(size)) } else { Ok(data) }
    }

    /// The name of the ConfigMap that holds this, for a cluster.
    pub fn name(&self, cluster: &str) -> Result<String, BuildError> {
        Ok(names::config_map(cluster, &hash(&self.data()?)))
    }

    /// The ConfigMap that holds this.
    pub fn config_map(&self, cluster: &ReplicatedCluster) -> Result<ConfigMap, BuildError> {
        let data = self.data()?;
        let of = names::of_cluster(cluster);
        let name = names::config_map(of, &hash(&data));
        let metadata = names::metadata(name, cluster.metadata.namespace.as_ref(), names::cluster_labels(of));
        Ok(ConfigMap {
            metadata: owners::owned(metadata, owners::by_cluster(cluster)),
            data: Some(data),
            binary_data: None,
            immutable: Some(true),
        })
    }

    /// What a ConfigMap holds. One whose name does not follow from its contents is not ours.
    pub fn read(config_map: &ConfigMap) -> Result<Self, BuildError> {
        let name = config_map.metadata.name.clone().unwrap_or_default();
        let not = |why: String| BuildError::NotAConfig { name: name.clone(), why };
        let empty = BTreeMap::new();
        let data = config_map.data.as_ref().unwrap_or(&empty);
        let engine = data.get(ENGINE_KEY).ok_or_else(|| not(format!("it has no {ENGINE_KEY}")))?;
        if !name.ends_with(&format!("-{}", hash(data))) {
            return Err(not("its name does not follow from what it holds".to_owned()));
        }
        let mut config: Self = serde_json::from_str(engine).map_err(|error| not(error.to_string()))?;
        config.files = with_prefix(data, FILE_PREFIX);
        config.parameters = with_prefix(data, PARAMETER_PREFIX);
        Ok(config)
    }

    /// Whether this is what a Member's workload asks for, by version and by name.
    pub(super) fn check(&self, member: &Member, workload: &Workload) -> Result<(), BuildError> {
        let name = self.name(&member.spec.cluster_name)?;
        if self.version == workload.version && name == workload.config {
            return Ok(());
        }
        Err(BuildError::OtherConfig {
            member: names::of_member(member).to_owned(),
            wanted: format!("{} {}", workload.config, workload.version),
            found: format!("{name} {}", self.version),
        })
    }
}

fn with_prefix(data: &BTreeMap<String, String>, prefix: &str) -> BTreeMap<String, String> {
    let named = data.iter().filter_map(|(key, value)| Some((key.strip_prefix(prefix)?, value)));
    named.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// The template with the images of a version.
fn with_images(engine: &ReplicationEngineSpec, version: &str) -> Template {
    let mut template = engine.template.clone();
    let version = engine.versions.iter().find(|known| known.version == version);
    for container in &mut template.containers {
        if let Some(image) = version.and_then(|version| version.images.get(&container.name)) {
            container.image = Some(image.clone());
        }
    }
    template
}

fn parameters(cluster: &ReplicatedCluster, engine: &ReplicationEngineSpec) -> BTreeMap<String, String> {
    let given = &cluster.spec.engine.parameters;
    let value = |parameter: &muster_api::engine::Parameter| {
        let value = given.get(&parameter.name).or(parameter.default.as_ref())?;
        Some((parameter.name.clone(), value.clone()))
    };
    engine.parameters.iter().filter_map(value).collect()
}

/// Stands for keys and values: each with its length before it, so that nothing can be mistaken for something else.
fn hash(data: &BTreeMap<String, String>) -> String {
    let mut context = Context::new(&SHA256);
    for text in data.iter().flat_map(|(key, value)| [key, value]) {
        context.update(&(text.len() as u64).to_be_bytes());
        context.update(text.as_bytes());
    }
    let mut digits = hex::digits(context.finish().as_ref());
    digits.truncate(HASH_DIGITS);
    digits
}
