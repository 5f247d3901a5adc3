//! `/version`: what clients take this server for.

use serde_json::{Value, json};

/// The version whose behaviour is kept to, so that clients use the same features as with the real server.
const KUBERNETES: &str = "v1.36.3+muster";

/// `/version`.
pub fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": KUBERNETES,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        // Clients expect these to be there; no Go is in here.
        "goVersion": "",
        "compiler": "rustc",
        "platform": platform(),
    })
}

/// The machine in Go's words.
fn platform() -> String {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}/{machine}", std::env::consts::OS)
}
