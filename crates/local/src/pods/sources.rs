//! What a Pod refers to: `ConfigMap`s, Secrets and claims. All must be there before it starts, but for what is optional.

use std::collections::BTreeMap;
use std::path::PathBuf;

use k8s_openapi::api::core::v1::{
    ConfigMap, Container, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec, Secret, Volume,
};
use kube::{Api, Client, ResourceExt as _};

/// What a ConfigMap or Secret holds, as bytes.
pub(super) type Contents = BTreeMap<String, Vec<u8>>;

/// What a Pod refers to, as it is now. None: it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) config_maps: BTreeMap<String, Option<Contents>>,
    pub(super) secrets: BTreeMap<String, Option<Contents>>,
    /// The directory of each claim that is bound.
    pub(super) claims: BTreeMap<String, Option<PathBuf>>,
}

/// The names that a Pod refers to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Names {
    config_maps: Vec<String>,
    secrets: Vec<String>,
    claims: Vec<String>,
}

impl Sources {
    /// Gets all that this Pod refers to.
    pub(super) async fn get(
        client: &Client,
        pod: &Pod,
        directory_of: fn(&PersistentVolume) -> Option<PathBuf>,
    ) -> kube::Result<Self> {
        let names = pod.spec.as_ref().map(Names::of).unwrap_or_default();
        let namespace = pod.namespace().unwrap_or_default();
        let mut sources = Self::default();
        let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        for name in names.config_maps {
            let found = config_maps.get_opt(&name).await?.map(|map| contents_of(map.data, map.binary_data));
            sources.config_maps.insert(name, found);
        }
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
        for name in names.secrets {
            let found = secrets.get_opt(&name).await?.map(|secret| contents_of(None, secret.data));
            sources.secrets.insert(name, found);
        }
        for name in names.claims {
            let found = claim(client, &namespace, &name, directory_of).await?;
            sources.claims.insert(name, found);
        }
        Ok(sources)
    }
}

async fn claim(
    client: &Client,
    namespace: &str,
    name: &str,
    directory_of: fn(&PersistentVolume) -> Option<PathBuf>,
) -> kube::Result<Option<PathBuf>> {
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), namespace);
    let claim = claims.get_opt(name).await?.filter(|claim| claim.metadata.deletion_timestamp.is_none());
    let bound = claim
        .filter(|claim| claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound"));
    let Some(volume) = bound.and_then(|claim| claim.spec?.volume_name) else { return Ok(None) };
    let volume = Api::<PersistentVolume>::all(client.clone()).get_opt(&volume).await?;
    Ok(volume.as_ref().and_then(directory_of))
}

fn contents_of(
    text: Option<BTreeMap<String, String>>,
    binary: Option<BTreeMap<String, k8s_openapi::ByteString>>,
) -> Contents {
    let text = text.into_iter().flatten().map(|(name, text)| (name, text.into_bytes()));
    text.chain(binary.into_iter().flatten().map(|(name, bytes)| (name, bytes.0))).collect()
}

impl Names {
    fn of(spec: &PodSpec) -> Self {
        let mut names = Self::default();
        for volume in spec.volumes.iter().flatten() {
            names.add_volume(volume);
        }
        for container in spec.init_containers.iter().flatten().chain(&spec.containers) {
            names.add_container(container);
        }
        for list in [&mut names.config_maps, &mut names.secrets, &mut names.claims] {
            list.sort();
            list.dedup();
        }
        names
    }

    fn add_volume(&mut self, volume: &Volume) {
        self.config_maps.extend(volume.config_map.iter().map(|map| map.name.clone()));
        self.secrets.extend(volume.secret.iter().filter_map(|secret| secret.secret_name.clone()));
        self.claims.extend(volume.persistent_volume_claim.iter().map(|claim| claim.claim_name.clone()));
        let projected = volume.projected.iter().flat_map(|projected| &projected.sources).flatten();
        for source in projected {
            self.config_maps.extend(source.config_map.iter().map(|map| map.name.clone()));
            self.secrets.extend(source.secret.iter().map(|secret| secret.name.clone()));
        }
    }

    fn add_container(&mut self, container: &Container) {
        for from in container.env_from.iter().flatten() {
            self.config_maps.extend(from.config_map_ref.iter().map(|map| map.name.clone()));
            self.secrets.extend(from.secret_ref.iter().map(|secret| secret.name.clone()));
        }
        for from in container.env.iter().flatten().filter_map(|variable| variable.value_from.as_ref()) {
            self.config_maps.extend(from.config_map_key_ref.iter().map(|key| key.name.clone()));
            self.secrets.extend(from.secret_key_ref.iter().map(|key| key.name.clone()));
        }
    }
}
