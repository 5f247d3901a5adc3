//! Every volume is full: what cannot be written is not acknowledged, status says why, and with room again all goes on.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::Api;
use kube::api::DeleteParams;
use muster_api::Member;
use muster_ledger::client::{Appended, Client as Ledger};
use muster_test_assets::skip;

use crate::suite::Cluster;
use crate::suite::cluster::is;

/// The file that takes all the room there is.
pub(crate) const FILLING: &str = "filling";
/// An entry for which there is no room in what is left of a block.
const LARGE: usize = 60_000;
/// What the kernel says of a full disk.
const FULL: &str = "No space left on device";

pub(crate) fn a_full_disk_is_told_and_with_room_again_all_goes_on() {
    let Some((cluster, _mounts)) = of_sized_volumes() else { return };
    let writer = cluster.writer();
    // Primaries die of it, each with an entry that may be there or not.
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 10);
    let members = cluster.members(3);
    for member in &members {
        fill(&cluster.volume(member));
    }
    cluster.until("it is told that there is no room", |it| {
        !is(it, "Ready", "True") && members.iter().any(|member| says_full(&cluster, member))
    });
    let written =
        Ledger::connect(&cluster.address()).and_then(|mut ledger| ledger.append(&"x".repeat(LARGE)));
    assert!(!matches!(written, Ok(Appended::Acknowledged(_))), "there is room: {written:?}");
    for member in &members {
        fs::remove_file(cluster.volume(member).join(FILLING)).unwrap();
    }
    cluster.holds_all(&writer);
    leave_nothing(&cluster, &members);
}

/// A cluster on volumes of a certain size, which only root may mount.
pub(crate) fn of_sized_volumes() -> Option<(Cluster, Mounts)> {
    if !rustix::process::geteuid().is_root() {
        skip("only root may mount filesystems of a certain size");
        return None;
    }
    let cluster = Cluster::made("filled", 3, "sized");
    let mounts = Mounts(cluster.world().data().join("volumes"));
    cluster.until_ready();
    Some((cluster, mounts))
}

/// Nothing runs on what is unmounted then, and a node that is started again mounts nothing for nobody.
pub(crate) fn leave_nothing(cluster: &Cluster, members: &[String]) {
    let volumes: Vec<String> = members.iter().map(|member| cluster.volume_name(member)).collect();
    cluster.delete();
    for (member, volume) in members.iter().zip(volumes) {
        let claims = cluster.api::<PersistentVolumeClaim>();
        cluster.run(claims.delete(&format!("data-{member}"), &DeleteParams::default())).unwrap();
        let all: Api<PersistentVolume> = Api::all(cluster.client());
        // Whoever provides volumes may have been quicker.
        drop(cluster.run(all.delete(&volume, &DeleteParams::default())));
        cluster.until("its volume is gone", |_| cluster.run(all.get_opt(&volume)).unwrap().is_none());
    }
}

/// Takes all the room there is, to the last byte.
pub(crate) fn fill(volume: &Path) {
    let mut file = File::create(volume.join(FILLING)).unwrap();
    for size in [1 << 20, 4096, 64] {
        let block = vec![0; size];
        while file.write_all(&block).is_ok() {}
    }
    file.sync_all().unwrap();
}

/// Whether the status of a member says that its disk is full.
fn says_full(cluster: &Cluster, member: &str) -> bool {
    let found = cluster.run(cluster.api::<Member>().get(member)).unwrap();
    let conditions = found.status.map(|status| status.conditions).unwrap_or_default();
    conditions.iter().any(|condition| condition.message.contains(FULL))
}

/// The filesystems below a directory. A world that is killed leaves them mounted, and then its directory cannot be removed.
pub(crate) struct Mounts(pub(crate) PathBuf);

impl Drop for Mounts {
    fn drop(&mut self) {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounted = table.lines().filter_map(|line| line.split(' ').nth(4)).map(Path::new);
        for path in mounted.filter(|path| path.starts_with(&self.0)) {
            drop(Command::new("umount").arg("-l").arg(path).status());
        }
    }
}
