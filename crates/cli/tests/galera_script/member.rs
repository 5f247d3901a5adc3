//! A member's directories, and stand-ins for what the script runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The history of the data.
pub(crate) const UUID: &str = "f4d4dd2f-e1a2-11f1-898b-b76fb0030911";
/// That of no data.
pub(crate) const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

const MANIFEST: &str = include_str!("../../../../engines/galera/engine.yaml");

/// Recovers the position that it finds in a file, and notes each other start.
const SERVER: &str = r#"case "$*" in
*--wsrep-recover*) echo x >>"$HERE/recoveries"; echo "WSREP: Recovered position: $(cat "$HERE/position")" ;;
*) echo "$*" >"$HERE/started" ;;
esac"#;

pub(crate) struct Member(PathBuf);

impl Member {
    /// One with nothing on its volume.
    pub(crate) fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("muster-script-{test}-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(root.join("data")).unwrap();
        let manifest: serde_json::Value = serde_yaml_ng::from_str(MANIFEST).unwrap();
        let script = manifest["spec"]["files"]["galera.sh"].as_str().unwrap();
        let member = Self(root).file("galera.sh", script).file("run/empty", "");
        let member = member.file("parameters/max_connections", "99").file("parameters/gcache_size", "64M");
        let accounts = ["root", "sst", "admin"];
        let with = |member: Self, name| member.file(&format!("secrets/accounts/{name}"), "Secret1");
        accounts.into_iter().fold(member, with).program("mariadbd", SERVER).client("exit 1")
    }

    /// With a file.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// With a program that does this.
    pub(crate) fn program(self, name: &str, text: &str) -> Self {
        let member = self.file(&format!("bin/{name}"), &format!("#!/bin/sh\nset -e\n{text}\n"));
        let path = member.0.join("bin").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        member
    }

    /// With an installed database.
    pub(crate) fn installed(self) -> Self {
        self.file("data/mysql/db.opt", "")
    }

    /// With the state that Galera keeps.
    pub(crate) fn state(self, uuid: &str, sequence: i64) -> Self {
        let text = format!("version: 2.1\nuuid:    {uuid}\nseqno:   {sequence}\nsafe_to_bootstrap: 0\n");
        self.file("data/grastate.dat", &text)
    }

    /// With a server that finds this position.
    pub(crate) fn recovers(self, position: &str) -> Self {
        self.file("position", position)
    }

    /// With a client that does this.
    pub(crate) fn client(self, text: &str) -> Self {
        self.program("mariadb", text)
    }

    /// How an action exits, and what it says.
    pub(crate) fn says(&self, action: &str) -> (i32, String) {
        let output = self.run(action);
        let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        (output.status.code().unwrap(), said)
    }

    /// What an action complains about, which fails.
    pub(crate) fn complains(&self, action: &str) -> String {
        let output = self.run(action);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap().trim().to_owned()
    }

    fn run(&self, action: &str) -> Output {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.arg(self.0.join("galera.sh")).arg(action).env("PATH", path).env("HERE", &self.0);
        for (name, place) in [("DATA", "data"), ("PARAMETERS", "parameters"), ("SECRETS", "secrets")] {
            command.env(format!("MUSTER_{name}"), self.0.join(place));
        }
        let told = [("ADDRESS", "127.9.0.1"), ("MEMBER", "m"), ("CLUSTER", "c"), ("NAMESPACE", "n")];
        for (name, value) in told.into_iter().chain([("ROLE", "primary"), ("PEERS", "")]) {
            command.env(format!("MUSTER_{name}"), value);
        }
        command.env("GALERA_RUN", self.0.join("run")).env("GALERA_PROVIDER", self.0.join("galera.sh"));
        command.output().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    /// How often the server was asked for the position.
    pub(crate) fn recoveries(&self) -> usize {
        self.read("recoveries").lines().count()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
