//! Files that only this user may read, written whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Only this user may look into a directory.
const PRIVATE_DIRECTORY: u32 = 0o700;
/// Only this user may read a file.
const PRIVATE_FILE: u32 = 0o600;

/// What went wrong with a file, and with which.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}")]
pub struct FileError {
    /// For example `write`.
    pub doing: &'static str,
    /// Which file.
    pub path: String,
    /// What the machine said.
    pub source: io::Error,
}

impl FileError {
    /// For `map_err`: what was being done, and to which file.
    pub fn when(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self { doing, path, source }
    }
}

/// Makes a directory that only this user may look into, and those above it where they are missing. One that is there and
/// open to others is closed to them: keys and objects are kept in it.
pub fn make_private_directory(path: &Path) -> Result<(), FileError> {
    let created = DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path);
    created.map_err(FileError::when("create", path))?;
    let found = std::fs::metadata(path).map_err(FileError::when("look at", path))?;
    if found.permissions().mode() & 0o077 != 0 {
        let private = std::fs::Permissions::from_mode(PRIVATE_DIRECTORY);
        std::fs::set_permissions(path, private)
            .map_err(FileError::when("change the permissions of", path))?;
    }
    Ok(())
}

/// The content of a file; nothing if there is none.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    match std::fs::read_to_string(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::when("read", path)(error)),
    }
}

/// Writes a file that only this user may read. A reader sees the old content or the new, never a part, even after a
/// power cut; a full disk leaves the old content.
pub fn write_private(path: &Path, content: &str) -> Result<(), FileError> {
    let beside = path.with_extension("new");
    let written = write_new(&beside, content);
    if let Err(error) = written.and_then(|()| std::fs::rename(&beside, path)) {
        // What is half written is of no use; the error says what matters.
        let _ = std::fs::remove_file(&beside);
        return Err(FileError::when("write", path)(error));
    }
    let parent = path.parent().unwrap_or(Path::new("/"));
    File::open(parent).and_then(|directory| directory.sync_all()).map_err(FileError::when("write", path))
}

fn write_new(path: &Path, content: &str) -> io::Result<()> {
    // Left from a start that was cut off, perhaps with other rights.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::scratch::Scratch;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_private_file_is_replaced_whole_and_only_its_owner_reads_it() {
        let scratch = Scratch::new();
        let path = scratch.path().join("token");
        assert_eq!(read(&path).unwrap(), None);
        write_private(&path, "one").unwrap();
        std::fs::write(path.with_extension("new"), "left over").unwrap();
        write_private(&path, "two").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(mode(&path), 0o600);
        assert!(!path.with_extension("new").exists());
    }

    #[test]
    fn a_directory_open_to_others_is_closed_to_them() {
        let scratch = Scratch::new();
        let path = scratch.path().join("a/b");
        make_private_directory(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        make_private_directory(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn an_error_names_the_file() {
        let scratch = Scratch::new();
        let path = scratch.path().join("missing/token");
        let error = write_private(&path, "x").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
    }
}
