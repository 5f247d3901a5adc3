//! The Galera cluster of a stage: its servers, what they left, and what clients see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::stage::{PATIENCE, Stage};

/// The members of the sample.
pub(crate) const MEMBERS: [&str; 3] = ["demo-a-0", "demo-a-1", "demo-a-2"];
/// What is written to.
pub(crate) const TABLE: &str = "trial.entries";

impl Stage {
    /// The command that connects a client, as it was printed. With it a table is made.
    pub(crate) fn client_command(&self, ready: &str) -> Vec<String> {
        let line = ready.lines().find_map(|line| line.trim().strip_prefix("mariadb ")).unwrap();
        let words = line.split('#').next().unwrap_or_default().split_whitespace();
        let command: Vec<String> = std::iter::once("mariadb").chain(words).map(str::to_owned).collect();
        assert_eq!(command[1], self.options(), "{ready}");
        self.sql(&format!("CREATE DATABASE trial; CREATE TABLE {TABLE} (number BIGINT PRIMARY KEY)"));
        command
    }

    fn options(&self) -> String {
        format!("--defaults-file={}", self.root.join("data/demo.cnf").display())
    }

    /// What a client is answered. A server that takes part in nothing may let it wait for ever.
    fn sql(&self, query: &str) -> String {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE.as_secs().to_string()).arg("mariadb");
        command.args([&self.options(), "--batch", "--skip-column-names", "-e", query]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{query}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// No account can be used without a password, and only one from elsewhere.
    pub(crate) fn has_no_open_door(&self) {
        let accounts = self.sql(
            "SELECT CONCAT(user, '@', host) FROM mysql.global_priv WHERE NOT IFNULL(JSON_VALUE(priv, '$.account_locked'), 0)",
        );
        let mut accounts: Vec<&str> = accounts.lines().collect();
        accounts.sort_unstable();
        assert_eq!(accounts, ["admin@%", "root@localhost", "sst@localhost"]);
        let open =
            "SELECT COUNT(*) FROM mysql.user WHERE user <> 'mariadb.sys' AND authentication_string = ''";
        assert_eq!(self.sql(open).trim(), "0");
    }

    /// The rows that are there. Whoever is asked has applied first what the others acknowledged before.
    pub(crate) fn rows(&self) -> BTreeSet<u64> {
        let rows = self.sql(&format!("SET SESSION wsrep_sync_wait=1; SELECT number FROM {TABLE}"));
        rows.lines().map(|row| row.parse().unwrap()).collect()
    }

    /// The server of this member, while it runs.
    pub(crate) fn server(&self, member: &str) -> Option<Pid> {
        let (here, this) = (self.root.display().to_string(), format!("MUSTER_MEMBER={member}"));
        let address =
            self.containers().get(member).and_then(|container| variable(container, "MUSTER_ADDRESS"))?;
        let address = format!("MUSTER_ADDRESS={address}");
        fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
            let command = fs::read(process.path().join("cmdline")).ok()?;
            let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
            let serves =
                words.first()? == b"mariadbd" && words.iter().any(|word| word.starts_with(b"--read-only="));
            let environment =
                String::from_utf8_lossy(&fs::read(process.path().join("environ")).ok()?).into_owned();
            let has = |wanted: &str| environment.split('\0').any(|variable| variable == wanted);
            let ours = environment.contains(&here) && has(&this) && has(&address);
            let pid = process.file_name().to_str()?.parse().ok()?;
            (serves && ours).then(|| Pid::from_raw(pid)).flatten()
        })
    }

    /// The servers that run.
    pub(crate) fn servers(&self) -> Vec<Pid> {
        MEMBERS.into_iter().filter_map(|member| self.server(member)).collect()
    }

    pub(crate) fn kill_server(&self, member: &str) {
        kill_process(self.server(member).unwrap(), Signal::KILL).unwrap();
    }

    /// Waits until every member serves, with other processes than these.
    pub(crate) fn until_whole_without(&self, gone: &[Pid]) {
        self.until("every member serves again", |stage| {
            let servers = stage.servers();
            servers.len() == MEMBERS.len()
                && !servers.iter().any(|server| gone.contains(server))
                && stage.is_whole()
        });
    }

    /// How often each member was told to seed.
    pub(crate) fn seeds(&self) -> BTreeMap<String, usize> {
        let count = |container: &PathBuf| log(container).matches("muster-agent: seed started").count();
        self.containers().iter().map(|(member, container)| (member.clone(), count(container))).collect()
    }

    /// Where `InnoDB` found each member's data to end, after the last crash.
    pub(crate) fn recovered_positions(&self) -> BTreeMap<String, u64> {
        let position = |container: &PathBuf| {
            let found = fs::read_to_string(container.join("../../volumes/run/recovery.log")).unwrap();
            let line = found.lines().rfind(|line| line.contains("Recovered position:")).unwrap().to_owned();
            line.rsplit(':').next().unwrap().trim().parse().unwrap()
        };
        self.containers().iter().map(|(member, container)| (member.clone(), position(container))).collect()
    }

    /// Whether the last state transfer that this member received was of what it missed, not of everything.
    pub(crate) fn joined_by_itself(&self, member: &str) -> bool {
        let log = log(&self.containers()[member]);
        let last =
            log.lines().rfind(|line| line.contains("completed on joiner")).unwrap_or_default().to_owned();
        last.contains("mariabackup IST")
    }

    /// Destroys the file in which Galera keeps its state, while nobody looks.
    pub(crate) fn destroy_state(&self, member: &str) {
        kill_process(self.server(member).unwrap(), Signal::STOP).unwrap();
        fs::write(self.volume(member).join("data/grastate.dat"), b"\0garbage\nuuid: none\nseqno: 12")
            .unwrap();
    }

    /// Empties a member's volume, with all that its agent remembers, while nothing on it runs; then all of it is killed.
    pub(crate) fn wipe(&self, member: &str) {
        let volume = self.volume(member);
        let container = self.containers()[member].clone();
        let agent = fs::read_to_string(container.join("pid")).unwrap();
        let agent = Pid::from_raw(agent.trim().parse().unwrap()).unwrap();
        for process in [agent, self.server(member).unwrap()] {
            kill_process(process, Signal::STOP).unwrap();
        }
        for entry in fs::read_dir(volume).unwrap().flatten() {
            let path = entry.path();
            if path.ends_with("data") {
                // Mounted, where there are namespaces.
                for entry in fs::read_dir(path).unwrap().flatten() {
                    remove(&entry.path());
                }
            } else {
                remove(&path);
            }
        }
        self.kill_member(member);
    }

    /// Whether it throws away what it has, for a copy of everything.
    pub(crate) fn is_being_copied(&self, member: &str) -> bool {
        self.server(member).is_some() && self.volume(member).join("data/.sst").exists()
    }

    fn volume(&self, member: &str) -> PathBuf {
        let claims: kube::Api<k8s_openapi::api::core::v1::PersistentVolumeClaim> =
            kube::Api::namespaced(self.kubernetes(), "default");
        let claim = self.runtime.block_on(claims.get(&format!("data-{member}"))).unwrap();
        self.root.join("data/volumes").join(claim.spec.and_then(|spec| spec.volume_name).unwrap())
    }
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

/// What a container has said in the runs that are kept, the earlier one first.
fn log(container: &Path) -> String {
    let files = fs::read_dir(container).unwrap().flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok());
    let mut runs: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|end| end == "log") && number(path).is_some())
        .collect();
    runs.sort_by_key(number);
    let said = runs.iter().map(|path| fs::read(path).unwrap_or_default());
    String::from_utf8_lossy(&said.collect::<Vec<_>>().concat()).into_owned()
}

/// A variable of a container.
fn variable(container: &Path, name: &str) -> Option<String> {
    let order = fs::read_to_string(container.join("order")).ok()?;
    let (_, after) = order.split_once(&format!("\"{name}\",\""))?;
    Some(after.split_once('"')?.0.to_owned())
}
