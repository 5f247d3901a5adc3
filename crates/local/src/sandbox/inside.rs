//! What a container sees, built in its own mount namespace: an overlay over the machine's root, so that nothing of the machine
//! changes, with the container's volumes mounted where it expects them.

use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use super::{Mount, SandboxError, View, step};

/// What a container may change of the machine's files, for itself: programs write a pid file or a socket here and there, not data.
const SCRATCH_SIZE: &str = "size=256m,mode=0755";

/// Of the machine as it is: devices, and what the kernel says.
const SHARED: [&str; 2] = ["/dev", "/sys"];

/// Enters the view for good.
pub(super) fn enter(view: &View) -> Result<(), SandboxError> {
    // Nothing that is mounted here is seen outside.
    propagate("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let root = overlay(&view.scratch)?;
    for shared in SHARED {
        bind(&Mount { from: shared.into(), at: shared.into(), read_only: false }, &root, MountFlags::REC)?;
    }
    for mount in &view.mounts {
        bind(mount, &root, MountFlags::empty())?;
    }
    let proc = inner(&root, Path::new("/proc"));
    mount("proc", &proc, "proc", "")?;
    rustix::system::sethostname(view.hostname.as_bytes()).map_err(failed("take its name"))?;
    turn_to(&root)
}

/// The machine's root with a layer over it that is this container's alone.
fn overlay(scratch: &Path) -> Result<PathBuf, SandboxError> {
    // In memory: a layer may not lie within what it covers.
    mount("tmpfs", scratch, "tmpfs", SCRATCH_SIZE)?;
    let [upper, work, root] = ["upper", "work", "root"].map(|name| scratch.join(name));
    for directory in [&upper, &work, &root] {
        std::fs::create_dir(directory).map_err(step(&format!("make {}", directory.display())))?;
    }
    let layers = format!("lowerdir=/,upperdir={},workdir={}", upper.display(), work.display());
    mount("overlay", &root, "overlay", &layers)?;
    Ok(root)
}

fn bind(mount: &Mount, root: &Path, how: MountFlags) -> Result<(), SandboxError> {
    let target = inner(root, &mount.at);
    let what = format!("mount {} at {}", mount.from.display(), mount.at.display());
    make_target(&mount.from, &target).map_err(step(&what))?;
    let bound = if how.contains(MountFlags::REC) {
        rustix::mount::mount_bind_recursive(&mount.from, &target)
    } else {
        rustix::mount::mount_bind(&mount.from, &target)
    };
    bound.map_err(failed(&what))?;
    if mount.read_only {
        let flags = MountFlags::BIND | MountFlags::RDONLY;
        rustix::mount::mount_remount(&target, flags, c"").map_err(failed(&what))?;
    }
    Ok(())
}

/// Something to mount over: a directory over a directory, a file over anything else.
fn make_target(from: &Path, target: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(target).is_ok_and(|there| !there.is_symlink()) {
        return Ok(());
    }
    if from.is_dir() {
        return std::fs::create_dir_all(target);
    }
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(target, "")
}

/// Makes this the root, and lets go of the one before.
fn turn_to(root: &Path) -> Result<(), SandboxError> {
    std::env::set_current_dir(root).map_err(step("enter its root"))?;
    rustix::process::pivot_root(".", ".").map_err(failed("take its root"))?;
    rustix::mount::unmount(".", UnmountFlags::DETACH).map_err(failed("leave the old root"))?;
    std::env::set_current_dir("/").map_err(step("enter its root"))
}

fn mount(what: &str, at: &Path, kind: &str, options: &str) -> Result<(), SandboxError> {
    let error = failed(&format!("mount {kind} at {}", at.display()));
    let options = std::ffi::CString::new(options)
        .map_err(|_| SandboxError::Step(what.to_owned(), io::ErrorKind::InvalidInput.into()))?;
    rustix::mount::mount(what, at, kind, MountFlags::empty(), &*options).map_err(error)
}

fn propagate(at: &str, how: MountPropagationFlags) -> Result<(), SandboxError> {
    rustix::mount::mount_change(at, how).map_err(failed("keep its mounts to itself"))
}

fn failed(what: &str) -> impl Fn(rustix::io::Errno) -> SandboxError + use<> {
    let step = step(what);
    move |error| step(error.into())
}

/// A path of the container, as it is seen from outside.
fn inner(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
