//! What happens to machines: agents start, crash and lose their power; disks are exchanged; networks fail.

use muster_core::manager::report::Instance;
use muster_test_model::{Agent, Node, Volume};
use rand::Rng;

use crate::fleet::{Fleet, key};
use crate::pace::after;
use crate::state::{Due, Key, State};

impl Fleet {
    /// The agent of a member starts, in this Pod. One that runs already goes on.
    pub fn start(&self, namespace: &str, cluster: &str, member: &str, pod_uid: Option<&str>) {
        self.0.change(|state| {
            let key = state.ensure_member(namespace, cluster, member);
            if let Some(extra) = state.extra(&key) {
                extra.dark = false;
                extra.pod_uid = pod_uid.map(str::to_owned);
            }
            if state.run(&key).is_none() {
                state.begin_run(&key);
            }
        });
    }

    /// The agent ends, and its application with it; streams end.
    pub fn stop(&self, namespace: &str, member: &str) {
        self.0.change(|state| state.end_run(&key(namespace, member)));
    }

    /// The agent ends and starts again, as a container does; its application dies with it.
    pub fn restart(&self, namespace: &str, member: &str) {
        self.0.change(|state| state.restart(&key(namespace, member)));
    }

    /// The application ends by itself; the agent notices.
    pub fn crash_application(&self, namespace: &str, member: &str) {
        self.0.change(|state| {
            if let Some(agent) = state.node(&key(namespace, member)).and_then(|node| node.agent.as_mut()) {
                agent.app = None;
            }
        });
    }

    /// The machine loses its power: streams go silent, connections get no answer.
    pub fn power_off(&self, namespace: &str, member: &str) {
        self.0.change(|state| state.power_off(&key(namespace, member)));
    }

    /// The machine has power again, and its agent starts.
    pub fn power_on(&self, namespace: &str, member: &str) {
        self.0.change(|state| {
            let key = key(namespace, member);
            if let Some(extra) = state.extra(&key) {
                extra.dark = false;
            }
            if state.run(&key).is_none() {
                state.begin_run(&key);
            }
        });
    }

    /// The disk is exchanged for an empty one; what ran on it has ended.
    pub fn wipe(&self, namespace: &str, member: &str) {
        self.0.change(|state| {
            let key = key(namespace, member);
            state.end_run(&key);
            let uuid = state.name();
            if let Some(node) = state.node(&key) {
                node.volume = Volume::new(uuid);
            }
        });
    }

    /// No message comes through to this member or from it, from anyone.
    pub fn isolate(&self, namespace: &str, member: &str, isolated: bool) {
        self.0.change(|state| {
            if let Some(extra) = state.extra(&key(namespace, member)) {
                extra.isolated = isolated;
                extra.news.send_modify(|news| *news += 1);
            }
            state.news = true;
        });
    }

    /// Copies to this member stand still.
    pub fn stall_copies(&self, namespace: &str, member: &str, stalled: bool) {
        self.0.change(|state| {
            if let Some(extra) = state.extra(&key(namespace, member)) {
                extra.stalled = stalled;
            }
        });
    }

    /// The streams of this member break; new ones can be opened at once.
    pub fn cut_streams(&self, namespace: &str, member: &str) {
        self.0.change(|state| {
            if let Some(extra) = state.extra(&key(namespace, member)) {
                extra.cuts += 1;
                extra.news.send_modify(|news| *news += 1);
            }
        });
    }

    /// What the volume holds cannot be told any more, or again.
    pub fn make_unreadable(&self, namespace: &str, member: &str, unreadable: bool) {
        self.with(namespace, member, |node| node.volume.unreadable = unreadable);
    }

    /// A person makes the running application primary by hand.
    pub fn promote_by_hand(&self, namespace: &str, member: &str) {
        self.with(namespace, member, Node::promote_by_hand);
    }

    /// The address at which a member's Pod is found, beside its names.
    pub fn set_address(&self, namespace: &str, member: &str, ip: Option<&str>) {
        self.0.change(|state| state.move_to(&key(namespace, member), ip.map(str::to_owned)));
    }

    /// Whether a member's application does what its role asks: what a readiness probe finds.
    pub fn is_ready(&self, namespace: &str, member: &str) -> bool {
        self.0.state().peek(&key(namespace, member)).is_some_and(Node::is_ready)
    }

    /// The run of a member's agent, while there is one.
    pub fn run(&self, namespace: &str, member: &str) -> Option<Instance> {
        self.0.state().run(&key(namespace, member))
    }

    /// Whether its machine is off.
    pub fn is_dark(&self, namespace: &str, member: &str) -> bool {
        self.0.state().members.get(&key(namespace, member)).is_some_and(|extra| extra.dark)
    }

    /// Whether no message reaches it.
    pub fn is_isolated(&self, namespace: &str, member: &str) -> bool {
        self.0.state().is_cut_off(&key(namespace, member))
    }

    /// The Pod in which its agent was started last.
    pub fn pod_of(&self, namespace: &str, member: &str) -> Option<String> {
        self.0.state().members.get(&key(namespace, member))?.pod_uid.clone()
    }
}

impl State {
    pub(crate) fn begin_run(&mut self, key: &Key) {
        let (high, low) = (self.chance.random::<u64>() << 32, self.fresh());
        let instance = Instance(high | low);
        let now = self.now();
        let Some(node) = self.node(key) else { return };
        node.agent = Some(Agent { looking: true, ..Agent::new(instance) });
        if let Some(extra) = self.members.get_mut(key) {
            (extra.copy_due, extra.serve_due) = (false, false);
            extra.started = now;
        }
        let at = after(self.pace.looking, &mut self.chance);
        self.schedule(at, Due::Looked(key.clone(), instance));
    }

    pub(crate) fn end_run(&mut self, key: &Key) {
        if let Some(node) = self.node(key) {
            node.agent = None;
        }
    }

    pub(crate) fn restart(&mut self, key: &Key) {
        if self.run(key).is_some() {
            self.end_run(key);
            self.begin_run(key);
        }
    }

    pub(crate) fn power_off(&mut self, key: &Key) {
        let run = self.run(key);
        self.end_run(key);
        if let Some(extra) = self.members.get_mut(key) {
            extra.dark = true;
            extra.dark_runs.extend(run);
        }
    }
}
