//! Short names of contents: the hash of the version that is stored, and the tag of a document.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, SHA512, digest};

/// How many bytes of the hash `storageVersionHash` shows.
const SHOWN: usize = 8;

/// `storageVersionHash`: by it clients learn that objects are stored in another version now.
pub(super) fn storage_version(group: &str, version: &str, kind: &str) -> String {
    let hash = digest(&SHA256, format!("{group}/{version}/{kind}").as_bytes());
    STANDARD.encode(hash.as_ref().get(..SHOWN).unwrap_or_default())
}

/// The `ETag` of a document, quotes included.
pub(super) fn tag(document: &[u8]) -> String {
    use std::fmt::Write;
    let hash = digest(&SHA512, document);
    let hex = hash.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    });
    format!("\"{hex}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_version_has_the_hash_that_the_real_server_gives_it() {
        assert_eq!(storage_version("", "v1", "ConfigMap"), "qFsyl6wFWjQ=");
        assert_eq!(storage_version("apps", "v1", "Deployment"), "8aSe+NMegvE=");
        assert_eq!(storage_version("zoo.example.org", "v1alpha1", "Lion"), "74Kv0BjYbdg=");
    }

    #[test]
    fn a_tag_is_quoted_and_follows_the_content() {
        assert_eq!(tag(b"a").len(), 130);
        assert!(tag(b"a") != tag(b"b") && tag(b"a").starts_with('"'));
    }
}
