//! The volumes of a Pod, as directories of this machine.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::{Container, DownwardAPIVolumeFile, KeyToPath, Pod, Volume};

use super::environment::{EnvironmentError, field};
use super::sources::{Contents, Sources};
use crate::sandbox::Mount;

/// The mode of a file of a ConfigMap or Secret, unless it says another.
const DEFAULT_MODE: i32 = 0o644;
/// What shows the files of one moment; it is exchanged as a whole.
const CURRENT: &str = "..data";

/// Why a volume is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum VolumeError {
    /// What it shows is not there.
    #[error("volume {volume:?}: {kind} {name:?} {problem}")]
    Missing { volume: String, kind: &'static str, name: String, problem: &'static str },
    /// A field that it shows is not known.
    #[error("volume {0:?}: {1}")]
    Field(String, #[source] EnvironmentError),
    /// It is of a kind that this machine does not have.
    #[error("volume {0:?} is of a kind that is not supported here")]
    Unsupported(String),
    /// There is none of that name.
    #[error("there is no volume {0:?}")]
    Unknown(String),
    /// A path leads out of its volume.
    #[error("volume {0:?}: the path {1:?} leads out of it")]
    Astray(String, String),
    /// The disk says no.
    #[error("volume {0:?}: {1}")]
    Disk(String, #[source] io::Error),
}

/// One file that a volume shows.
struct Shown {
    path: String,
    bytes: Vec<u8>,
    mode: i32,
}

/// Makes the volumes of a Pod below this directory, or brings them up to date, and says where each is.
pub(super) fn prepare(
    pod: &Pod,
    address: &str,
    sources: &Sources,
    below: &Path,
) -> Result<BTreeMap<String, PathBuf>, VolumeError> {
    let mut places = BTreeMap::new();
    for volume in pod.spec.iter().flat_map(|spec| &spec.volumes).flatten() {
        let place = place(pod, address, sources, below, volume)?;
        places.insert(volume.name.clone(), place);
    }
    Ok(places)
}

fn place(
    pod: &Pod,
    address: &str,
    sources: &Sources,
    below: &Path,
    volume: &Volume,
) -> Result<PathBuf, VolumeError> {
    if let Some(claim) = &volume.persistent_volume_claim {
        let bound = sources.claims.get(&claim.claim_name).cloned().flatten();
        return bound.ok_or_else(|| missing(volume, "claim", &claim.claim_name, "is not bound"));
    }
    if let Some(host) = &volume.host_path {
        return Ok(host.path.clone().into());
    }
    let directory = below.join(&volume.name);
    let disk = |error| VolumeError::Disk(volume.name.clone(), error);
    fs::create_dir_all(&directory).map_err(disk)?;
    if volume.empty_dir.is_some() {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).map_err(disk)?;
        return Ok(directory);
    }
    let files =
        shown(pod, address, sources, volume)?.ok_or_else(|| VolumeError::Unsupported(volume.name.clone()))?;
    for file in &files {
        let inside = Path::new(&file.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || file.path.is_empty() || file.path.starts_with("..") {
            return Err(VolumeError::Astray(volume.name.clone(), file.path.clone()));
        }
    }
    show(&directory, &files).map_err(disk)?;
    Ok(directory)
}

/// The files that a volume shows; none when it is no such volume.
fn shown(
    pod: &Pod,
    address: &str,
    sources: &Sources,
    volume: &Volume,
) -> Result<Option<Vec<Shown>>, VolumeError> {
    if let Some(map) = &volume.config_map {
        let mode = map.default_mode.unwrap_or(DEFAULT_MODE);
        let keys =
            Keys { kind: "configmap", name: &map.name, items: map.items.as_deref(), optional: map.optional };
        return keys.files(volume, &sources.config_maps, mode).map(Some);
    }
    if let Some(secret) = &volume.secret {
        let (mode, name) = (secret.default_mode.unwrap_or(DEFAULT_MODE), secret.secret_name.as_deref());
        let (name, items) = (name.unwrap_or_default(), secret.items.as_deref());
        let keys = Keys { kind: "secret", name, items, optional: secret.optional };
        return keys.files(volume, &sources.secrets, mode).map(Some);
    }
    if let Some(downward) = &volume.downward_api {
        let mode = downward.default_mode.unwrap_or(DEFAULT_MODE);
        return fields(pod, address, volume, downward.items.as_deref(), mode).map(Some);
    }
    let Some(projected) = &volume.projected else { return Ok(None) };
    let mode = projected.default_mode.unwrap_or(DEFAULT_MODE);
    let mut files = Vec::new();
    for source in projected.sources.iter().flatten() {
        if let Some(map) = &source.config_map {
            let items = map.items.as_deref();
            let keys = Keys { kind: "configmap", name: &map.name, items, optional: map.optional };
            files.extend(keys.files(volume, &sources.config_maps, mode)?);
        }
        if let Some(secret) = &source.secret {
            let items = secret.items.as_deref();
            let keys = Keys { kind: "secret", name: &secret.name, items, optional: secret.optional };
            files.extend(keys.files(volume, &sources.secrets, mode)?);
        }
        if let Some(downward) = &source.downward_api {
            files.extend(fields(pod, address, volume, downward.items.as_deref(), mode)?);
        }
        if source.service_account_token.is_some() || source.cluster_trust_bundle.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(files))
}

/// Which keys of what are shown.
struct Keys<'a> {
    kind: &'static str,
    name: &'a str,
    items: Option<&'a [KeyToPath]>,
    optional: Option<bool>,
}

impl Keys<'_> {
    fn files(
        &self,
        volume: &Volume,
        all: &BTreeMap<String, Option<Contents>>,
        mode: i32,
    ) -> Result<Vec<Shown>, VolumeError> {
        let Some(contents) = all.get(self.name).and_then(Option::as_ref) else {
            let optional = self.optional == Some(true);
            let missing = || missing(volume, self.kind, self.name, "not found");
            return if optional { Ok(Vec::new()) } else { Err(missing()) };
        };
        let Some(items) = self.items.filter(|items| !items.is_empty()) else {
            let whole =
                |(key, bytes): (&String, &Vec<u8>)| Shown { path: key.clone(), bytes: bytes.clone(), mode };
            return Ok(contents.iter().map(whole).collect());
        };
        let mut files = Vec::new();
        for item in items {
            match contents.get(&item.key) {
                Some(bytes) => {
                    let mode = item.mode.unwrap_or(mode);
                    files.push(Shown { path: item.path.clone(), bytes: bytes.clone(), mode });
                }
                None if self.optional == Some(true) => {}
                None => return Err(missing(volume, self.kind, self.name, "lacks a key that is wanted")),
            }
        }
        Ok(files)
    }
}

fn fields(
    pod: &Pod,
    address: &str,
    volume: &Volume,
    items: Option<&[DownwardAPIVolumeFile]>,
    mode: i32,
) -> Result<Vec<Shown>, VolumeError> {
    let file = |item: &DownwardAPIVolumeFile| {
        let path = item.field_ref.as_ref().map_or("resourceFieldRef", |field| &field.field_path);
        let text =
            field(pod, address, path).map_err(|error| VolumeError::Field(volume.name.clone(), error))?;
        Ok(Shown { path: item.path.clone(), bytes: text.into_bytes(), mode: item.mode.unwrap_or(mode) })
    };
    items.unwrap_or_default().iter().map(file).collect()
}

fn missing(volume: &Volume, kind: &'static str, name: &str, problem: &'static str) -> VolumeError {
    VolumeError::Missing { volume: volume.name.clone(), kind, name: name.to_owned(), problem }
}

/// Shows these files in a directory, all of one moment: they lie in a directory of their own, and one link leads there.
fn show(directory: &Path, files: &[Shown]) -> io::Result<()> {
    let current = directory.join(CURRENT);
    if is_shown(&current, files) {
        return Ok(());
    }
    let number = (0..u32::MAX).find(|number| !directory.join(format!("..{number}")).exists());
    let next = format!("..{}", number.unwrap_or_default());
    let place = directory.join(&next);
    for file in files {
        let path = place.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(&place))?;
        fs::write(&path, &file.bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(file.mode.unsigned_abs() & 0o777))?;
    }
    fs::create_dir_all(&place)?;
    let before = fs::read_link(&current).ok();
    let link = directory.join("..data_tmp");
    drop(fs::remove_file(&link));
    symlink(&next, &link)?;
    fs::rename(&link, &current)?;
    link_names(directory, files)?;
    before.map_or(Ok(()), |before| fs::remove_dir_all(directory.join(before)))
}

/// Whether exactly these files are shown already.
fn is_shown(current: &Path, files: &[Shown]) -> bool {
    let same = |file: &Shown| fs::read(current.join(&file.path)).is_ok_and(|bytes| bytes == file.bytes);
    count(current) == Some(files.len()) && files.iter().all(same)
}

fn count(directory: &Path) -> Option<usize> {
    let mut files = 0;
    for entry in fs::read_dir(directory).ok()? {
        let path = entry.ok()?.path();
        files += if path.is_dir() { count(&path)? } else { 1 };
    }
    Some(files)
}

/// Each name at the top leads through the one link.
fn link_names(directory: &Path, files: &[Shown]) -> io::Result<()> {
    let top =
        |file: &Shown| Path::new(&file.path).components().next().map(|part| part.as_os_str().to_owned());
    let wanted: std::collections::BTreeSet<_> = files.iter().filter_map(top).collect();
    for name in &wanted {
        match symlink(Path::new(CURRENT).join(name), directory.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with("..") && !wanted.contains(&name) {
            fs::remove_file(directory.join(&name))?;
        }
    }
    Ok(())
}

/// What a container mounts, outer paths before inner ones.
pub(super) fn mounts(
    container: &Container,
    places: &BTreeMap<String, PathBuf>,
) -> Result<Vec<Mount>, VolumeError> {
    let mut mounts = Vec::new();
    for wanted in container.volume_mounts.iter().flatten() {
        let unknown = || VolumeError::Unknown(wanted.name.clone());
        let mut from = places.get(&wanted.name).ok_or_else(unknown)?.clone();
        if let Some(sub) = wanted.sub_path.as_deref().filter(|sub| !sub.is_empty()) {
            let inside = Path::new(sub).components().all(|part| matches!(part, Component::Normal(_)));
            if !inside {
                return Err(VolumeError::Astray(wanted.name.clone(), sub.to_owned()));
            }
            from = from.join(sub);
            if !from.exists() {
                let disk = |error| VolumeError::Disk(wanted.name.clone(), error);
                fs::create_dir_all(&from).map_err(disk)?;
                let parent = places.get(&wanted.name).and_then(|place| fs::metadata(place).ok());
                if let Some(parent) = parent {
                    // As its volume: whoever may write there may write here.
                    drop(fs::set_permissions(&from, parent.permissions()));
                    let group = rustix::fs::Gid::from_raw(parent.gid());
                    let _ = rustix::fs::chown(&from, None, Some(group));
                }
            }
        }
        let read_only = wanted.read_only == Some(true);
        mounts.push(Mount { from, at: wanted.mount_path.clone().into(), read_only });
    }
    mounts.sort_by(|a, b| a.at.cmp(&b.at));
    Ok(mounts)
}

/// Gives the Pod's group what it writes to, as its `fsGroup` asks. Only root can; for anyone else all is their own anyway.
pub(super) fn give_group(pod: &Pod, places: &BTreeMap<String, PathBuf>) {
    let spec = pod.spec.as_ref();
    let group = spec.and_then(|spec| spec.security_context.as_ref()).and_then(|context| context.fs_group);
    let Some(group) = group.and_then(|group| u32::try_from(group).ok()) else { return };
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let written = |volume: &&Volume| volume.persistent_volume_claim.is_some() || volume.empty_dir.is_some();
    for volume in spec.iter().flat_map(|spec| spec.volumes.iter().flatten()).filter(written) {
        if let Some(place) = places.get(&volume.name) {
            share(place, group);
        }
    }
}

/// The directory belongs to the group, and so does what is made in it. What cannot be changed stays as it is, and the container says so.
fn share(directory: &Path, group: u32) {
    let _ = rustix::fs::chown(directory, None, Some(rustix::fs::Gid::from_raw(group)));
    drop(fs::set_permissions(directory, fs::Permissions::from_mode(0o2775)));
}
