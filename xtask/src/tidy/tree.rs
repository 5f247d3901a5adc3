//! The files of the checkout, and what rules find in them.

use anyhow::{Context, Result, bail};
use std::fmt;
use std::path::Path;
use std::process::Command;

/// A file, with its path relative to the root.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }

    pub(super) fn is_markdown(&self) -> bool {
        has_extension(&self.path, "md")
    }
}

fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == wanted)
}

/// The text files that git tracks, or would if they were added.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    /// Every path, of files that are not text too.
    pub(super) paths: Vec<String>,
}

impl Tree {
    pub(super) fn load(root: &Path) -> Result<Self> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let output = Command::new("git").args(arguments).current_dir(root).output();
        let output = output.context("cannot run git, which says what belongs to the checkout")?;
        if !output.status.success() {
            bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let listed = String::from_utf8_lossy(&output.stdout);
        let listed = listed.split('\0').filter(|path| !path.is_empty());
        // A file can be listed and removed.
        let paths: Vec<_> = listed.filter(|path| root.join(path).is_file()).map(str::to_owned).collect();
        let files = paths.iter().filter_map(|path| {
            let text = std::fs::read_to_string(root.join(path)).ok()?;
            Some(File { path: path.clone(), text })
        });
        Ok(Self { files: files.collect(), paths: paths.clone() })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() });
        Self { files: files.collect(), paths }
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub(super) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_markdown())
    }

    /// Whether there is such a file, or a directory with files in it.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.paths.iter().any(|known| {
                known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// Something that is not tidy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// About a whole file.
    pub(super) fn file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: 0, message: message.into() }
    }

    /// About a line, counted from 1.
    pub(super) fn line(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// What rules say, for tests.
#[cfg(test)]
pub(super) fn said(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_there_when_a_file_is_in_it() {
        let tree = Tree::of(&[("docs/a.md", "")]);
        assert!(tree.has("docs/a.md") && tree.has("docs") && tree.has("docs/"));
        assert!(!tree.has("doc") && !tree.has("docs/b.md"));
    }
}
