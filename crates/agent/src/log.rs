//! What the agent says about itself, among the lines of its application: on standard error, marked as its own.

use std::fmt::Arguments;
use std::io::Write;

/// Says a line. Where nobody listens it is lost, and nothing else happens.
pub(crate) fn line(words: Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "muster-agent: {words}");
}

/// Says a line, in the form of `format!`.
macro_rules! say {
    ($($words:tt)*) => { $crate::log::line(format_args!($($words)*)) };
}
pub(crate) use say;
