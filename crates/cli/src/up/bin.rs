//! The programs that containers find: this very file under each of its names, copied, so that a new build under our feet changes
//! nothing of what runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::programs::NAMES;

/// Makes the directory with the programs, and says where it is.
pub(crate) fn make(directory: &Path) -> Result<PathBuf> {
    let bin = directory.join("bin");
    let whole = || -> std::io::Result<()> {
        fs::create_dir_all(&bin)?;
        let (file, new) = (bin.join("muster"), bin.join("muster.new"));
        fs::copy(std::env::current_exe()?, &new)?;
        fs::rename(new, &file)?;
        for name in NAMES {
            let link = bin.join(name);
            drop(fs::remove_file(&link));
            symlink("muster", link)?;
        }
        Ok(())
    };
    whole().with_context(|| format!("cannot put the programs into {}", bin.display()))?;
    Ok(bin)
}
