//! What the kernel says of a process, in the numbers of this machine: `/proc` is the machine's here, whatever namespace a process is in.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

/// One process, as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) number: i32,
    pub(super) state: char,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) threads: u32,
    /// When it began, in the kernel's ticks since it was started.
    pub(super) began: u64,
}

impl Stat {
    /// The process of this number, if there is one.
    pub(super) fn of(number: i32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
    }

    /// Whether there is nothing left of it but its end, which somebody has to fetch. The first of several threads may end first.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }

    /// From the text that the kernel writes. The name of a program is in brackets, and may hold anything, brackets too.
    fn parse(text: &str) -> Option<Self> {
        let (number, rest) = text.split_once(' ')?;
        let mut fields = rest.rsplit_once(") ")?.1.split_whitespace();
        let (state, parent) = (fields.next()?.chars().next()?, fields.next()?.parse().ok()?);
        let group = fields.next()?.parse().ok()?;
        let threads = fields.nth(14)?.parse().ok()?;
        let began = fields.nth(1)?.parse().ok()?;
        Some(Self { number: number.parse().ok()?, state, parent, group, threads, began })
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
        let text = "77 (a) b (c) S 5 76 75 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456 7 8";
        let expected = Stat { number: 77, state: 'S', parent: 5, group: 76, threads: 3, began: 123_456 };
        assert_eq!(Stat::parse(text), Some(expected));
        assert_eq!(Stat::parse("77 (a) S 5"), None);
    }

    #[test]
    fn this_process_is_found_in_both_ways() {
        let own = Own::open().unwrap().stat().unwrap();
        let found = Stat::of(own.number).unwrap();
        assert_eq!((found.number, found.parent, found.began), (own.number, own.parent, own.began));
        assert!(!own.is_over());
    }

    #[test]
    fn the_end_of_one_thread_is_not_the_end_of_a_process() {
        let stat = |state, threads| Stat { number: 7, state, parent: 1, group: 7, threads, began: 1 };
        assert!(stat('Z', 1).is_over() && !stat('Z', 2).is_over() && !stat('D', 1).is_over());
    }
}
