//! The defaults of volumes.

use serde_json::{Value, json};

use super::super::claim;
use super::super::fields::{each, fill, fill_text, inner, text, with};
use super::defaults::pull_policy;

/// 0644: all may read, the owner may write.
const FILE_MODE: i64 = 0o644;
/// How long a service account's token lives.
const TOKEN_SECONDS: i64 = 3600;

/// Fills in a volume. One without a source is an empty directory.
pub(super) fn default_volume(volume: &mut Value) {
    if volume.as_object().is_some_and(|fields| fields.keys().all(|field| field == "name")) {
        fill(volume, "emptyDir", json!({}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        with(volume, source, |source| fill(source, "defaultMode", FILE_MODE));
    }
    with(volume, "downwardAPI", default_downward);
    with(volume, "projected", |projected| each(projected, "sources", default_projection));
    with(volume, "image", |image| {
        let policy = pull_policy(text(image, "reference"));
        fill_text(image, "pullPolicy", policy);
    });
    with(volume, "ephemeral", |ephemeral| {
        with(ephemeral, "volumeClaimTemplate", |template| {
            inner(template, "metadata");
            claim::default_spec(inner(template, "spec"));
        });
    });
    default_driver(volume);
}

/// What volumes in Pods and persistent volumes have in common.
pub(in super::super) fn default_driver(source: &mut Value) {
    with(source, "hostPath", |path| fill(path, "type", ""));
    with(source, "iscsi", |iscsi| fill_text(iscsi, "iscsiInterface", "default"));
    with(source, "rbd", |rbd| {
        fill_text(rbd, "pool", "rbd");
        fill_text(rbd, "user", "admin");
        fill_text(rbd, "keyring", "/etc/ceph/keyring");
    });
    with(source, "azureDisk", |disk| {
        fill(disk, "cachingMode", "ReadWrite");
        fill(disk, "fsType", "ext4");
        fill(disk, "readOnly", false);
        fill(disk, "kind", "Shared");
    });
    with(source, "scaleIO", |scale_io| {
        fill_text(scale_io, "storageMode", "ThinProvisioned");
        fill_text(scale_io, "fsType", "xfs");
    });
}

fn default_downward(source: &mut Value) {
    each(source, "items", |item| {
        with(item, "fieldRef", |reference| fill_text(reference, "apiVersion", "v1"));
        with(item, "resourceFieldRef", |reference| fill(reference, "divisor", "0"));
    });
}

fn default_projection(source: &mut Value) {
    with(source, "downwardAPI", default_downward);
    with(source, "serviceAccountToken", |token| fill(token, "expirationSeconds", TOKEN_SECONDS));
}
