//! Real processes that are really killed: what was acknowledged is there afterwards.

#![cfg(test)]

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use muster_ledger::client::{Appended, Client};
use serde_json::Value;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Three members on loopback, each with a directory and an address of its own.
struct Cluster {
    root: PathBuf,
    members: Vec<Member>,
}

struct Member {
    name: String,
    /// The one that it is on; it is as many times another as it lost its disk.
    volume: String,
    address: String,
    process: Option<Child>,
}

impl Cluster {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("muster-ledger-{test}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&root));
        let members = ["a", "b", "c"].map(|name| {
            std::fs::create_dir_all(root.join(name)).unwrap();
            // A port that was free a moment ago: loopback is this machine's alone.
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            Member { name: name.into(), volume: name.into(), address: free.to_string(), process: None }
        });
        Self { root, members: members.into() }
    }

    /// An action on a member, as its agent would run it.
    fn action(&self, at: usize, action: &str, primary: usize, term: &str, voters: &str) -> Command {
        let member = &self.members[at];
        let mut command = Command::new(env!("CARGO_BIN_EXE_muster-ledger"));
        command.arg(action).env_clear();
        command.env("MUSTER_VOLUME_ID", &member.volume).env("MUSTER_DATA", self.root.join(&member.name));
        command.env("MUSTER_ADDRESS", &member.address).env("MUSTER_TERM", term);
        command.env("MUSTER_PRIMARIES", &self.members[primary].address).env("MUSTER_VOTER_VOLUMES", voters);
        command
    }

    fn start(&mut self, at: usize, action: &str, primary: usize, term: &str, voters: &str) {
        let mut command = self.action(at, action, primary, term, voters);
        self.members[at].process = Some(command.stdin(Stdio::null()).spawn().unwrap());
        self.until(at, "to answer", |output| output.status.code() != Some(7));
    }

    fn run(&self, at: usize, action: &str, term: &str, voters: &str) -> Output {
        self.action(at, action, at, term, voters).output().unwrap()
    }

    fn kill(&mut self, at: usize) {
        let mut process = self.members[at].process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    fn until(&self, at: usize, what: &str, test: impl Fn(&Output) -> bool) -> Output {
        let began = Instant::now();
        loop {
            let output = self.run(at, "status", "", "");
            if test(&output) {
                return output;
            }
            assert!(began.elapsed() < PATIENCE, "waited for {} {what}: {output:?}", self.members[at].name);
            std::thread::yield_now();
        }
    }

    fn until_synced(&self, at: usize) -> Value {
        said(
            &self.until(at, "to be synced", |output| {
                output.status.success() && said(output)["synced"] == true
            }),
        )
    }

    fn sequence(&self, at: usize) -> Value {
        let output = self.run(at, "sequence", "", "");
        assert!(output.status.success(), "{output:?}");
        said(&output)
    }

    fn client(&self, at: usize) -> Client {
        Client::connect(&self.members[at].address).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.members.iter_mut().filter_map(|member| member.process.as_mut()) {
            drop(process.kill());
            drop(process.wait());
        }
        drop(std::fs::remove_dir_all(&self.root));
    }
}

fn said(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

fn acknowledged(appended: Appended) -> u64 {
    match appended {
        Appended::Acknowledged(sequence) => sequence,
        other => panic!("{other:?}"),
    }
}

const ALL: &str = "a,b,c";

/// Formed as Muster forms: a seed alone, then the others, then they become voters.
fn formed(test: &str) -> Cluster {
    let mut cluster = Cluster::new(test);
    cluster.start(0, "seed", 0, "1.1", "a");
    cluster.start(1, "secondary", 0, "1.1", "a");
    cluster.start(2, "secondary", 0, "1.1", "a");
    cluster.until_synced(1);
    cluster.until_synced(2);
    assert!(cluster.run(0, "join", "1.1", ALL).status.success());
    cluster
}

#[test]
fn nothing_runs_and_nothing_is_there() {
    let cluster = Cluster::new("nothing");
    assert_eq!(cluster.run(0, "status", "", "").status.code(), Some(7));
    assert_eq!(cluster.sequence(0)["empty"], true);
    let refused = cluster.run(0, "primary", "1.1", "a");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("only `seed` begins one"), "{refused:?}");
    assert!(!cluster.run(0, "promote", "1.1", "a").status.success());
}

#[test]
fn what_was_acknowledged_survives_the_primary() {
    let mut cluster = formed("survives");
    let mut client = cluster.client(0);
    for number in 1..=200 {
        assert_eq!(acknowledged(client.append(&format!("entry {number}")).unwrap()), number);
    }
    assert_eq!(cluster.run(0, "status", "", "").status.code(), Some(8));
    cluster.kill(0);
    assert!(client.append("lost").is_err());
    // The most advanced is promoted; the other follows it, and so does the one that was killed.
    let reach = |at: usize| said(&cluster.run(at, "status", "", ""))["sequence"].as_u64().unwrap();
    let (best, other) = if reach(1) >= reach(2) { (1, 2) } else { (2, 1) };
    assert!(reach(best) >= 200);
    assert!(cluster.run(best, "promote", "2.7", ALL).status.success());
    cluster.kill(other);
    cluster.start(other, "secondary", best, "2.7", ALL);
    cluster.until_synced(other);
    cluster.start(0, "secondary", best, "2.7", ALL);
    cluster.until_synced(0);
    assert_eq!(acknowledged(cluster.client(best).append("after").unwrap()), 201);
    let entries = cluster.client(best).read(1, 1000).unwrap();
    assert_eq!(entries.len(), 201);
    assert!((1..=200).all(|number| entries[number - 1] == (number as u64, format!("entry {number}"))));
    assert!(matches!(cluster.client(0).append("x").unwrap(), Appended::Refused(_)));
}

#[test]
fn without_enough_voters_nothing_is_acknowledged_and_it_says_so() {
    let mut cluster = formed("short");
    std::fs::create_dir_all(cluster.root.join("parameters")).unwrap();
    std::fs::write(cluster.root.join("parameters/append_timeout_seconds"), "1").unwrap();
    for at in 0..3 {
        cluster.kill(at);
    }
    let mut command = cluster.action(0, "seed", 0, "2.1", ALL);
    command.env("MUSTER_PARAMETERS", cluster.root.join("parameters"));
    cluster.members[0].process = Some(command.spawn().unwrap());
    let status = cluster.until(0, "to run", |output| output.status.code() == Some(8));
    assert_eq!(said(&status)["message"], "1 of 2 needed voters are here: entries are not acknowledged");
    assert!(matches!(cluster.client(0).append("alone").unwrap(), Appended::Unknown(_)));
    cluster.start(1, "secondary", 0, "2.1", ALL);
    cluster.until_synced(1);
    assert_eq!(acknowledged(cluster.client(0).append("two").unwrap()), 2);
}

#[test]
fn a_new_disk_counts_only_when_the_roster_has_it() {
    let mut cluster = formed("disk");
    std::fs::create_dir_all(cluster.root.join("parameters")).unwrap();
    std::fs::write(cluster.root.join("parameters/append_timeout_seconds"), "1").unwrap();
    acknowledged(cluster.client(0).append("one").unwrap());
    for at in 0..3 {
        cluster.kill(at);
    }
    let mut command = cluster.action(0, "seed", 0, "2.1", ALL);
    command.env("MUSTER_PARAMETERS", cluster.root.join("parameters"));
    cluster.members[0].process = Some(command.spawn().unwrap());
    cluster.until(0, "to run", |output| output.status.code() == Some(8));
    // The same member on another disk has all there is, and is not whom anyone would ask.
    std::fs::remove_file(cluster.root.join("b/log")).unwrap();
    cluster.members[1].volume = "b-new".into();
    cluster.start(1, "secondary", 0, "2.1", ALL);
    cluster.until_synced(1);
    let status = said(&cluster.run(0, "status", "", ""));
    assert_eq!(status["message"], "1 of 2 needed voters are here: entries are not acknowledged");
    assert!(matches!(cluster.client(0).append("two").unwrap(), Appended::Unknown(_)));
    assert!(cluster.run(0, "join", "2.1", "a,b-new,c").status.success());
    assert_eq!(acknowledged(cluster.client(0).append("three").unwrap()), 3);
}

#[test]
fn who_is_of_another_past_or_term_is_not_fed() {
    let mut cluster = formed("past");
    acknowledged(cluster.client(0).append("one").unwrap());
    cluster.kill(0);
    // The old primary wrote on its own, and so did the new one.
    assert!(cluster.run(1, "promote", "2.1", "b").status.success());
    acknowledged(cluster.client(1).append("new").unwrap());
    cluster.start(0, "seed", 0, "1.9", "a");
    acknowledged(cluster.client(0).append("old").unwrap());
    cluster.kill(0);
    let before = cluster.sequence(0);
    let other_past =
        |output: &Output| said(output)["message"].as_str().is_some_and(|said| said.contains("copy anew"));
    cluster.start(0, "secondary", 1, "2.1", "b");
    cluster.until(0, "to be refused", other_past);
    cluster.kill(0);
    assert_eq!(cluster.sequence(0), before, "what it holds is untouched");
    let other_term =
        |output: &Output| said(output)["message"].as_str().is_some_and(|said| said.contains("term 2.1"));
    cluster.until(2, "to be refused", |output| said(output)["synced"] == false);
    cluster.kill(2);
    cluster.start(2, "secondary", 1, "1.1", "b");
    cluster.until(2, "to be refused", other_term);
}

#[test]
fn everyone_is_killed_again_and_again_and_no_acknowledged_entry_is_lost() {
    let mut cluster = formed("rounds");
    let mut acknowledged = Vec::new();
    let mut primary = 0;
    for round in 2..8 {
        let mut client = cluster.client(primary);
        for number in 0..50 {
            if let Ok(Appended::Acknowledged(sequence)) = client.append(&format!("{round}-{number}")) {
                acknowledged.push((sequence, format!("{round}-{number}")));
            }
        }
        // One that is left behind a little each time.
        let first = (primary + 1) % 3;
        cluster.kill(first);
        if let Ok(Appended::Acknowledged(sequence)) = client.append(&format!("{round}-late")) {
            acknowledged.push((sequence, format!("{round}-late")));
        }
        cluster.kill(primary);
        cluster.kill((primary + 2) % 3);
        let reach = |at: usize| cluster.sequence(at)["sequence"].as_u64().unwrap();
        primary = (0..3).max_by_key(|at| reach(*at)).unwrap();
        let term = format!("{round}.1");
        cluster.start(primary, "seed", primary, &term, ALL);
        for at in (0..3).filter(|at| *at != primary) {
            cluster.start(at, "secondary", primary, &term, ALL);
            cluster.until_synced(at);
        }
    }
    assert!(acknowledged.len() >= 300, "{}", acknowledged.len());
    for at in 0..3 {
        let entries = cluster.client(at).read(1, 10_000).unwrap();
        for entry in &acknowledged {
            assert_eq!(entries.get(usize::try_from(entry.0).unwrap() - 1), Some(entry));
        }
    }
}
