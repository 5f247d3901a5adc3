//! Without namespaces a container sees the machine's own files: where it is told of a path at which something is mounted, it is told
//! instead where that thing is. A directory that only the mounts in it make is made for it, with links to them.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::sandbox::Mount;

/// The text with every path that is, or is below, a mount's replaced by the place where the mounted thing is.
pub(super) fn translate(text: &str, mounts: &[Mount]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let begins = text[..at].chars().next_back().is_none_or(|before| !belongs_to_path(before));
        let mount = if begins { longest(rest, mounts) } else { None };
        if let Some((path, mount)) = mount {
            out.push_str(&mount.from.to_string_lossy());
            at += path.len();
        } else {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            at += next;
        }
    }
    out
}

/// The directories that are not on this machine and that mounts are made in, each shown below this directory.
pub(super) fn above(mounts: &[Mount], below: &Path) -> io::Result<Vec<Mount>> {
    let mut parents: BTreeMap<&Path, Vec<&Mount>> = BTreeMap::new();
    let is_mounted = |path: &Path| mounts.iter().any(|mount| path.starts_with(&mount.at));
    for mount in mounts {
        if let Some(parent) = mount.at.parent().filter(|parent| !parent.exists() && !is_mounted(parent)) {
            parents.entry(parent).or_default().push(mount);
        }
    }
    let mut shown = Vec::new();
    for (number, (parent, mounts)) in parents.into_iter().enumerate() {
        let from = below.join(number.to_string());
        // Of an earlier start.
        drop(std::fs::remove_dir_all(&from));
        std::fs::create_dir_all(&from)?;
        for (mount, name) in mounts.into_iter().filter_map(|mount| Some((mount, mount.at.file_name()?))) {
            symlink(&mount.from, from.join(name))?;
        }
        shown.push(Mount { from, at: parent.to_owned(), read_only: true });
    }
    Ok(shown)
}

/// The mount with the longest path that this text begins with.
fn longest<'a>(text: &str, mounts: &'a [Mount]) -> Option<(&'a str, &'a Mount)> {
    let matching = mounts.iter().filter_map(|mount| {
        let path = path_of(&mount.at)?;
        let after = text.strip_prefix(path)?;
        let ends = after.chars().next().is_none_or(|next| next == '/' || !belongs_to_path(next));
        ends.then_some((path, mount))
    });
    matching.max_by_key(|(path, _)| path.len())
}

fn path_of(path: &Path) -> Option<&str> {
    path.to_str().map(|path| path.trim_end_matches('/')).filter(|path| !path.is_empty())
}

/// Whether a character before or after a path would make it another path.
fn belongs_to_path(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '/' | '.' | '-' | '_' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_only_mounts_make_is_shown_with_links_to_them() {
        let mount = |at: &str, from: &str| Mount { from: from.into(), at: at.into(), read_only: false };
        let mounts = [
            mount("/no-such/secrets/a", "/d/a"),
            mount("/no-such/secrets/b", "/d/b"),
            mount("/no-such/data", "/d/data"),
            mount("/no-such/data/logs", "/d/logs"),
            mount("/tmp/of-this-machine", "/d/t"),
        ];
        let below = std::env::temp_dir().join(format!("muster-above-{}", std::process::id()));
        for _ in 0..2 {
            let above = above(&mounts, &below).unwrap();
            let at: Vec<&Path> = above.iter().map(|above| above.at.as_path()).collect();
            assert_eq!(at, [Path::new("/no-such"), Path::new("/no-such/secrets")]);
            assert_eq!(std::fs::read_link(above[1].from.join("a")).unwrap(), Path::new("/d/a"));
            assert_eq!(std::fs::read_link(above[1].from.join("b")).unwrap(), Path::new("/d/b"));
        }
        std::fs::remove_dir_all(below).unwrap();
    }

    #[test]
    fn paths_of_mounts_are_translated_and_others_are_not() {
        let mount = |at: &str, from: &str| Mount { from: from.into(), at: at.into(), read_only: false };
        let mounts =
            [mount("/muster/volume", "/d/v"), mount("/data", "/d/v/data"), mount("/data/logs/", "/l")];
        for (text, wanted) in [
            ("/data", "/d/v/data"),
            ("/data/x", "/d/v/data/x"),
            ("/data/logs", "/l"),
            ("/data/logs/x", "/l/x"),
            ("--dir=/data --log=/data/logs", "--dir=/d/v/data --log=/l"),
            (r#"[{"name":"data","path":"/muster/volume"}]"#, r#"[{"name":"data","path":"/d/v"}]"#),
            ("/database", "/database"),
            ("/var/data", "/var/data"),
            ("/data-1", "/data-1"),
            ("a:/data,b", "a:/d/v/data,b"),
            ("größe=/data", "größe=/d/v/data"),
            ("", ""),
        ] {
            assert_eq!(translate(text, &mounts), wanted);
        }
    }
}
