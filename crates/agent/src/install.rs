//! `muster-agent install DIR`: copies this program to where the application's container finds it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the program is called there.
const NAME: &str = "muster-agent";
/// Whoever runs the application may run it; nobody need write it.
const MODE: u32 = 0o755;

/// Copies `program` into `directory`, as a whole or not at all.
pub fn install(program: &Path, directory: &Path) -> io::Result<()> {
    let (target, part) = (directory.join(NAME), directory.join(format!(".{NAME}.part")));
    fs::copy(program, &part)?;
    fs::set_permissions(&part, fs::Permissions::from_mode(MODE))?;
    File::open(&part)?.sync_all()?;
    fs::rename(part, target)
}
