//! The programs that containers find: this very file under each of its names, copied, so that a new build under our feet changes
//! nothing of what runs. What is there already is left alone: a disk without room must not keep from starting again what needs none.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use muster_agent::install;

use crate::programs::NAMES;

/// What the copy is called, which every other name leads to.
const FILE: &str = "muster";

/// Makes the directory with the programs, and says where it is.
pub(crate) fn make(directory: &Path) -> Result<PathBuf> {
    let bin = directory.join("bin");
    let made = std::env::current_exe().and_then(|program| fill(&bin, &program));
    made.with_context(|| format!("cannot put the programs into {}", bin.display()))?;
    Ok(bin)
}

fn fill(bin: &Path, program: &Path) -> io::Result<()> {
    fs::create_dir_all(bin)?;
    install::copy(program, bin, FILE)?;
    for link in NAMES.map(|name| bin.join(name)) {
        if fs::read_link(&link).is_ok_and(|leads| leads == Path::new(FILE)) {
            continue;
        }
        drop(fs::remove_file(&link));
        symlink(FILE, link)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_the_program_whatever_was_there() {
        let root = std::env::temp_dir().join(format!("muster-up-bin-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let (bin, program) = (root.join("bin"), root.join("built"));
        for build in ["first", "second", "second"] {
            fs::write(&program, build).unwrap();
            fill(&bin, &program).unwrap();
            for name in NAMES {
                assert_eq!(fs::read_to_string(bin.join(name)).unwrap(), build);
            }
            // Whoever put something else there.
            fs::remove_file(bin.join(NAMES[1])).unwrap();
            symlink("nowhere", bin.join(NAMES[1])).unwrap();
        }
        drop(fs::remove_dir_all(root));
    }
}
