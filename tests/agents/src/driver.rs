//! What takes time in a fleet, done when its time has come.

use std::sync::{Arc, Weak};

use muster_api::names::Role;
use muster_core::manager::report::Instance;
use muster_test_model::{App, replication};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::fleet::Inner;
use crate::pace::{after, until};
use crate::state::{Due, Key, Kind, State};

/// How many writes a follower fetches at a time.
const AT_A_TIME: usize = 16;

/// Does what is due, until the fleet is gone.
pub(crate) async fn drive(fleet: Weak<Inner>, woken: Arc<Notify>) {
    loop {
        let next = {
            let Some(inner) = fleet.upgrade() else { return };
            let mut state = inner.state();
            state.do_what_is_due();
            inner.settle(state);
            let state = inner.state();
            state.due.keys().next().map(|(at, _)| *at)
        };
        match next {
            Some(at) => tokio::select! {
                biased;
                () = woken.notified() => {}
                () = until(at) => {}
            },
            None => woken.notified().await,
        }
    }
}

impl State {
    fn do_what_is_due(&mut self) {
        let now = Instant::now();
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Due::Looked(key, run) if self.is_current(&key, run) => self.has_looked(&key),
                Due::Serve(key, run) if self.is_current(&key, run) => self.begin_serving(&key),
                Due::Copy(key, run) if self.is_current(&key, run) => self.copy(&key),
                Due::Write(cluster, period) => {
                    self.write(&cluster);
                    self.schedule(now + period, Due::Write(cluster, period));
                }
                Due::Looked(..) | Due::Serve(..) | Due::Copy(..) => {}
            }
        }
    }

    fn is_current(&mut self, key: &Key, run: Instance) -> bool {
        self.run(key) == Some(run)
    }

    fn has_looked(&mut self, key: &Key) {
        if let Some(agent) = self.node(key).and_then(|node| node.agent.as_mut()) {
            agent.looking = false;
        }
    }

    fn begin_serving(&mut self, key: &Key) {
        if let Some(extra) = self.members.get_mut(key) {
            extra.serve_due = false;
        }
        let Some(cluster) = self.cluster_of(key) else { return };
        let left = cluster.nodes.get(&key.1).is_some_and(|node| node.volume.left);
        let began = replication::begin_serving(&mut cluster.nodes, &key.1).is_some();
        if began {
            self.check_serving(key, left);
        }
    }

    fn copy(&mut self, key: &Key) {
        let Some(extra) = self.members.get_mut(key) else { return };
        extra.copy_due = false;
        if extra.stalled || !self.is_behind(key) {
            return;
        }
        let Some(cluster) = self.cluster_of(key) else { return };
        if cluster.kind == Kind::SelfElecting {
            replication::roll_back(&mut cluster.nodes, &key.1);
        }
        match replication::replicate(&mut cluster.nodes, &key.1, AT_A_TIME) {
            Ok(Some(primary)) => self.acknowledge(&(key.0.clone(), primary)),
            Ok(None) => {}
            Err(error) => self.violations.push(error.to_string()),
        }
    }

    /// A client writes to whoever serves in this cluster.
    pub(crate) fn write(&mut self, cluster: &Key) -> Option<u64> {
        let write = self.next_write();
        self.touched.insert(cluster.clone());
        let nodes = &mut self.clusters.get_mut(cluster)?.nodes;
        let primary = nodes
            .values()
            .find(|node| node.app().is_some_and(|app| app.serving))
            .map(|node| node.name.clone())?;
        replication::write(nodes, &primary, write);
        self.acknowledge(&(cluster.0.clone(), primary));
        Some(write)
    }

    fn acknowledge(&mut self, primary: &Key) {
        let Some(cluster) = self.cluster_of(primary) else { return };
        let answered = replication::acknowledged(&cluster.nodes, &primary.1, cluster.copies);
        cluster.acknowledged.extend(answered);
    }

    /// After any change: what follows from it is scheduled, and whoever listens hears of it.
    pub(crate) fn settle(&mut self) {
        while let Some(cluster) = self.touched.pop_first() {
            self.hold_elections(&cluster);
            self.check_primaries(&cluster);
            let members = self.clusters.get(&cluster).map(|it| it.nodes.keys().cloned().collect());
            let members: Vec<String> = members.unwrap_or_default();
            for member in members {
                let key = (cluster.0.clone(), member);
                self.plan(&key);
                self.notice(&key);
            }
        }
    }

    fn plan(&mut self, key: &Key) {
        let Some(run) = self.run(key) else { return };
        let behind = self.is_behind(key);
        let starts = |app: &App| app.role == Role::Primary && !app.serving && !app.copying;
        let starting = self.peek(key).and_then(|node| node.app()).is_some_and(starts);
        let Some(extra) = self.members.get_mut(key) else { return };
        let copy = behind && !extra.copy_due && !extra.stalled;
        let serve = starting && !extra.serve_due;
        extra.copy_due |= copy;
        extra.serve_due |= serve;
        if copy {
            let at = after(self.pace.copying, &mut self.chance);
            self.schedule(at, Due::Copy(key.clone(), run));
        }
        if serve {
            let at = after(self.pace.starting, &mut self.chance);
            self.schedule(at, Due::Serve(key.clone(), run));
        }
    }

    /// Whether this member follows someone who has more than it has, or does not know yet that it has not.
    fn is_behind(&self, key: &Key) -> bool {
        let Some(cluster) = self.home(key) else { return false };
        let Some(node) = cluster.nodes.get(&key.1) else { return false };
        let Some(app) = node.app().filter(|app| !app.serving) else { return false };
        let source = cluster.nodes.values().find(|other| {
            other.name != node.name && other.app().is_some_and(|it| it.serving && it.term == app.term)
        });
        let heard = |name: &String| !self.is_cut_off(&(key.0.clone(), name.clone()));
        source.filter(|source| heard(&source.name) && heard(&node.name)).is_some_and(|source| {
            let told = source.app().and_then(|it| it.confirmed.get(&node.volume.uuid)).copied();
            !app.synced || app.copying || told != Some(source.volume.sequence())
        })
    }

    /// Lets streams know when there is something to say. How far the data is moves all the time, and is not.
    fn notice(&mut self, key: &Key) {
        let Some(node) = self.peek(key) else { return };
        // The serial counts what was said, not what was looked at.
        let mut reached = 0;
        let report = node.clone().report(0).map(|mut report| {
            if let muster_core::manager::report::Data::Held(held) = &mut report.data {
                reached = std::mem::take(&mut held.sequence);
            }
            report.serial = 0;
            report
        });
        let ready = node.is_ready();
        let Some(extra) = self.members.get_mut(key) else { return };
        let run = report.as_ref().map(|report| report.instance);
        if extra.lived != (run, ready) {
            extra.lived = (run, ready);
            self.lives.insert(key.clone());
        }
        if std::mem::replace(&mut extra.reached, reached) != reached {
            extra.drift.send_modify(|drift| *drift += 1);
        }
        if extra.said != report {
            extra.said = report;
            self.news = true;
            extra.news.send_modify(|news| *news += 1);
        }
    }
}
