//! Which process is meant. A number alone does not say it: it is given again to somebody else, and everything that writes numbers down
//! may be read much later. What does say it is the number, the moment at which the process began, and the start of the machine.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::stat::{Own, Stat};

/// Where the kernel says which start of the machine this is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A process, and no other one that has its number later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    number: i32,
    began: u64,
    boot: String,
}

impl Identity {
    /// This process.
    pub fn own() -> io::Result<Self> {
        Own::open()?.stat().map(|stat| Self::new(&stat))
    }

    /// The process that has this number now.
    pub fn of(number: i32) -> Option<Self> {
        Stat::of(number).map(|stat| Self::new(&stat))
    }

    fn new(stat: &Stat) -> Self {
        Self { number: stat.number, began: stat.began, boot: boot() }
    }

    /// All that are written in this file, in the order in which they came.
    pub fn noted(file: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(Self::parse).collect()
    }

    /// Writes it at the end of this file.
    pub fn note(&self, file: &Path) -> io::Result<()> {
        let line = format!("{} {} {}\n", self.number, self.began, self.boot);
        OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (number, began) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Self { number, began, boot: words.next()?.to_owned() })
    }

    /// The number that it has for as long as it lives.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Whether it lives. One that waits only for its end to be fetched does not.
    pub fn lives(&self) -> bool {
        let found = Stat::of(self.number);
        found.is_some_and(|stat| stat.began == self.began && !stat.is_over()) && self.boot == boot()
    }

    /// Sends it a signal, if it lives: to it, and to nobody who has its number by then.
    pub fn signal(&self, signal: Signal) {
        let Some(process) = Pid::from_raw(self.number) else { return };
        // What is opened first and looked at then stays what it was when it was looked at.
        let Ok(process) = pidfd_open(process, PidfdFlags::empty()) else { return };
        if self.lives() {
            // It may end just now, and that is as good.
            let _ = pidfd_send_signal(process, signal);
        }
    }
}

fn boot() -> String {
    std::fs::read_to_string(BOOT).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_reads_back_and_half_a_line_is_nobody() {
        let file = std::env::temp_dir().join(format!("muster-identity-{}", std::process::id()));
        drop(std::fs::remove_file(&file));
        let (own, other) = (Identity::own().unwrap(), Identity::of(1).unwrap());
        own.note(&file).unwrap();
        other.note(&file).unwrap();
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + "77 12").unwrap();
        assert_eq!(Identity::noted(&file), [own.clone(), other]);
        assert!(own.lives() && own.number() == Identity::of(own.number).unwrap().number);
        std::fs::remove_file(file).unwrap();
        assert!(Identity::noted(Path::new("/no/such/file")).is_empty());
    }

    #[test]
    fn a_process_that_has_its_number_later_is_another_one() {
        let mut child = std::process::Command::new("tail").args(["-f", "/dev/null"]).spawn().unwrap();
        let meant = Identity::of(child.id().try_into().unwrap()).unwrap();
        let others = [
            Identity { began: meant.began + 1, ..meant.clone() },
            Identity { boot: "before".into(), ..meant.clone() },
        ];
        for other in others {
            assert!(!other.lives());
            other.signal(Signal::KILL);
        }
        assert!(meant.lives() && child.try_wait().unwrap().is_none());
        meant.signal(Signal::KILL);
        child.wait().unwrap();
        assert!(!meant.lives());
    }
}
