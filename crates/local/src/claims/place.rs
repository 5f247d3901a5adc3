//! Where volumes are on the disk. Nothing outside the data directory is ever made or removed.

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use k8s_openapi::api::core::v1::PersistentVolume;

use crate::control::command::CommandError;

const VOLUMES: &str = "volumes";
const IMAGES: &str = "images";
/// Pods of other users pass through, but do not look around.
const PASSED: u32 = 0o711;
/// A volume, when Pods may run as any user: who may reach it is up to who mounts it.
const SHARED: u32 = 0o777;
/// Anything, when all is one user's.
const OWN: u32 = 0o700;

/// Why storage could not be made, used or removed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The filesystem refused.
    #[error("{path}: {1}", path = .0.display())]
    Io(PathBuf, io::Error),
    /// A command refused.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A filesystem of a certain size needs rights that we do not have.
    #[error(
        "a filesystem of a certain size can only be mounted by root; use a StorageClass of muster.dev/directory"
    )]
    NotRoot,
    /// It is not one of ours.
    #[error("volume {0} is not below the data directory")]
    Foreign(String),
    /// Something was put in its place.
    #[error("{path} is not a plain directory: it is left alone", path = .0.display())]
    Replaced(PathBuf),
    /// It cannot be changed while it is used.
    #[error("{path} is in use", path = .0.display())]
    Busy(PathBuf),
    /// It was there once.
    #[error("{path} is missing", path = .0.display())]
    Missing(PathBuf),
}

/// The directory that a volume says it has; None if it is something else.
pub(super) fn path_of(volume: &PersistentVolume) -> Option<PathBuf> {
    let spec = volume.spec.as_ref()?;
    let local = spec.local.as_ref().map(|local| &local.path);
    let path = local.or(spec.host_path.as_ref().map(|host| &host.path))?;
    Some(PathBuf::from(path))
}

/// The places below a data directory.
#[derive(Clone, Copy)]
pub(super) struct Place<'a>(pub(super) &'a Path);

impl Place<'_> {
    /// The directory that holds all volumes.
    pub(super) fn volumes(self) -> PathBuf {
        self.0.join(VOLUMES)
    }

    /// The directory of a volume of this name.
    pub(super) fn volume(self, name: &str) -> Result<PathBuf, StorageError> {
        Ok(self.volumes().join(plain(name)?))
    }

    /// The image of a filesystem for a volume of this name.
    pub(super) fn image(self, name: &str) -> Result<PathBuf, StorageError> {
        Ok(self.0.join(IMAGES).join(format!("{}.img", plain(name)?)))
    }

    /// The directory of a volume, if it is where ours are.
    pub(super) fn of(self, volume: &PersistentVolume) -> Result<PathBuf, StorageError> {
        let name = volume.metadata.name.as_deref().unwrap_or_default();
        let path = self.volume(name)?;
        if path_of(volume).as_ref() == Some(&path) {
            Ok(path)
        } else {
            Err(StorageError::Foreign(name.to_owned()))
        }
    }

    /// Makes the directories that hold volumes and images.
    pub(super) fn make_ready(self) -> Result<(), StorageError> {
        let mode = if is_root() { PASSED } else { OWN };
        make(&self.volumes(), mode)?;
        make(&self.0.join(IMAGES), OWN)
    }
}

/// A name that is one step down, whatever it says.
fn plain(name: &str) -> Result<&str, StorageError> {
    let mut steps = Path::new(name).components();
    match (steps.next(), steps.next()) {
        (Some(Component::Normal(step)), None) if step == name => Ok(name),
        _ => Err(StorageError::Foreign(name.to_owned())),
    }
}

pub(super) fn is_root() -> bool {
    effective_user() == Some(0)
}

/// The effective user, as the kernel says it.
fn effective_user() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> StorageError + '_ {
    move |error| StorageError::Io(path.to_owned(), error)
}

fn make(path: &Path, mode: u32) -> Result<(), StorageError> {
    std::fs::DirBuilder::new().recursive(true).mode(mode).create(path).map_err(io(path))
}

/// Makes the directory of a volume, or finds it.
pub(super) fn make_volume(path: &Path) -> Result<(), StorageError> {
    make(path, OWN)?;
    is_plain(path)?;
    open_up(path)
}

/// Lets Pods write, whichever user they run as.
pub(super) fn open_up(path: &Path) -> Result<(), StorageError> {
    let mode = if is_root() { SHARED } else { OWN };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(io(path))
}

/// Whether it is there, as a directory and not as a link to one.
pub(super) fn is_plain(path: &Path) -> Result<(), StorageError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(StorageError::Replaced(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StorageError::Missing(path.to_owned())),
        Err(error) => Err(StorageError::Io(path.to_owned(), error)),
    }
}

/// Removes the directory of a volume with all that is in it; links in it are removed, not followed.
pub(super) fn remove_volume(path: &Path) -> Result<(), StorageError> {
    match is_plain(path) {
        Ok(()) => std::fs::remove_dir_all(path).map_err(io(path)),
        Err(StorageError::Missing(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("muster-place-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn names_never_lead_out_of_the_data_directory() {
        let place = Place(Path::new("/data"));
        assert_eq!(place.volume("pvc-1.a").unwrap(), Path::new("/data/volumes/pvc-1.a"));
        for name in ["", ".", "..", "../x", "a/b", "/etc", "a/"] {
            assert!(place.volume(name).is_err() && place.image(name).is_err(), "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let root = scratch("links");
        let (outside, inside) = (root.join("outside"), root.join("volume"));
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("kept"), "x").unwrap();
        make_volume(&inside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        remove_volume(&inside).unwrap();
        assert!(!inside.exists() && outside.join("kept").exists());
        remove_volume(&inside).unwrap();

        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        assert!(matches!(remove_volume(&inside), Err(StorageError::Replaced(_))));
        assert!(matches!(make_volume(&inside), Err(StorageError::Replaced(_))));
        assert!(outside.join("kept").exists());
        std::fs::remove_dir_all(root).unwrap();
    }
}
