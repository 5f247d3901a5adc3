//! The file by which clients find this server, trust it and show who they are.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::Identity;
use super::files::{self, FileError};

/// The name of the cluster, the user and the context.
const NAME: &str = "muster";

/// The kubeconfig of a server at this address; JSON, which is YAML too.
pub fn text(url: &str, identity: &Identity) -> String {
    let authority = STANDARD.encode(identity.authority());
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": NAME, "user": {"token": identity.token()}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    });
    format!("{config:#}\n")
}

/// Writes it, for this user only.
pub fn write(path: &Path, url: &str, identity: &Identity) -> Result<(), FileError> {
    files::write_private(path, &text(url, identity))
}
