//! `kill -9` in the middle of a write storm, again and again over one directory: every acknowledged write is there,
//! and no revision is given twice.
//!
//! The storm is this test program itself, started with a word in its environment that names the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use muster_apiserver::store::{Expect, Revision, Store};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::{TestDirectory, key};

const STORM_DIRECTORY: &str = "MUSTER_TEST_STORM_DIRECTORY";
const WRITERS: usize = 8;
/// How many names each writer has.
const NAMES: u64 = 4;

/// What was acknowledged last of a name: the revision, and what was written; none when it was removed.
type Acknowledged = BTreeMap<String, (Revision, Option<String>)>;

/// What a storm has said.
#[derive(Default)]
struct Said {
    acknowledged: Acknowledged,
    /// The names that it began to remove, and did not say what came of it.
    removing: BTreeSet<String>,
    highest: Revision,
    count: u64,
}

#[test]
fn storm() {
    let Ok(directory) = std::env::var(STORM_DIRECTORY) else { return };
    let store = Store::open(Path::new(&directory)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| tokio::spawn(write_until_killed(store.clone(), writer))).collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write_until_killed(store: Store, writer: usize) {
    let mut rng = StdRng::from_os_rng();
    loop {
        let name = format!("w{writer}-{}", rng.random_range(0..NAMES));
        let mark = format!("{:016x}", rng.random::<u64>());
        let content = format!("{mark}{}", "x".repeat(rng.random_range(0..1500)));
        let object = json!({"metadata": {"name": name}, "content": content});
        let (stored, mark) = match store.get(&key(&name)) {
            Some(found) if rng.random_ratio(1, 5) => {
                say(&format!("removing {name}\n"));
                (store.remove(&key(&name), object, found.revision).await, "gone")
            }
            Some(found) => (store.put(key(&name), object, Expect::At(found.revision)).await, &*mark),
            None => (store.put(key(&name), object, Expect::Absent).await, &*mark),
        };
        say(&format!("ack {name} {} {mark}\n", stored.unwrap().revision));
    }
}

/// Whole lines, so that they do not mix, and past what the test harness would catch.
fn say(line: &str) {
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

impl Said {
    fn hear(&mut self, line: &str) {
        // The last line may be cut off by the kill; it ends without a newline then.
        let Some(line) = line.strip_suffix('\n') else { return };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["removing", name] => drop(self.removing.insert(name.to_owned())),
            ["ack", name, revision, mark] => {
                let revision: Revision = revision.parse().unwrap();
                let mark = (mark != "gone").then(|| mark.to_owned());
                let before = self.acknowledged.insert(name.to_owned(), (revision, mark));
                assert!(before.is_none_or(|(before, _)| before < revision), "no revision goes back");
                self.removing.remove(name);
                self.highest = self.highest.max(revision);
                self.count += 1;
            }
            _ => {}
        }
    }

    fn check(&self, store: &Store) {
        assert!(store.revision() >= self.highest, "{} after {}", store.revision(), self.highest);
        for (name, (revision, mark)) in &self.acknowledged {
            let found = store.get(&key(name));
            match (&found, mark) {
                // Something later happened that could not be said any more.
                (Some(stored), _) if stored.revision > *revision => {}
                (None, Some(_)) if self.removing.contains(name) && store.revision() > *revision => {}
                (Some(stored), Some(mark)) if stored.revision == *revision => {
                    let content = stored.object.value()["content"].as_str().unwrap().to_owned();
                    assert!(content.starts_with(mark), "{name} at {revision}");
                }
                (None, None) => {}
                _ => panic!("{name} was acknowledged at {revision}, and is {found:?}"),
            }
        }
    }
}

/// Runs a storm, kills it after this many more acknowledgements, and hears what it had still said.
fn run_storm(directory: &Path, kill_after: u64, said: &mut Said) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::storm", "--nocapture"])
        .env(STORM_DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut line, kill_at, mut killed) = (String::new(), said.count + kill_after, false);
    while output.read_line(&mut line).unwrap() > 0 {
        said.hear(&line);
        if said.count == kill_at && !killed {
            child.kill().unwrap();
            killed = true;
        }
        line.clear();
    }
    child.wait().unwrap();
    assert!(killed, "the storm ended by itself");
}

fn kill_again_and_again(directory: &TestDirectory, rounds: u64) {
    let mut rng = StdRng::seed_from_u64(9);
    let mut said = Said::default();
    let mut newest = 0;
    for round in 0..rounds {
        run_storm(directory.path(), rng.random_range(1..200), &mut said);
        assert!(said.highest > newest, "round {round}: a revision was given twice");
        let store = Store::open(directory.path()).unwrap();
        said.check(&store);
        newest = store.revision();
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    kill_again_and_again(&TestDirectory::new(false), 50);
}

/// The same where a sync takes its time, so that most kills hit one.
#[test]
fn what_was_acknowledged_survives_kill_9_on_disk() {
    kill_again_and_again(&TestDirectory::new(true), 10);
}
