//! `muster.dev/sized`: a filesystem that is as large as was asked for, when root.

use std::path::Path;

use muster_local::claims::{directory_of, prepare, unmount_all};
use muster_test_control_plane::skip;
use serde_json::{Value, json};

use crate::site::{Site, directory, is_root};
use crate::stage::BOUND;

/// How many bytes fit on the filesystem of a directory, by what can be written.
fn fits(path: &Path, mebibytes: usize) -> bool {
    let data = vec![1; mebibytes << 20];
    let file = path.join("filler");
    let fits = std::fs::write(&file, data).is_ok();
    std::fs::remove_file(file).unwrap();
    fits
}

#[tokio::test]
async fn a_filesystem_has_its_size_grows_and_is_found_after_a_crash() {
    let mut site = Site::new("sized").await;
    site.claim("a", Some("sized"), "32Mi").await;
    site.pod("p", "a").await;
    if !is_root() {
        let why = site.warned("ProvisioningFailed").await;
        assert!(why.contains("can only be mounted by root"), "{why}");
        return skip("only root may mount filesystems: that it is refused was tried, and nothing else");
    }
    let volume = site.bound("a").await;
    let path = directory(&volume);
    assert!(fits(&path, 20) && !fits(&path, 40));
    std::fs::write(path.join("kept"), "x").unwrap();

    // Killed: the mount is still there, and is found.
    site.crash();
    site.serve();
    let typed = serde_json::from_value(volume.clone()).unwrap();
    assert_eq!(prepare(&site.options.directory, &typed).await.unwrap(), path);
    // The machine was restarted: it is mounted again.
    unmount_all(&site.options.directory).await.unwrap();
    assert!(!path.join("kept").exists() && directory_of(&typed).is_none());
    site.crash();
    site.serve();
    let mut ticks = tokio::time::interval(std::time::Duration::from_millis(20));
    let mounted = async {
        while directory_of(&typed).is_none() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(BOUND, mounted).await.unwrap();
    assert!(path.join("kept").exists());

    let more = json!({"spec": {"resources": {"requests": {"storage": "64Mi"}}}});
    site.stage.patch("persistentvolumeclaims", "a", more).await;
    // Where the kernel does not let it grow while it is used, it grows when it is not.
    site.end_pod("p").await;
    let has_more = |it: &Value| it["status"]["capacity"]["storage"] == "64Mi";
    site.stage.until("persistentvolumeclaims", "a", has_more).await;
    assert!(fits(&path, 40) && path.join("kept").exists());

    site.stage.delete("persistentvolumeclaims", "a").await;
    site.stage.until_gone("persistentvolumes", volume["metadata"]["name"].as_str().unwrap()).await;
    assert!(!path.exists());
    let images = std::fs::read_dir(site.options.directory.join("images")).unwrap();
    assert_eq!(images.count(), 0);
}
