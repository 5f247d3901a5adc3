//! Tests of the log: what a disk can do to it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::json;

use super::Directory;
use super::format::{FRAME_HEADER_BYTES, HEADER_BYTES};
use crate::store::{Expect, Key, OpenError, Scope, Store, WriteError};

/// Errors that a test lets a disk make.
#[derive(Debug, Default)]
pub(in crate::store) struct Faults {
    /// Writes write one half, and fail.
    pub(in crate::store) writes: AtomicBool,
    /// Syncs fail.
    pub(in crate::store) syncs: AtomicBool,
}

impl Faults {
    pub(super) fn on_write(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.writes.load(Ordering::SeqCst) {
            file.write_all_at(&bytes[..bytes.len() / 2], at)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    pub(super) fn on_sync(&self) -> io::Result<()> {
        if self.syncs.load(Ordering::SeqCst) { Err(io::Error::other("lost")) } else { Ok(()) }
    }
}

/// A directory of a test's own, removed with it.
pub(in crate::store) struct TestDirectory(PathBuf);

impl TestDirectory {
    pub(in crate::store) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("muster-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // In memory where that can be: these tests sync a thousand times, and no power is lost.
        let memory = PathBuf::from("/dev/shm");
        let path = if memory.is_dir() { memory } else { std::env::temp_dir() }.join(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub(in crate::store) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn key(name: &str) -> Key {
    Key::new(&Arc::from("/things"), "ns", name)
}

/// Writes this value, whatever is there.
fn put(store: &Store, name: &str, value: &str) -> Result<u64, WriteError> {
    let expect = store.get(&key(name)).map_or(Expect::Absent, |found| Expect::At(found.revision));
    let object = json!({"metadata": {"name": name}, "value": value});
    block_on(store.put(key(name), object, expect)).map(|stored| stored.revision)
}

fn value(store: &Store, name: &str) -> Option<String> {
    let object = store.get(&key(name))?.object.value();
    object["value"].as_str().map(str::to_owned)
}

fn first_segment(directory: &TestDirectory) -> PathBuf {
    directory.path().join("0000000001.log")
}

/// A store with two changes, its file, and where the second frame begins.
fn two_frames() -> (TestDirectory, Vec<u8>, usize) {
    let directory = TestDirectory::new();
    put(&Store::open(directory.path()).unwrap(), "a", "one").unwrap();
    let store = Store::open(directory.path()).unwrap();
    let second = usize::try_from(fs::metadata(first_segment(&directory)).unwrap().len()).unwrap();
    put(&store, "a", "two").unwrap();
    put(&store, "b", "three").unwrap();
    drop(store);
    // Opening cuts off the zeros.
    drop(Store::open(directory.path()).unwrap());
    let file = fs::read(first_segment(&directory)).unwrap();
    (directory, file, second)
}

fn first_length(file: &[u8]) -> usize {
    FRAME_HEADER_BYTES + u32::from_le_bytes(file[HEADER_BYTES + 4..][..4].try_into().unwrap()) as usize
}

#[test]
fn what_was_written_is_there_again() {
    let directory = TestDirectory::new();
    let store = Store::open(directory.path()).unwrap();
    put(&store, "a", "one").unwrap();
    put(&store, "b", "two").unwrap();
    let removed = block_on(store.remove(&key("a"), json!({"metadata": {}}), 2)).unwrap();
    assert_eq!(removed.revision, 4);
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    assert_eq!((value(&store, "a"), value(&store, "b")), (None, Some("two".to_owned())));
    assert_eq!(store.get(&key("b")).unwrap().object.value()["metadata"]["resourceVersion"], "3");
    assert_eq!(store.revision(), 4);
    let scope = Scope { resource: Arc::from("/things"), namespace: None };
    assert_eq!(store.changes_after(&scope, 3).unwrap_err().oldest, 4, "what happened before is forgotten");
    assert!(store.changes_after(&scope, 4).unwrap().0.is_empty());
    assert_eq!(put(&store, "a", "three"), Ok(5));
    assert_eq!(store.changes_after(&scope, 4).unwrap().0.len(), 1);
}

#[test]
fn a_directory_is_for_one_store() {
    let directory = TestDirectory::new();
    let store = Store::open(directory.path()).unwrap();
    assert!(matches!(Store::open(directory.path()), Err(OpenError::InUse(_))));
    drop(store.clone());
    assert!(matches!(Store::open(directory.path()), Err(OpenError::InUse(_))), "a handle is left");
    drop(store);
    assert!(Store::open(directory.path()).is_ok());
}

#[test]
fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = TestDirectory::new();
    put(&Store::open(directory.path()).unwrap(), "a", "secret").unwrap();
    let entries = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let all: Vec<PathBuf> = entries.chain([directory.path().to_owned()]).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    for path in all {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

/// A process that is being started has, for a moment, all files of the one that starts it.
#[test]
fn a_directory_is_free_even_if_a_child_has_its_files() {
    let directory = TestDirectory::new();
    let opened = Directory::open(directory.path()).unwrap();
    let inherited = opened.lock.try_clone().unwrap();
    drop(Store::open_in(opened).unwrap());
    assert!(Store::open(directory.path()).is_ok());
    drop(inherited);
}

#[test]
fn an_unknown_format_is_refused() {
    let (directory, mut file, _) = two_frames();
    file[8] = 9;
    fs::write(first_segment(&directory), file).unwrap();
    let refused = Store::open(directory.path()).err().unwrap();
    assert!(refused.to_string().ends_with("has format 9; this version reads format 1"), "{refused}");
}

#[test]
fn a_log_that_ends_anywhere_is_one_that_ended_there() {
    let (directory, file, _) = two_frames();
    let ends: Vec<usize> = {
        let first = HEADER_BYTES + first_length(&file);
        let second = first
            + FRAME_HEADER_BYTES
            + u32::from_le_bytes(file[first + 4..][..4].try_into().unwrap()) as usize;
        vec![HEADER_BYTES, first, second, file.len()]
    };
    for cut in (HEADER_BYTES..=file.len()).rev().step_by(3).chain(ends.iter().copied()) {
        fs::write(first_segment(&directory), &file[..cut]).unwrap();
        let store = Store::open(directory.path()).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count() as u64;
        assert_eq!(store.revision(), whole, "cut at {cut}");
        assert_eq!(put(&store, "c", "more"), Ok(whole + 1), "and it goes on");
        drop(store);
        assert_eq!(value(&Store::open(directory.path()).unwrap(), "c").unwrap(), "more");
    }
}

#[test]
fn damage_is_told_from_an_end() {
    let (directory, file, second) = two_frames();
    for at in [0, 12, HEADER_BYTES, HEADER_BYTES + 5, HEADER_BYTES + 9, HEADER_BYTES + 40, second + 30] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x40;
        fs::write(first_segment(&directory), damaged).unwrap();
        let refused = Store::open(directory.path()).err();
        assert!(matches!(refused, Some(OpenError::Damaged { .. })), "at {at}: {refused:?}");
    }
}

#[test]
fn a_missing_segment_is_damage() {
    let (directory, file, _) = two_frames();
    fs::write(directory.path().join("0000000003.log"), file).unwrap();
    assert!(matches!(Store::open(directory.path()), Err(OpenError::Damaged { .. })));
}

#[test]
fn what_was_not_finished_is_removed() {
    let (directory, _, _) = two_frames();
    let unfinished = directory.path().join("0000000002.new");
    fs::write(&unfinished, "half").unwrap();
    drop(Store::open(directory.path()).unwrap());
    assert!(!unfinished.exists());
}

/// Lets writes fail, then succeed again; gives what is there after that, and after a restart.
fn after_a_failure(fault: impl Fn(&Faults, bool)) {
    let directory = TestDirectory::new();
    let opened = Directory::open(directory.path()).unwrap();
    let faults = opened.faults.clone();
    let store = Store::open_in(opened).unwrap();
    put(&store, "a", "one").unwrap();
    fault(&faults, true);
    for _ in 0..3 {
        assert!(matches!(put(&store, "a", "two"), Err(WriteError::Disk(_))));
        assert!(matches!(put(&store, "b", "two"), Err(WriteError::Disk(_))));
        assert_eq!(value(&store, "a").unwrap(), "one", "what is not safe is not seen");
        assert_eq!(store.revision(), 2);
        assert!(store.failure().is_some());
    }
    fault(&faults, false);
    assert_eq!(put(&store, "b", "three"), Ok(3), "it goes on when the disk does");
    assert_eq!(store.failure(), None);
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    assert_eq!((value(&store, "a").unwrap(), value(&store, "b").unwrap()), ("one".into(), "three".into()));
    assert_eq!(store.revision(), 3);
}

#[test]
fn a_full_disk_fails_writes_until_there_is_room() {
    after_a_failure(|faults, on| faults.writes.store(on, Ordering::SeqCst));
}

#[test]
fn a_failed_sync_fails_the_writes_that_waited_for_it() {
    after_a_failure(|faults, on| faults.syncs.store(on, Ordering::SeqCst));
}

#[test]
fn a_disk_that_fails_between_repairs_loses_nothing() {
    let directory = TestDirectory::new();
    let opened = Directory::open(directory.path()).unwrap();
    let faults = opened.faults.clone();
    let store = Store::open_in(opened).unwrap();
    let mut kept = Vec::new();
    for round in 0..60 {
        faults.writes.store(round % 5 == 1, Ordering::SeqCst);
        faults.syncs.store(round % 7 == 2, Ordering::SeqCst);
        let name = format!("n{round}");
        if put(&store, &name, "x").is_ok() {
            kept.push(name);
        }
    }
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.revision(), 1 + kept.len() as u64);
    assert!(kept.len() > 30 && kept.iter().all(|name| value(&store, name).is_some()));
}

#[test]
fn a_log_is_cleaned_and_loses_nothing_by_it() {
    let directory = TestDirectory::new();
    let mut store = Store::open(directory.path()).unwrap();
    let large = "x".repeat(1 << 10);
    for name in ["old", "gone"] {
        put(&store, name, "once").unwrap();
    }
    let gone = store.get(&key("gone")).unwrap().revision;
    block_on(store.remove(&key("gone"), json!({"metadata": {}}), gone)).unwrap();
    for round in 0..800 {
        put(&store, &format!("n{}", round % 8), &format!("{round} {large}")).unwrap();
        if round % 150 == 149 {
            drop(store);
            store = Store::open(directory.path()).unwrap();
        }
    }
    let revision = store.revision();
    drop(store);
    let bytes: u64 =
        fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 256 << 10, "{bytes} of more than 800 KiB are left");
    assert!(!first_segment(&directory).exists());
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.revision(), revision);
    assert_eq!((value(&store, "old").as_deref(), value(&store, "gone")), (Some("once"), None));
    for round in 792..800 {
        let found = value(&store, &format!("n{}", round % 8)).unwrap();
        assert!(found.starts_with(&format!("{round} ")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Power is lost in the middle of a batch: any part of its sectors may be on disk, in any order.
    #[test]
    fn a_half_written_batch_never_happened(lost in prop::collection::vec(any::<bool>(), 20), zeros in any::<bool>()) {
        let directory = TestDirectory::new();
        put(&Store::open(directory.path()).unwrap(), "a", "one").unwrap();
        let store = Store::open(directory.path()).unwrap();
        let second = usize::try_from(fs::metadata(first_segment(&directory)).unwrap().len()).unwrap();
        put(&store, "b", &"y".repeat(7000)).unwrap();
        drop(store);
        let mut file = fs::read(first_segment(&directory)).unwrap();
        let end = second + 7000;
        let mut whole = true;
        for (sector, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
            let (from, to) = ((sector * 512).max(second), (sector * 512 + 512).min(end));
            if from < to {
                whole = false;
                file[from..to].fill(if zeros { 0 } else { 0xA5 });
            }
        }
        fs::write(first_segment(&directory), &file).unwrap();
        let store = Store::open(directory.path()).unwrap();
        prop_assert_eq!(store.revision(), if whole { 3 } else { 2 });
        prop_assert_eq!(value(&store, "a").unwrap(), "one");
        prop_assert_eq!(put(&store, "b", "next"), Ok(if whole { 4 } else { 3 }));
    }
}
