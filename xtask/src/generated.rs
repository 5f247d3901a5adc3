//! What is installed and made from code: the CRDs in deploy/crds, the roles in deploy/rbac.

use crate::cargo::cargo;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Files = BTreeMap<String, Vec<u8>>;

/// A directory of files that an example of one of our crates writes. An example, so that xtask need not be built with all of
/// Kubernetes' types.
pub(crate) struct Generated {
    /// Where the files are.
    directory: &'static str,
    package: &'static str,
    /// The example, and the chore.
    name: &'static str,
}

/// The CRDs, from the types in crates/api.
pub(crate) const CRDS: Generated =
    Generated { directory: "deploy/crds", package: "muster-api", name: "crds" };
/// The roles, from the table in crates/operator.
pub(crate) const RBAC: Generated =
    Generated { directory: "deploy/rbac", package: "muster-operator", name: "rbac" };

impl Generated {
    fn committed(&self) -> PathBuf {
        workspace::root().join(self.directory)
    }

    /// Writes the files anew; one that nothing makes any more goes away.
    pub(crate) fn write(&self) -> Result<bool> {
        let (wanted, present) = (self.generate()?, read(&self.committed())?);
        let directory = self.directory;
        fs::create_dir_all(self.committed())?;
        for name in present.keys().filter(|name| !wanted.contains_key(*name)) {
            fs::remove_file(self.committed().join(name))?;
            println!("removed {directory}/{name}");
        }
        for (name, content) in wanted.iter().filter(|(name, content)| present.get(*name) != Some(content)) {
            fs::write(self.committed().join(name), content)?;
            println!("wrote {directory}/{name}");
        }
        Ok(true)
    }

    /// Says which files are not what the code makes.
    pub(crate) fn check(&self) -> Result<bool> {
        let stale = differences(self.directory, &self.generate()?, &read(&self.committed())?);
        for difference in &stale {
            println!("{difference}; run `cargo xtask {}`", self.name);
        }
        Ok(stale.is_empty())
    }

    /// The files that the code makes today.
    fn generate(&self) -> Result<Files> {
        let Self { package, name, .. } = self;
        let directory = workspace::target().join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        // Of the whole workspace, not of its package: other features than the tests have would build everything twice.
        let mut build = cargo(&["build", "--quiet", "--workspace", "--example", name]);
        if !build.status().context("cannot run cargo")?.success() {
            bail!("the example `{name}` of {package} cannot be built");
        }
        let mut example = Command::new(workspace::target().join("debug/examples").join(name));
        if !example.arg(&directory).status().context("cannot run the example")?.success() {
            bail!("the example `{name}` of {package} failed");
        }
        let files = read(&directory)?;
        if files.is_empty() {
            bail!("the example `{name}` of {package} wrote nothing");
        }
        Ok(files)
    }
}

fn differences(directory: &str, wanted: &Files, present: &Files) -> Vec<String> {
    let missing_or_stale = wanted.iter().filter_map(|(name, content)| match present.get(name) {
        None => Some(format!("{directory}/{name} is missing")),
        Some(found) if found != content => Some(format!("{directory}/{name} is stale")),
        Some(_) => None,
    });
    let unknown = present.keys().filter(|name| !wanted.contains_key(*name));
    missing_or_stale.chain(unknown.map(|name| format!("{directory}/{name} is made by nothing"))).collect()
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
        assert!(differences("d", &files(&[("a", "1")]), &files(&[("a", "1")])).is_empty());
    }

    #[test]
    fn missing_stale_and_unknown_files_are_each_named() {
        let (wanted, present) = (files(&[("a", "1"), ("b", "1")]), files(&[("b", "2"), ("c", "3")]));
        let expected = ["d/a is missing", "d/b is stale", "d/c is made by nothing"];
        assert_eq!(differences("d", &wanted, &present), expected);
    }
}
