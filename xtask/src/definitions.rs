//! What the built-in kinds of crates/apiserver need to know of Kubernetes' types besides what k8s-openapi says: how a real
//! server's API description differs from it, the fields of the Go types, and their numbers in protobuf.

use crate::cargo::cargo;
use crate::{assets, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where the data is kept.
const DATA: &str = "crates/apiserver/src/kind/built_in/data";

/// Writes the data anew.
pub(crate) fn write() -> Result<bool> {
    for (name, content) in stale()? {
        fs::write(path(name), content)?;
        println!("wrote {DATA}/{name}");
    }
    Ok(true)
}

/// Says which files are not what Kubernetes says today.
pub(crate) fn check() -> Result<bool> {
    let stale = stale()?;
    for (name, _) in &stale {
        println!("{DATA}/{name} is stale; run `cargo xtask definitions`");
    }
    Ok(stale.is_empty())
}

/// The files that are stale, with what they should be.
fn stale() -> Result<Vec<(&'static str, Vec<u8>)>> {
    assets::provide()?;
    let mut example = cargo(&["run", "--quiet", "--package", "muster-apiserver", "--example", "definitions"]);
    let fields = |wanted: &[&str]| -> Result<Vec<u8>> {
        let mut run = assets::go()?;
        run.args(["run", "./fields"]).args(wanted).current_dir(workspace::root().join("tools/kubernetes"));
        output(&mut run)
    };
    let wanted = [
        ("definitions.json", output(&mut example)?),
        ("types.json", fields(&[])?),
        ("messages.json", fields(&["messages"])?),
    ];
    Ok(wanted
        .into_iter()
        .filter(|(name, content)| fs::read(path(name)).ok().as_ref() != Some(content))
        .collect())
}

fn path(name: &str) -> PathBuf {
    workspace::root().join(DATA).join(name)
}

/// What a command prints.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output =
        command.output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}
