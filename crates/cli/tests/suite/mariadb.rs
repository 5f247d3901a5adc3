//! Clients of `MariaDB`: the real one, and no answer is waited for without a bound.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// What is written to.
pub(crate) const TABLE: &str = "trial.entries";
/// How long a row may take. A server that stands still, or takes part in nothing, never answers.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a question may take, in seconds.
const QUESTION: &str = "10";

/// Where, and as whom.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) host: String,
    pub(crate) port: u64,
    pub(crate) password: String,
}

impl Account {
    fn client(&self, mut command: Command) -> Command {
        let (host, port) = (format!("--host={}", self.host), format!("--port={}", self.port));
        command.args([
            "--no-defaults",
            "--protocol=tcp",
            "--user=admin",
            "--connect-timeout=5",
            &host,
            &port,
        ]);
        command.args(["--batch", "--skip-column-names", "--unbuffered"]);
        // Not on the command line, where everyone sees it.
        command.env("MYSQL_PWD", &self.password);
        command
    }

    /// What the server answers.
    pub(crate) fn ask(&self, query: &str) -> io::Result<String> {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", QUESTION, "mariadb"]);
        let output = self.client(command).args(["-e", query]).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(io::Error::other(format!("{query}: {} {said}", output.status)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// A connection that writes row after row.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Session {
    pub(crate) fn open(account: &Account) -> Self {
        let mut command = account.client(Command::new("mariadb"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.try_for_each(|line| sender.send(line))
        });
        Self { child, input, answers }
    }

    /// Whether this row was acknowledged.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let row = number.to_string();
        let sent = writeln!(self.input, "INSERT INTO {TABLE} VALUES ({row}); SELECT {row};");
        sent.is_ok() && self.answers.recv_timeout(ANSWER) == Ok(row)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
