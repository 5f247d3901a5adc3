//! What is measured beside the application: free space, and devices.

use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use muster_api::names::Action;
use muster_protocol::{Device, MAX_DEVICES, Storage};
use tokio::time::Instant;

use super::agent::{Agent, Inner};
use super::live::App;
use crate::engine::environment::pair;
use crate::engine::words;
use crate::settings::Storage as Entry;

/// How often the volumes are measured: a call to the kernel each.
const MEASURE: Duration = Duration::from_secs(5);
/// How often the engine is asked: a process each.
const ASK: Duration = Duration::from_secs(30);
/// How long a device that could not be added is left alone.
const DEVICE_PAUSE: Duration = Duration::from_secs(300);

impl Agent {
    /// Measures again and again, for as long as the agent lives.
    pub async fn measure(&self) {
        let inner = &self.0;
        let (mut ask_at, mut add_at, mut before) = (Instant::now(), Instant::now(), (false, false));
        loop {
            let volumes = inner.measure_volumes().await;
            let now = {
                let live = inner.live();
                (live.app.as_ref().is_some_and(App::is_ready), live.memory.reserved)
            };
            // The engine may say something else as soon as its application serves, and may be given more as soon as it is enabled.
            let asks = ask_at <= Instant::now() || now != before;
            if asks {
                (ask_at, before) = (Instant::now() + ASK, now);
            }
            let storage = inner.storage(volumes.0, asks).await;
            let devices = inner.devices(volumes.1, asks).await;
            // Both at once: whoever reads how much is free of all, and of each, is told of one moment.
            inner.change(|live| (live.measured.storage, live.measured.devices) = (storage, devices));
            if asks && add_at <= Instant::now() {
                match inner.add_device().await {
                    Some(true) => ask_at = Instant::now(),
                    Some(false) => add_at = Instant::now() + DEVICE_PAUSE,
                    None => {}
                }
            }
            tokio::time::sleep(MEASURE).await;
        }
    }
}

impl Inner {
    async fn measure_volumes(&self) -> (Option<Storage>, Vec<Device>) {
        let (entries, volume) = (self.settings.storage.clone(), self.settings.volume.clone());
        let measuring = tokio::task::spawn_blocking(move || {
            let devices: Vec<Device> = entries.iter().take(MAX_DEVICES).map(device).collect();
            let volumes =
                entries.iter().filter(|entry| entry.path.is_dir()).map(|entry| entry.path.as_path());
            (storage(volumes.chain(entries.is_empty().then_some(volume.as_path()))), devices)
        });
        measuring.await.unwrap_or_default()
    }

    /// Free storage as the engine sees it, or saw it when it was asked last; else as the kernel does.
    async fn storage(&self, measured: Option<Storage>, asks: bool) -> Option<Storage> {
        if self.engine.actions.get(Action::FreeStorage).is_none() {
            return measured;
        }
        if !asks {
            return self.live().measured.storage;
        }
        let done = self.run(Action::FreeStorage, false, Vec::new()).await;
        let free = done.filter(crate::engine::action::Done::succeeded);
        let free = free.and_then(|done| words::free_storage(&done.said.text));
        // What cannot be told is not told.
        let capacity = measured.map(|measured| measured.capacity);
        free.map(|free| Storage { capacity: capacity.unwrap_or(free).max(free), free })
    }

    /// Devices as the engine sees them, or saw them when it was asked last; else as the kernel does.
    async fn devices(&self, measured: Vec<Device>, asks: bool) -> Vec<Device> {
        if self.engine.actions.get(Action::Devices).is_none() {
            return measured;
        }
        if !asks {
            return self.live().measured.devices.clone();
        }
        let done = self.run(Action::Devices, false, Vec::new()).await;
        let said = done.filter(crate::engine::action::Done::succeeded);
        said.and_then(|done| words::devices(&done.said.text)).unwrap_or_default()
    }

    /// Makes one of the member's devices part of the storage pool, if it is available and is not; None: there is none. Its
    /// Member names it, so this was asked for, unless that is disabled; only an application that serves has a pool.
    async fn add_device(self: &Arc<Self>) -> Option<bool> {
        self.engine.actions.get(Action::Devices)?;
        let device = {
            let live = self.live();
            let serves = live.app.as_ref().is_some_and(App::is_ready) && live.task.is_none();
            let lacks = |entry: &&Entry| {
                let same = |device: &&Device| device.name == entry.name;
                live.measured.devices.iter().find(same).is_some_and(|it| it.available && !it.pooled)
            };
            let may = serves && !live.memory.reserved;
            self.settings.storage.iter().filter(|_| may).find(lacks).cloned()
        };
        let Entry { name, path, tags } = device?;
        let told = vec![
            pair("DEVICE", name),
            pair("DEVICE_PATH", path.display().to_string()),
            pair("DEVICE_TAGS", tags.join(",")),
        ];
        self.run(Action::AddDevice, true, told).await.map(|done| done.succeeded())
    }
}

/// All that these volumes can store; None if one of them cannot be measured. Two entries on one filesystem are two volumes
/// only where a node makes directories of one disk, and then nobody can tell.
fn storage<'a>(volumes: impl Iterator<Item = &'a Path>) -> Option<Storage> {
    let mut all = Storage { capacity: 0, free: 0 };
    for volume in volumes {
        let one = space(volume)?;
        all.capacity = all.capacity.saturating_add(one.capacity);
        all.free = all.free.saturating_add(one.free);
    }
    (all.capacity > 0).then_some(all)
}

fn space(volume: &Path) -> Option<Storage> {
    let space = rustix::fs::statvfs(volume).ok()?;
    let unit = space.f_frsize;
    Some(Storage { capacity: space.f_blocks.saturating_mul(unit), free: space.f_bavail.saturating_mul(unit) })
}

/// What can be told of an entry without the engine: a claim is in use as it is, a device is at most there.
fn device(entry: &Entry) -> Device {
    let name = entry.name.clone();
    if entry.path.is_dir() {
        let space = space(&entry.path);
        let Storage { capacity, free } = space.unwrap_or(Storage { capacity: 0, free: 0 });
        return Device { name, available: space.is_some(), pooled: space.is_some(), capacity, free };
    }
    let block = std::fs::metadata(&entry.path).is_ok_and(|it| it.file_type().is_block_device());
    let size = || std::fs::File::open(&entry.path).ok()?.seek(SeekFrom::End(0)).ok();
    let capacity = block.then(size).flatten();
    let bytes = capacity.unwrap_or(0);
    Device { name, available: capacity.is_some(), pooled: false, capacity: bytes, free: bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_measured_and_what_is_not_there_is_not_available() {
        let entry = |path: &str| Entry { name: "n".into(), path: path.into(), tags: Vec::new() };
        let root = device(&entry("/"));
        assert!(root.available && root.pooled && root.capacity >= root.free && root.capacity > 0);
        let none = device(&entry("/dev/there-is-no-such-device"));
        assert_eq!((none.available, none.pooled, none.capacity), (false, false, 0));
        let file = device(&entry("/proc/self/exe"));
        assert!(!file.available, "a file is no device");
        assert!(storage(["/", "/there-is-no-such-place"].map(Path::new).into_iter()).is_none());
    }
}
