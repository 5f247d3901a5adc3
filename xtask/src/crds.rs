//! The CRDs in deploy/crds, which are made from the types in crates/api.

use crate::cargo::cargo;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

type Files = BTreeMap<String, Vec<u8>>;

fn committed() -> PathBuf {
    workspace::root().join("deploy/crds")
}

/// Writes deploy/crds anew; a file that no type makes any more goes away.
pub(crate) fn write() -> Result<bool> {
    let (wanted, present) = (generate()?, read(&committed())?);
    fs::create_dir_all(committed())?;
    for name in present.keys().filter(|name| !wanted.contains_key(*name)) {
        fs::remove_file(committed().join(name))?;
        println!("removed deploy/crds/{name}");
    }
    for (name, content) in wanted.iter().filter(|(name, content)| present.get(*name) != Some(content)) {
        fs::write(committed().join(name), content)?;
        println!("wrote deploy/crds/{name}");
    }
    Ok(true)
}

/// Says which files of deploy/crds are not what the types make.
pub(crate) fn check() -> Result<bool> {
    let stale = differences(&generate()?, &read(&committed())?);
    for difference in &stale {
        println!("{difference}; run `cargo xtask crds`");
    }
    Ok(stale.is_empty())
}

fn differences(wanted: &Files, present: &Files) -> Vec<String> {
    let missing_or_stale = wanted.iter().filter_map(|(name, content)| match present.get(name) {
        None => Some(format!("deploy/crds/{name} is missing")),
        Some(found) if found != content => Some(format!("deploy/crds/{name} is stale")),
        Some(_) => None,
    });
    let unknown = present.keys().filter(|name| !wanted.contains_key(*name));
    missing_or_stale.chain(unknown.map(|name| format!("deploy/crds/{name} is made by no type"))).collect()
}

/// The files that the types make today. The example of crates/api writes them, so that xtask need not be built
/// with all of Kubernetes' types.
fn generate() -> Result<Files> {
    let directory = workspace::root().join("target/crds");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    let mut command = cargo(&["run", "--quiet", "--package", "muster-api", "--example", "crds", "--"]);
    if !command.arg(&directory).status().context("cannot run cargo")?.success() {
        bail!("the example `crds` of crates/api failed");
    }
    let files = read(&directory)?;
    if files.is_empty() {
        bail!("the example `crds` of crates/api wrote nothing");
    }
    Ok(files)
}

fn read(directory: &Path) -> Result<Files> {
    let mut files = Files::new();
    if !directory.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, fs::read(entry.path())?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter().map(|(name, content)| ((*name).into(), (*content).into())).collect()
    }

    #[test]
    fn equal_directories_have_no_differences() {
        assert!(differences(&files(&[("a", "1")]), &files(&[("a", "1")])).is_empty());
    }

    #[test]
    fn missing_stale_and_unknown_files_are_each_named() {
        let (wanted, present) = (files(&[("a", "1"), ("b", "1")]), files(&[("b", "2"), ("c", "3")]));
        let expected =
            ["deploy/crds/a is missing", "deploy/crds/b is stale", "deploy/crds/c is made by no type"];
        assert_eq!(differences(&wanted, &present), expected);
    }
}
