//! Prints how the definitions of a real server differ from those of k8s-openapi, one definition in a line: what the data
//! of the built-in kinds must be. `cargo xtask definitions` runs it.

use std::error::Error;

use muster_apiserver::kind::built_in::differences;
use muster_test_control_plane::ControlPlane;
use serde_json::{Map, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let plane = ControlPlane::shared()?;
    let get = |path: &str| -> Result<Value, Box<dyn Error>> {
        let output = plane.kubectl(&["get", "--raw", path])?;
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let index = get("/openapi/v3")?;
    let mut real = Map::new();
    for path in index["paths"].as_object().into_iter().flat_map(Map::keys).filter(|path| path.contains("/v"))
    {
        let document = get(&format!("/openapi/v3/{path}"))?;
        real.extend(document["components"]["schemas"].as_object().cloned().unwrap_or_default());
    }
    let lines: Vec<String> = differences(&real)
        .into_iter()
        .map(|(name, patch)| format!("{}:{patch}", Value::from(name)))
        .collect();
    println!("{{\n{}\n}}", lines.join(",\n"));
    Ok(())
}
