//! What Galera's members say of themselves, and what can be done to them while they run.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::{fs, io};

use k8s_openapi::api::core::v1::Secret;

use super::mariadb::{Account, TABLE};
use super::{Cluster, Entry};

/// Where they listen.
const PORT: u64 = 3306;
/// Galera's own means to cut a member's connections to all others.
pub(crate) const CUT: &str = "SET GLOBAL wsrep_provider_options='gmcast.isolate=1'";
/// And to let it have them again.
const CONNECTED: &str = "SET GLOBAL wsrep_provider_options='gmcast.isolate=0'";

impl Cluster {
    fn password(&self) -> String {
        let name = format!("{}-accounts", self.name);
        let secret = self.run(self.api::<Secret>().get(&name)).unwrap();
        String::from_utf8(secret.data.unwrap()["admin"].0.clone()).unwrap()
    }

    /// Where clients are sent.
    pub(crate) fn clients_account(&self) -> Account {
        let address = self.address();
        let (host, port) = address.rsplit_once(':').unwrap();
        Account { host: host.to_owned(), port: port.parse().unwrap(), password: self.password() }
    }

    /// This very member, whoever clients are sent to.
    pub(crate) fn account_at(&self, member: &str) -> io::Result<Account> {
        let host = self.pod(member).and_then(|pod| pod.status?.pod_ip);
        let host = host.ok_or_else(|| io::Error::other(format!("{member} has no address")))?;
        Ok(Account { host, port: PORT, password: self.password() })
    }

    /// Makes the table that is written to, where it is not there.
    pub(crate) fn make_table(&self) {
        let make = format!(
            "CREATE DATABASE IF NOT EXISTS trial; CREATE TABLE IF NOT EXISTS {TABLE} (number BIGINT PRIMARY KEY)"
        );
        self.until_answered(|| self.clients_account().ask(&make));
    }

    /// The rows that are there. Whoever is asked has applied first what the others acknowledged before.
    pub(crate) fn rows(&self) -> BTreeSet<Entry> {
        let account = self.clients_account();
        self.until_answered(|| rows(&account)).into_iter().collect()
    }

    /// The rows of this very member.
    pub(crate) fn rows_of(&self, member: &str) -> io::Result<Vec<Entry>> {
        rows(&self.account_at(member)?)
    }

    /// Asks this member until it answers.
    pub(crate) fn tell(&self, member: &str, query: &str) -> String {
        self.until_answered(|| self.account_at(member)?.ask(query))
    }

    fn until_answered<T>(&self, ask: impl Fn() -> io::Result<T>) -> T {
        let last = RefCell::new(String::new());
        self.until_found("it answers", || {
            let answer = ask().map_err(|error| error.to_string());
            // Once each, for whoever sees the test fail.
            if let Some(error) = answer.as_ref().err().filter(|error| **error != *last.borrow()) {
                println!("{}: no answer: {error}", self.name);
                last.replace(error.clone());
            }
            answer.ok()
        })
    }

    /// Whether this member has a quorum and takes writes, by its own word.
    pub(crate) fn takes_writes(&self, member: &str) -> bool {
        let ask = "SET SESSION wsrep_dirty_reads=ON; SELECT @@read_only; \
             SHOW GLOBAL STATUS WHERE variable_name IN ('wsrep_cluster_status', 'wsrep_ready')";
        let said = self.account_at(member).and_then(|account| account.ask(ask)).unwrap_or_default();
        let mut lines = said.lines();
        lines.next() == Some("0")
            && lines.clone().any(|line| line == "wsrep_cluster_status\tPrimary")
            && lines.any(|line| line == "wsrep_ready\tON")
    }

    /// Which cluster this member says that it is in: whether that has a quorum, which change of its members it is, and how many they are.
    /// None where it does not answer.
    pub(crate) fn component_of(&self, member: &str) -> Option<String> {
        let ask = "SET SESSION wsrep_dirty_reads=ON; SHOW GLOBAL STATUS WHERE variable_name IN \
             ('wsrep_cluster_status', 'wsrep_cluster_conf_id', 'wsrep_cluster_size')";
        self.account_at(member).and_then(|account| account.ask(ask)).ok().filter(|said| !said.is_empty())
    }

    /// Where the data of a stopped member ends: its history, its sequence, and both in the words of Galera. None while that is not known,
    /// as before it was read again after a crash.
    pub(crate) fn saved_position(&self, member: &str) -> Option<(String, u64, String)> {
        let state = fs::read_to_string(self.data(member).join("grastate.dat")).ok()?;
        let field = |name: &str| {
            let found = state.lines().find_map(|line| line.strip_prefix(name))?;
            Some(found.trim().to_owned())
        };
        let (history, sequence) = (field("uuid:")?, field("seqno:")?);
        let position = format!("{history}:{sequence}");
        Some((history, sequence.parse().ok()?, position))
    }

    /// Cuts the connections of this member to all others.
    pub(crate) fn isolate(&self, member: &str) {
        self.tell(member, CUT);
    }

    /// Lets this member have its connections again; one that has been stopped meanwhile begins with all of them.
    pub(crate) fn connect_again(&self, member: &str) {
        let ask = || self.account_at(member)?.ask(CONNECTED);
        self.until(&format!("{member} has its connections again"), |_| {
            self.application(member).is_none() || ask().is_ok()
        });
    }
}

fn rows(account: &Account) -> io::Result<Vec<Entry>> {
    let said = account.ask(&format!("SET SESSION wsrep_sync_wait=1; SELECT number FROM {TABLE}"))?;
    let number = |line: &str| line.parse().map_err(io::Error::other);
    said.lines().map(|line| Ok((number(line)?, String::new()))).collect()
}
