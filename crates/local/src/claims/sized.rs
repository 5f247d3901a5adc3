//! Filesystems of a certain size: an image in a file that takes space only as it is filled, mounted through a loop device.
//!
//! The kernel lets go of the loop device when the filesystem is unmounted, so what is left after a crash is a mount, which is
//! found again, or an image, which is mounted again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::PersistentVolume;
use tokio::sync::Mutex;

use super::objects::{self, SIZED};
use super::place::{self, Place, StorageError, io};
use crate::control::command::{self, CommandError};

/// One at a time: two that mount the same image would put one mount on top of the other.
static MOUNTING: Mutex<()> = Mutex::const_new(());

/// The directory of a volume on this machine, as it can be used now; None if the volume is something else, or a filesystem
/// that is not mounted yet: what is written in its place would not be on it.
pub fn directory_of(volume: &PersistentVolume) -> Option<PathBuf> {
    let path = place::path_of(volume)?;
    let is_mounted = || mounted().is_ok_and(|all| all.contains(&path));
    let is_there = objects::provisioner_of(volume) != Some(SIZED) || is_mounted();
    is_there.then_some(path)
}

/// Makes sure that a volume of ours can be used, and says where it is: a sized one is mounted if it is not.
///
/// Whoever starts a Pod on a volume asks this first; after a restart of the machine nothing else may have mounted it yet.
pub async fn prepare(directory: &Path, volume: &PersistentVolume) -> Result<PathBuf, StorageError> {
    let Some(path) = place::path_of(volume) else {
        let name = volume.metadata.name.clone().unwrap_or_default();
        return Err(StorageError::Foreign(name));
    };
    if objects::provisioner_of(volume) == Some(SIZED) {
        let place = Place(directory);
        let (path, image) = (place.of(volume)?, place.image(name(volume))?);
        let _one = MOUNTING.lock().await;
        if !image.exists() {
            return Err(StorageError::Missing(image));
        }
        mount(&image, &path).await?;
    }
    place::is_plain(&path)?;
    Ok(path)
}

fn name(volume: &PersistentVolume) -> &str {
    volume.metadata.name.as_deref().unwrap_or_default()
}

/// Makes and mounts a filesystem of this size, or finds it.
pub(super) async fn make(place: Place<'_>, name: &str, bytes: u64) -> Result<PathBuf, StorageError> {
    if !place::is_root() {
        return Err(StorageError::NotRoot);
    }
    let (image, path) = (place.image(name)?, place.volume(name)?);
    let _one = MOUNTING.lock().await;
    if !image.exists() {
        // Under another name until it is whole.
        let unfinished = image.with_extension("new");
        let file = std::fs::File::create(&unfinished).map_err(io(&unfinished))?;
        file.set_len(bytes).map_err(io(&unfinished))?;
        let options: [&OsStr; 5] =
            ["-q".as_ref(), "-F".as_ref(), "-m".as_ref(), "0".as_ref(), unfinished.as_ref()];
        command::run("mkfs.ext4", &options).await?;
        file.sync_all().map_err(io(&unfinished))?;
        std::fs::rename(&unfinished, &image).map_err(io(&image))?;
    }
    mount(&image, &path).await?;
    place::open_up(&path)?;
    Ok(path)
}

async fn mount(image: &Path, path: &Path) -> Result<(), StorageError> {
    if mounted()?.iter().any(|mounted| mounted == path) {
        return Ok(());
    }
    if !place::is_root() {
        return Err(StorageError::NotRoot);
    }
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(path)(error)),
        _ => place::is_plain(path)?,
    }
    let options: [&OsStr; 6] = [
        "-t".as_ref(),
        "ext4".as_ref(),
        "-o".as_ref(),
        "loop,nosuid,nodev".as_ref(),
        image.as_ref(),
        path.as_ref(),
    ];
    command::run("mount", &options).await?;
    Ok(())
}

/// Lets a filesystem grow to this size: while it is used if the kernel lets us, else only if `is_idle` says that nobody uses it.
pub(super) async fn grow(
    place: Place<'_>,
    name: &str,
    bytes: u64,
    is_idle: bool,
) -> Result<(), StorageError> {
    let (image, path) = (place.image(name)?, place.volume(name)?);
    let _one = MOUNTING.lock().await;
    let file = std::fs::File::options().write(true).open(&image).map_err(io(&image))?;
    if file.metadata().map_err(io(&image))?.len() < bytes {
        file.set_len(bytes).map_err(io(&image))?;
        file.sync_all().map_err(io(&image))?;
    }
    mount(&image, &path).await?;
    let device = device(&image).await?.ok_or_else(|| StorageError::Missing(image.clone()))?;
    command::run("losetup", &["-c", &device]).await?;
    match command::run("resize2fs", &[&device]).await {
        Err(CommandError::Failed(..)) if is_idle => grow_unmounted(&image, &path).await,
        grown => grown.map(drop).map_err(StorageError::from),
    }
}

/// The loop device through which an image is used.
async fn device(image: &Path) -> Result<Option<String>, StorageError> {
    let options: [&OsStr; 5] = ["-n".as_ref(), "-O".as_ref(), "NAME".as_ref(), "-j".as_ref(), image.as_ref()];
    let devices = command::run("losetup", &options).await?;
    let first = devices.lines().next().map(str::trim);
    Ok(first.filter(|device| device.starts_with("/dev/")).map(str::to_owned))
}

async fn grow_unmounted(image: &Path, path: &Path) -> Result<(), StorageError> {
    unmount(path).await?;
    // A device that stays is a mount that we do not see: to write below it would destroy what it holds.
    let grown = if device(image).await?.is_some() {
        Err(StorageError::Busy(path.to_owned()))
    } else {
        resize(image).await.map_err(StorageError::from)
    };
    mount(image, path).await?;
    grown
}

async fn resize(image: &Path) -> Result<(), CommandError> {
    let options: [&OsStr; 3] = ["-f".as_ref(), "-p".as_ref(), image.as_ref()];
    command::run("e2fsck", &options).await?;
    command::run("resize2fs", &[image]).await.map(drop)
}

/// Removes a filesystem with all that is in it.
pub(super) async fn remove(place: Place<'_>, name: &str) -> Result<(), StorageError> {
    let (image, path) = (place.image(name)?, place.volume(name)?);
    let _one = MOUNTING.lock().await;
    unmount(&path).await?;
    // Only if it is empty: what is in it was never in the image.
    for (gone, what) in [(std::fs::remove_dir(&path), &path), (std::fs::remove_file(&image), &image)] {
        match gone {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(what)(error)),
            _ => {}
        }
    }
    Ok(())
}

async fn unmount(path: &Path) -> Result<(), StorageError> {
    // A restart in between may have left one on top of the other.
    for _ in 0..mounted()?.iter().filter(|mounted| *mounted == path).count() {
        command::run("umount", &[path]).await?;
    }
    Ok(())
}

/// Unmounts all filesystems below a data directory; at the end, when nothing runs on them any more. What is still busy is
/// let go as soon as it is not.
pub async fn unmount_all(directory: &Path) -> Result<(), StorageError> {
    let _one = MOUNTING.lock().await;
    let volumes = Place(directory).volumes();
    let below = mounted()?.into_iter().filter(|path| path.parent() == Some(&volumes));
    for path in below {
        match command::run("umount", &[&path]).await {
            Err(CommandError::Failed(..)) => {
                tracing::warn!(path = %path.display(), "a filesystem is still in use; it goes when it is not");
                command::run("umount", &[OsStr::new("-l"), path.as_ref()]).await?;
            }
            done => drop(done?),
        }
    }
    Ok(())
}

/// The directories on which something is mounted.
fn mounted() -> Result<Vec<PathBuf>, StorageError> {
    let path = Path::new("/proc/self/mountinfo");
    let table = std::fs::read(path).map_err(io(path))?;
    let lines = table.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect())
}

/// The kernel writes blanks and the like as `\040`.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let (b'\\', Some(code)) = (first, code) {
            bytes.push(code);
            rest = &after[3..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_names_are_read() {
        assert_eq!(unescaped(br"/a\040b/c\134"), Path::new(r"/a b/c\"));
        assert!(mounted().unwrap().iter().any(|path| path == Path::new("/")));
    }
}
