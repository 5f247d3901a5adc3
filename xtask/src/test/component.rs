//! The parts of the Rust toolchain that not every installation has.

use crate::cargo::cargo;
use std::process::Command;

#[derive(Clone, Copy)]
pub(super) enum Component {
    Rustfmt,
    Clippy,
}

impl Component {
    fn name(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustfmt",
            Self::Clippy => "clippy",
        }
    }

    fn is_there(self) -> bool {
        let subcommand = match self {
            Self::Rustfmt => "fmt",
            Self::Clippy => "clippy",
        };
        cargo(&[subcommand, "--version"]).output().is_ok_and(|output| output.status.success())
    }

    /// Sees to it that the component is there; if it cannot be had, says how to get it.
    pub(super) fn provide(self) -> Result<(), String> {
        if self.is_there() {
            return Ok(());
        }
        let name = self.name();
        eprintln!("{name} is not installed; trying `rustup component add {name}`");
        // Whether it worked shows in the next question.
        let _ = Command::new("rustup").args(["component", "add", name]).status();
        if self.is_there() {
            return Ok(());
        }
        Err(format!("{name} is not installed: `rustup component add {name}`, or the package of your system"))
    }
}
