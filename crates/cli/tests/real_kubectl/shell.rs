//! A shell in a directory of its own, in which `kubectl` speaks to one server.

use std::fs;
use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use muster_test_assets::{Binary, locate};
use muster_test_control_plane::eventually;

/// No step takes this long on a machine that is not broken.
const STEP_WITHIN: Duration = Duration::from_secs(90);

/// `await FILE TEXT`: waits until the text is in the file, for 30 s at most.
const AWAIT: &str = r#"#!/bin/sh
for try in $(seq 600); do grep -q -- "$2" "$1" 2>/dev/null && exit 0; sleep 0.05; done
echo "$1 never said $2" >&2; exit 1
"#;

pub(crate) struct Shell {
    directory: PathBuf,
}

impl Shell {
    /// In which kubectl uses this kubeconfig.
    pub(crate) fn new(name: &str, kubeconfig: &Path) -> Self {
        let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let directory = std::env::temp_dir().join(format!("muster-kubectl-{name}-{nanos}"));
        fs::create_dir_all(directory.join("bin")).unwrap();
        fs::create_dir_all(directory.join("here")).unwrap();
        let kubectl = locate().expect("the assets").path(Binary::Kubectl);
        let (kubectl, kubeconfig) = (kubectl.display(), kubeconfig.display());
        let options = format!("--kubeconfig {kubeconfig} --cache-dir {}/cache", directory.display());
        let shell = Self { directory };
        shell.program("kubectl", &format!("#!/bin/sh\nexec {kubectl} {options} \"$@\"\n"));
        shell.program("await", AWAIT);
        shell
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.directory.join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs these commands.
    pub(crate) fn run(&self, commands: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        let file = |name: &str| fs::File::create(self.directory.join(name)).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", commands])
            .current_dir(self.directory.join("here"))
            .env_clear()
            .env("PATH", format!("{}:{path}", self.directory.join("bin").display()))
            .env("HOME", &self.directory)
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            // What a step starts and does not end is ended with it.
            .process_group(0)
            .spawn()
            .unwrap();
        let ended =
            eventually(Instant::now() + STEP_WITHIN, || child.try_wait().unwrap().ok_or("it goes on"));
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let status = ended.unwrap_or_else(|_| child.wait().unwrap());
        let read = |name: &str| fs::read(self.directory.join(name)).unwrap();
        Output { status, stdout: read("stdout"), stderr: read("stderr") }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Runs our server until the pipe on stdin closes, which it does when the test process ends, however it ends.
const GUARD: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
cat <&3 >/dev/null
kill -TERM "$server"
wait "$server"
"#;

/// Our server.
pub(crate) struct Ours {
    _guard: std::process::Child,
    kubeconfig: PathBuf,
}

impl Ours {
    /// Starts it with these options.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, "guard", env!("CARGO_BIN_EXE_muster"), "apiserver", "--ephemeral"]);
        command.args(options);
        let mut guard =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let kubeconfig = line.trim_end().strip_prefix("ready: KUBECONFIG=").expect("a ready line").into();
        Self { _guard: guard, kubeconfig }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}
