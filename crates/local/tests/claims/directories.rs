//! `muster.dev/directory`: made when it is needed, bound, kept or removed.

use serde_json::{Value, json};

use crate::site::{Site, directory};

#[tokio::test(start_paused = true)]
async fn a_claim_gets_its_directory_when_a_pod_uses_it_and_loses_it_with_itself() {
    let site = Site::new("used").await;
    site.claim("a", None, "1Gi").await;
    site.claim("b", None, "1Gi").await;
    let claim = site.stage.until("persistentvolumeclaims", "a", |_| true).await;
    assert_eq!(claim["spec"]["storageClassName"], "directory", "the default");
    site.pod("p", "a").await;
    let volume = site.bound("a").await;
    assert_eq!(site.stage.get("persistentvolumeclaims", "b").await.unwrap()["status"]["phase"], "Pending");
    let path = directory(&volume);
    assert_eq!(path.parent().unwrap(), site.options.directory.join("volumes"));
    assert!(path.is_dir());
    let spec = &volume["spec"];
    assert_eq!(spec["capacity"]["storage"], "1Gi");
    assert_eq!((&spec["claimRef"]["name"], &spec["storageClassName"]), (&json!("a"), &json!("directory")));
    let term = &spec["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0];
    assert_eq!(*term, json!({"key": "kubernetes.io/hostname", "operator": "In", "values": ["here"]}));
    let claim = site.stage.get("persistentvolumeclaims", "a").await.unwrap();
    assert_eq!(claim["status"]["capacity"]["storage"], "1Gi");

    std::fs::write(path.join("data"), "x").unwrap();
    site.stage.delete("persistentvolumeclaims", "a").await;
    let ending = |claim: &serde_json::Value| claim["metadata"]["deletionTimestamp"].is_string();
    site.stage.until("persistentvolumeclaims", "a", ending).await;
    assert!(path.is_dir(), "a Pod uses it");
    site.end_pod("p").await;
    site.stage.until_gone("persistentvolumes", volume["metadata"]["name"].as_str().unwrap()).await;
    assert!(!path.exists());
}

#[tokio::test(start_paused = true)]
async fn what_is_retained_stays_and_what_is_there_is_found_again() {
    let mut site = Site::new("kept").await;
    let class = json!({
        "metadata": {"name": "kept"}, "provisioner": "muster.dev/directory", "reclaimPolicy": "Retain",
        "volumeBindingMode": "Immediate", "allowVolumeExpansion": true,
    });
    site.stage.create("storageclasses", class).await;
    site.claim("a", Some("kept"), "1Gi").await;
    let volume = site.bound("a").await;
    let path = directory(&volume);
    std::fs::write(path.join("data"), "x").unwrap();

    site.crash();
    site.serve();
    let more = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    site.stage.patch("persistentvolumeclaims", "a", more).await;
    let has_more = |it: &Value| it["status"]["capacity"]["storage"] == "2Gi";
    site.stage.until("persistentvolumeclaims", "a", has_more).await;
    let name = volume["metadata"]["name"].as_str().unwrap();
    site.stage.until("persistentvolumes", name, |it| it["spec"]["capacity"]["storage"] == "2Gi").await;

    site.stage.delete("persistentvolumeclaims", "a").await;
    site.stage.until("persistentvolumes", name, |it| it["status"]["phase"] == "Released").await;
    assert!(path.join("data").exists());
    // One that has its name is another claim, with a volume of its own.
    site.claim("a", Some("kept"), "1Gi").await;
    assert_ne!(directory(&site.bound("a").await), path);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_is_said_and_other_classes_are_left_alone() {
    let site = Site::new("said").await;
    let class = json!({"metadata": {"name": "other"}, "provisioner": "example.org/disks"});
    site.stage.create("storageclasses", class).await;
    site.claim("foreign", Some("other"), "1Gi").await;
    site.pod("p", "foreign").await;
    let block = json!({"metadata": {"name": "block"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "directory", "volumeMode": "Block",
    }});
    site.stage.create("persistentvolumeclaims", block).await;
    site.pod("q", "block").await;
    assert_eq!(
        site.warned("ProvisioningFailed").await,
        "volumes of this class are directories, not block devices"
    );
    assert!(site.stage.list("persistentvolumes").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_volume_made_by_hand_is_bound_to_the_claim_that_names_it() {
    let site = Site::new("by-hand").await;
    let volume = json!({"metadata": {"name": "mine"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp"},
        "storageClassName": "",
    }});
    site.stage.create("persistentvolumes", volume).await;
    site.stage.until("persistentvolumes", "mine", |it| it["status"]["phase"] == "Available").await;
    for name in ["a", "b"] {
        let claim = json!({"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "", "volumeName": "mine",
        }});
        site.stage.create("persistentvolumeclaims", claim).await;
        if name == "a" {
            site.bound("a").await;
        }
    }
    assert_eq!(site.warned("FailedBinding").await, "volume \"mine\" already bound to a different claim.");
    site.stage.delete("persistentvolumeclaims", "a").await;
    site.stage.until("persistentvolumes", "mine", |it| it["status"]["phase"] == "Released").await;
}
