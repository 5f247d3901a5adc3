//! The process that started this one: its end is this one's end too, from the first moment on.

use std::io;

use rustix::process::Signal;

use super::stat::Own;
use super::{SandboxError, step};

/// Who started this process.
pub(super) struct Parent {
    number: i32,
    own: Own,
}

impl Parent {
    /// Binds this process to the one of this number, which started it.
    pub(super) fn bind(number: i32) -> Result<Self, SandboxError> {
        // The first thing of all: only what ends after this is told by the kernel.
        ask_for(Signal::KILL)?;
        let own = Own::open().map_err(step("find out its parent"))?;
        let mut parent = Self { number, own };
        parent.check()?;
        Ok(parent)
    }

    /// The same again: a change of user takes the wish away, and who ended meanwhile was not told of.
    pub(super) fn bind_again(&mut self) -> Result<(), SandboxError> {
        ask_for(Signal::KILL)?;
        self.check()
    }

    /// Whoever lost its parent has another one.
    fn check(&mut self) -> Result<(), SandboxError> {
        let found = self.own.stat().map_err(step("find out its parent"))?.parent;
        if found == self.number {
            Ok(())
        } else {
            Err(step("go on without its parent")(io::ErrorKind::NotFound.into()))
        }
    }
}

/// The kernel sends this signal when the process that started this one ends.
pub(super) fn ask_for(signal: Signal) -> Result<(), SandboxError> {
    rustix::process::set_parent_process_death_signal(Some(signal))
        .map_err(|error| step("bind itself to its parent")(error.into()))
}
