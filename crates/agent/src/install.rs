//! `muster-agent install DIR`: copies this program to where the application's container finds it.
//!
//! What is there already is left alone: a container that is started again needs no room for it, and a disk may have none left.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What the program is called there.
const NAME: &str = "muster-agent";
/// Whoever runs the application may run it; nobody need write it.
const MODE: u32 = 0o755;
/// How much of two files is compared at once.
const CHUNK: usize = 256 * 1024;

/// Copies `program` into `directory`, as a whole or not at all.
pub fn install(program: &Path, directory: &Path) -> io::Result<()> {
    copy(program, directory, NAME)
}

/// The same under this name.
pub fn copy(program: &Path, directory: &Path, name: &str) -> io::Result<()> {
    let (target, part) = (directory.join(name), directory.join(format!(".{name}.part")));
    let copied = if is_same(program, &target)? { Ok(()) } else { replace(program, &target, &part) };
    // Half a copy, of this time or one that was killed, takes the room that others need.
    drop(fs::remove_file(&part));
    copied
}

fn replace(program: &Path, target: &Path, part: &Path) -> io::Result<()> {
    fs::copy(program, part)?;
    fs::set_permissions(part, fs::Permissions::from_mode(MODE))?;
    File::open(part)?.sync_all()?;
    fs::rename(part, target)
}

/// Whether the copy is the program, byte for byte, and can be run.
fn is_same(program: &Path, copy: &Path) -> io::Result<bool> {
    let copy = match File::open(copy) {
        Ok(copy) => copy,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let (program, found) = (File::open(program)?, copy.metadata()?);
    if program.metadata()?.len() != found.len() || found.permissions().mode() & 0o777 != MODE {
        return Ok(false);
    }
    let (mut wanted, mut there) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    loop {
        for (file, bytes) in [(&program, &mut wanted), (&copy, &mut there)] {
            bytes.clear();
            file.take(CHUNK as u64).read_to_end(bytes)?;
        }
        if wanted != there || wanted.is_empty() {
            return Ok(wanted == there);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    use super::*;

    /// A program and the directory for its copy, both gone after the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let root =
                std::env::temp_dir().join(format!("muster-agent-install-{test}-{}", std::process::id()));
            fs::create_dir_all(root.join("bin")).unwrap();
            fs::write(root.join("program"), vec![7; CHUNK + 1]).unwrap();
            Self(root)
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        /// Installs the program, and says which file it is then.
        fn install(&self) -> u64 {
            install(&self.at("program"), &self.at("bin")).unwrap();
            let installed = self.at("bin").join(NAME);
            assert_eq!(fs::read(&installed).unwrap(), fs::read(self.at("program")).unwrap());
            let metadata = fs::metadata(installed).unwrap();
            assert_eq!(metadata.mode() & 0o777, MODE);
            assert_eq!(fs::read_dir(self.at("bin")).unwrap().count(), 1, "nothing else is there");
            metadata.ino()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn what_is_there_already_is_left_alone() {
        let scratch = Scratch::new("same");
        let before = scratch.install();
        // Of one that was killed.
        fs::write(scratch.at("bin").join(format!(".{NAME}.part")), "half").unwrap();
        assert_eq!(scratch.install(), before);
    }

    #[test]
    fn what_differs_is_replaced() {
        let scratch = Scratch::new("differs");
        let installed = scratch.at("bin").join(NAME);
        scratch.install();
        let mut last_differs = vec![7; CHUNK];
        last_differs.push(8);
        // As long as it is, and nothing of it: that is what a power cut leaves.
        for there in [last_differs, vec![0; CHUNK + 1], vec![7; CHUNK], Vec::new()] {
            fs::write(&installed, there).unwrap();
            scratch.install();
        }
        fs::set_permissions(&installed, fs::Permissions::from_mode(0o644)).unwrap();
        scratch.install();
    }

    #[test]
    fn half_a_copy_is_not_left_behind() {
        let scratch = Scratch::new("half");
        let before = scratch.install();
        // A file that can be opened, and fails when it is read.
        install(Path::new("/proc/self/mem"), &scratch.at("bin")).unwrap_err();
        assert_eq!(scratch.install(), before);
    }
}
