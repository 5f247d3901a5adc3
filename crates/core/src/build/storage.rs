//! The volumes of a member: where its data is, what the agent needs, and where each is mounted in `main`.
//!
//! Everything that is Muster's is under `/muster`, each a mount of its own, so that all but the volume can be read-only.
//! The member's volume is mounted twice: its root for the agent, who keeps `.muster/` there, and the directory `data` in it
//! where the software expects its data. So what the software deletes is never the agent's.

use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, EmptyDirVolumeSource, HostPathVolumeSource, KeyToPath,
    PersistentVolumeClaimVolumeSource, SecretVolumeSource, Volume, VolumeMount,
};
use muster_api::Member;
use muster_api::names::DATA_VOLUME;
use serde::Serialize;

use super::config::{ENGINE_KEY, FILE_PREFIX, MemberConfig, PARAMETER_PREFIX};
use super::{BuildError, names};

/// All that is Muster's is below it.
pub const ROOT: &str = "/muster";
/// Where the agent's program is.
pub const BIN: &str = "/muster/bin";
/// The root of the member's volume.
pub const VOLUME: &str = "/muster/volume";
/// The directory of the volume that holds the data, beside the agent's `.muster`.
pub const DATA_DIRECTORY: &str = "data";
/// Where `engine.json` is.
pub const CONFIG: &str = "/muster/config";
/// Where the engine's files are.
pub const FILES: &str = "/muster/files";
/// Where the parameters are, a file each.
pub const PARAMETERS: &str = "/muster/parameters";
/// Where the engine's secrets are, a directory each.
pub const SECRETS: &str = "/muster/secrets";
/// Where the agent's certificate is.
pub const TLS: &str = "/muster/tls";
/// Where the application's certificate authority is.
pub const CERTIFICATE_AUTHORITY: &str = "/muster/certificate-authority";
/// Where the credentials for replication are: `credentials`, and `targets/<name>`.
pub const REPLICATION: &str = "/muster/replication";
/// Where the other volumes of a Member made by hand are, by their number.
pub const VOLUMES: &str = "/muster/volumes";

/// The volume that the agent's program is copied into.
pub(super) const BIN_VOLUME: &str = "muster-bin";
/// Scripts must be executable, and nobody need write them.
const FILE_MODE: i32 = 0o555;

/// One storage entry of a Member, as the agent is told of it.
#[derive(Serialize)]
struct Told<'a> {
    /// The device or claim, as the Member names it.
    name: &'a str,
    /// Where it is in the container.
    path: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
}

/// The volumes of a member, and their mounts in `main`.
#[derive(Default)]
pub(super) struct Volumes {
    pub(super) list: Vec<Volume>,
    pub(super) mounts: Vec<VolumeMount>,
    /// The storage entries for the agent, as JSON.
    pub(super) told: String,
}

impl Volumes {
    pub(super) fn of(member: &Member, config_name: &str, config: &MemberConfig) -> Result<Self, BuildError> {
        let mut all = Self::default();
        all.own(member, config)?;
        all.add(BIN_VOLUME, BIN, Source::Empty);
        all.add("muster-config", CONFIG, Source::config(config_name, [(ENGINE_KEY, ENGINE_KEY)]));
        let files = config.files.keys().map(|name| (format!("{FILE_PREFIX}{name}"), name.as_str()));
        all.add_config("muster-files", FILES, config_name, files.collect());
        let parameters =
            config.parameters.keys().map(|name| (format!("{PARAMETER_PREFIX}{name}"), name.as_str()));
        all.add_config("muster-parameters", PARAMETERS, config_name, parameters.collect());
        all.add("muster-tls", TLS, Source::Secret(names::agent_secret(names::of_member(member))));
        let cluster = &member.spec.cluster_name;
        for (index, secret) in config.secrets.iter().enumerate() {
            let source = Source::Secret(names::account_secret(cluster, secret));
            all.add(&format!("muster-secret-{index}"), &format!("{SECRETS}/{secret}"), source);
        }
        all.application(config);
        Ok(all)
    }

    /// The Secrets that the cluster names for the application.
    fn application(&mut self, config: &MemberConfig) {
        if let Some(authority) = &config.certificate_authority {
            let source = Source::Secret(authority.secret_name.clone());
            self.add("muster-certificate-authority", CERTIFICATE_AUTHORITY, source);
        }
        let Some(replication) = &config.replication else { return };
        if let Some(credentials) = &replication.credentials {
            let source = Source::Secret(credentials.secret_name.clone());
            self.add("muster-replication", &format!("{REPLICATION}/credentials"), source);
        }
        for (index, target) in replication.targets.iter().enumerate() {
            let Some(credentials) = &target.credentials else { continue };
            let path = format!("{REPLICATION}/targets/{}", target.name);
            self.add(
                &format!("muster-target-{index}"),
                &path,
                Source::Secret(credentials.secret_name.clone()),
            );
        }
    }

    /// The member's own: its first claim is the volume that data and agent live on.
    ///
    /// A device comes from the node, by `hostPath` with the type that admits block devices only. Engines cannot ask for
    /// that, because they are written once for all namespaces; a Member's devices are named by the administrator of this
    /// one, and the namespace's Pod Security level has the last word on the Pod. A local volume and a claim for it
    /// would need rights on the whole cluster, and a node that is known beforehand.
    fn own(&mut self, member: &Member, config: &MemberConfig) -> Result<(), BuildError> {
        let mut told = Vec::new();
        let mut with_data = false;
        for (index, storage) in member.spec.storage.iter().enumerate() {
            let (name, path) = match (&storage.pvc_name, &storage.device) {
                (Some(claim), _) if !with_data => {
                    with_data = true;
                    self.data(claim, config);
                    (claim, VOLUME.to_owned())
                }
                (Some(claim), _) => {
                    let path = format!("{VOLUMES}/{index}");
                    self.add(&format!("muster-volume-{index}"), &path, Source::Claim(claim.clone()));
                    (claim, path)
                }
                (None, Some(device)) => {
                    self.add(&format!("muster-device-{index}"), device, Source::Device(device.clone()));
                    (device, device.clone())
                }
                (None, None) => continue,
            };
            told.push(Told { name, path, tags: &storage.tags });
        }
        if !with_data {
            return Err(BuildError::NoVolume(names::of_member(member).to_owned()));
        }
        self.told = serde_json::to_string(&told).unwrap_or_default();
        Ok(())
    }

    /// The volume with the data, mounted at its root and where the software expects its data.
    fn data(&mut self, claim: &str, config: &MemberConfig) {
        self.add(DATA_VOLUME, VOLUME, Source::Claim(claim.to_owned()));
        self.mounts.push(VolumeMount {
            name: DATA_VOLUME.to_owned(),
            mount_path: config.data_path.clone(),
            sub_path: Some(DATA_DIRECTORY.to_owned()),
            ..VolumeMount::default()
        });
    }

    /// Keys of the configuration as files; an empty directory where there are none, because scripts look into it.
    fn add_config(&mut self, name: &str, path: &str, config: &str, keys: Vec<(String, &str)>) {
        let source = if keys.is_empty() { Source::Empty } else { Source::config(config, keys) };
        self.add(name, path, source);
    }

    fn add(&mut self, name: &str, path: &str, source: Source) {
        self.mounts.push(VolumeMount {
            name: name.to_owned(),
            mount_path: path.to_owned(),
            read_only: source.is_read_only().then_some(true),
            ..VolumeMount::default()
        });
        self.list.push(source.volume(name));
    }
}

/// Where a volume comes from.
enum Source {
    Empty,
    Claim(String),
    Device(String),
    Secret(String),
    Config { name: String, items: Vec<KeyToPath> },
}

impl Source {
    fn config<K: Into<String>, P: Into<String>>(name: &str, keys: impl IntoIterator<Item = (K, P)>) -> Self {
        let item = |(key, path): (K, P)| KeyToPath { key: key.into(), path: path.into(), mode: None };
        Self::Config { name: name.to_owned(), items: keys.into_iter().map(item).collect() }
    }

    fn is_read_only(&self) -> bool {
        match self {
            Self::Empty | Self::Secret(_) | Self::Config { .. } => true,
            Self::Claim(_) | Self::Device(_) => false,
        }
    }

    fn volume(self, name: &str) -> Volume {
        let mut volume = Volume { name: name.to_owned(), ..Volume::default() };
        match self {
            Self::Empty => volume.empty_dir = Some(EmptyDirVolumeSource::default()),
            Self::Claim(claim_name) => {
                volume.persistent_volume_claim =
                    Some(PersistentVolumeClaimVolumeSource { claim_name, read_only: None });
            }
            Self::Device(path) => {
                let type_ = Some("BlockDevice".to_owned());
                volume.host_path = Some(HostPathVolumeSource { path, type_ });
            }
            Self::Secret(name) => {
                volume.secret =
                    Some(SecretVolumeSource { secret_name: Some(name), ..SecretVolumeSource::default() });
            }
            Self::Config { name, items } => {
                volume.config_map = Some(ConfigMapVolumeSource {
                    name,
                    items: Some(items),
                    default_mode: Some(FILE_MODE),
                    optional: None,
                });
            }
        }
        volume
    }
}
