//! What ledgers say of themselves and have on their disks, and what their agents remember: it is never older than the question.

use std::fs;

use muster_agent::memory::{Memory, file};
use muster_ledger::control::{self, Request, Response};
use muster_ledger::log::Log;
use muster_ledger::node::Role;

use super::software::Software;
use super::{Cluster, Entry};

impl Cluster {
    /// Whether a member says that it leads; one that does not run, or stands still, says nothing.
    pub(crate) fn leads(&self, member: &str) -> bool {
        if self.software == Software::Galera {
            return self.takes_writes(member);
        }
        let said = control::ask(&self.data(member), &Request::Status);
        matches!(said, Ok(Some(Response::Status(status))) if status.role == Role::Primary)
    }

    /// Waits until one of these leads, and says who.
    pub(crate) fn until_one_leads(&self, members: &[String]) -> String {
        self.until_found("a member says that it leads", || {
            members.iter().find(|member| self.leads(member)).cloned()
        })
    }

    /// Makes a running secondary primary, as a person does who is tired of waiting: nobody else knows of it.
    pub(crate) fn promote_by_hand(&self, member: &str, voters: &[String]) {
        let copies = voters.len() / 2 + 1;
        let voters = voters.iter().map(|voter| self.memory(voter).volume).collect();
        let request = Request::Promote { term: "by-hand".into(), voters, copies };
        let answer = control::ask(&self.data(member), &request).unwrap();
        assert!(matches!(answer, Some(Response::Done)), "{member}: {answer:?}");
    }

    /// All entries on the disk of a member, whether it runs or not; none where no log can be read.
    pub(crate) fn on_disk(&self, member: &str) -> Option<Vec<Entry>> {
        let log = Log::look(&self.data(member)).ok()??;
        let mut entries = Vec::new();
        while let Some(frame) = log.after(entries.last().map_or(0, |(at, _)| *at)).ok()? {
            let text = frame.entries().map(|entry| String::from_utf8_lossy(entry).into_owned());
            entries.extend((frame.first..).zip(text));
        }
        Some(entries)
    }

    /// What the agent of a member remembers, whether it runs or not.
    pub(crate) fn memory(&self, member: &str) -> Memory {
        let path = self.volume(member).join(".muster/state");
        let read = || file::read(&fs::read(&path).unwrap());
        // What is replaced twice while it is read is read as torn.
        read().or_else(|_| read()).unwrap()
    }
}
