//! What the kernel says of a process, in the numbers of this machine: `/proc` is the machine's here, whatever namespace a process is in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

/// One process, as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) parent: i32,
}

impl Stat {
    /// From the text that the kernel writes. The name of a program is in brackets, and may hold anything, brackets too.
    fn parse(text: &str) -> Option<Self> {
        let parent = text.rsplit_once(") ")?.1.split_whitespace().nth(1)?;
        Some(Self { parent: parent.parse().ok()? })
    }
}

/// This process, looked at through a file that stays open: also from a view in which another `/proc` is mounted.
pub(super) struct Own(File);

impl Own {
    pub(super) fn open() -> io::Result<Self> {
        File::open("/proc/self/stat").map(Self)
    }

    pub(super) fn stat(&mut self) -> io::Result<Stat> {
        let mut text = String::new();
        self.0.rewind()?;
        self.0.read_to_string(&mut text)?;
        Stat::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let text = "77 (a) b (c) S 5 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456 7 8";
        assert_eq!(Stat::parse(text), Some(Stat { parent: 5 }));
        assert_eq!(Stat::parse("77 (a) S"), None);
    }

    #[test]
    fn this_process_has_the_parent_that_it_has() {
        let parent = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
        assert_eq!(Some(Own::open().unwrap().stat().unwrap().parent), parent);
    }
}
