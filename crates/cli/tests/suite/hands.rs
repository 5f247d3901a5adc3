//! What a person does to a cluster: by annotation, by command, and by hand on the machine.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::Cluster;
use super::cluster::is;
use super::processes::send;

impl Cluster {
    /// Sets an annotation of ours; null removes it.
    pub(crate) fn annotate(&self, name: &str, value: &Value) {
        self.patch(&json!({"metadata": {"annotations": {format!("muster.dev/{name}"): value}}}));
    }

    /// Stops clustering, and waits until nobody looks any more.
    pub(crate) fn stop_clustering(&self) {
        self.annotate("clustering-stopped", &json!("true"));
        self.until("clustering is stopped", |it| is(it, "ClusteringActive", "False"));
    }

    pub(crate) fn start_clustering(&self) {
        self.annotate("clustering-stopped", &Value::Null);
    }

    /// Wants nobody, and waits until nothing is left of these members but their volumes.
    pub(crate) fn park(&self, members: &[String]) {
        self.scale(0);
        self.until("it is parked", |it| {
            let parked = is(it, "Ready", "True") && is(it, "Available", "False");
            parked && members.iter().all(|member| self.pod(member).is_none())
        });
    }

    /// Runs this command if status offers it. It may be refused, as what was seen may be over by now, and an operator that is killed
    /// takes it along: whoever needs it asks again.
    pub(crate) fn obey_if_offered(&self, object: &Value, command: &[String]) {
        if !offered(object).iter().any(|offer| offer == command) {
            return;
        }
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--yes", "--timeout=20s"]).collect();
        println!("{words:?}: {:?}", self.world().try_kubectl(&words));
    }

    /// Where the data of a member is on this machine.
    pub(crate) fn data(&self, member: &str) -> PathBuf {
        self.volume(member).join("data")
    }

    /// Empties the volume of a member, as if its disk had been exchanged. If it runs it stands still meanwhile, and dies before it
    /// can look.
    pub(crate) fn wipe(&self, member: &str) {
        let volume = self.volume(member);
        let running: Vec<_> = [self.application(member), self.agent(member)].into_iter().flatten().collect();
        for pid in &running {
            send(*pid, Signal::STOP);
        }
        for entry in fs::read_dir(volume).unwrap().flatten() {
            if entry.file_name() == "data" {
                // It is mounted where the server runs, so it stays.
                fs::read_dir(entry.path()).unwrap().flatten().for_each(|entry| remove(&entry.path()));
            } else {
                remove(&entry.path());
            }
        }
        for pid in running {
            send(pid, Signal::KILL);
        }
    }
}

/// The commands that a blocked recovery offers, as words for kubectl, without what is said of their cost.
pub(crate) fn offered(object: &Value) -> Vec<Vec<String>> {
    let text = object["status"]["recovery"]["unblock"].as_str().unwrap_or_default();
    let words = |line: &str| {
        let command = line.split('#').next()?.trim().strip_prefix("kubectl ")?;
        Some(command.split_whitespace().map(str::to_owned).collect())
    };
    text.lines().filter_map(words).collect()
}

/// A command of our plugin, as status offers it.
pub(crate) fn command(words: &[&str]) -> Vec<String> {
    ["muster"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}
