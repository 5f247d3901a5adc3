//! Commands of the system: they end, and what they say is short.

use std::ffi::OsStr;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long a command may take. A filesystem is made in a second; a slow disk may need a while to be let go.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How much of what a command says is shown.
const SHOWN_BYTES: usize = 500;
/// Where administrators' commands are, also if the user's search path does not say so.
const SEARCH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Why a command did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such command.
    #[error("`{0}` is not installed")]
    Missing(String),
    /// It could not be started.
    #[error("`{0}` cannot be run: {1}")]
    Unusable(String, std::io::Error),
    /// It failed.
    #[error("`{0}` failed: {1}")]
    Failed(String, String),
    /// It took too long, and was ended.
    #[error("`{0}` took longer than {seconds} s", seconds = TIMEOUT.as_secs())]
    TimedOut(String),
}

/// Runs a command; what it printed.
pub(crate) async fn run<A: AsRef<OsStr>>(name: &str, arguments: &[A]) -> Result<String, CommandError> {
    let mut command = Command::new(name);
    command.args(arguments).env("PATH", SEARCH).env("LC_ALL", "C").stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(TIMEOUT, command.output()).await {
        Err(_) => return Err(CommandError::TimedOut(name.to_owned())),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(CommandError::Missing(name.to_owned()));
        }
        Ok(Err(error)) => return Err(CommandError::Unusable(name.to_owned(), error)),
        Ok(Ok(output)) => output,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = text(&output.stderr);
    let start = said.len().saturating_sub(SHOWN_BYTES);
    let said = said.char_indices().find(|(at, _)| *at >= start).map_or("", |(at, _)| &said[at..]);
    let said = if said.is_empty() { output.status.to_string() } else { said.to_owned() };
    Err(CommandError::Failed(name.to_owned(), said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_says_what_it_did_or_why_not() {
        assert_eq!(run("echo", &["a"]).await.unwrap(), "a");
        let failed = run("sh", &["-c", "echo no >&2; exit 3"]).await.unwrap_err();
        assert_eq!(failed.to_string(), "`sh` failed: no");
        let missing = run("muster-no-such-command", &["a"]).await.unwrap_err();
        assert_eq!(missing.to_string(), "`muster-no-such-command` is not installed");
    }
}
