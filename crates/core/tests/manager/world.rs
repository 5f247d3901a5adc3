//! A simulated cluster: nodes, leaders, and messages that are late, lost or repeated.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use muster_core::manager::command::{Answer, Command};
use muster_core::manager::report::{Instance, Report};
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::Stamp;
use muster_core::manager::wanted::{Engine, Mark, Marks, Wanted, WantedMember};

use super::leader::Leader;
use muster_test_model::{Agent, Node, Volume, replication};

/// What is under way.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Command { leader: usize, command: Command },
    Answer { leader: usize, member: String, answer: Answer },
    Refusal { leader: usize, member: String, stamp: Stamp },
    Report { leader: usize, member: String, report: Box<Report>, connection: u64 },
}

pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) leaders: Vec<Leader>,
    pub(crate) messages: Vec<Message>,
    pub(crate) wanted: Wanted,
    pub(crate) marks: BTreeMap<String, Option<Mark>>,
    /// Writes whose clients have their answer.
    pub(crate) acknowledged: BTreeSet<u64>,
    /// A person, or `allowLoss`, said to go on without what could not be read.
    pub(crate) loss_accepted: bool,
    /// How often a machine went off: what tells one end of a container from another.
    pub(crate) power_offs: u64,
    names_given: u64,
    writes: u64,
    instances: u64,
}

impl World {
    /// `members` configured nodes, powered on, nothing on their volumes, and one leader.
    pub(crate) fn new(members: usize, copies: Copies) -> Self {
        let engine = Engine {
            copies,
            elects: false,
            promotes: true,
            demotes: true,
            bootstraps: false,
            adds_devices: false,
            stall_timeout: SignedDuration::from_mins(30),
        };
        let wanted = Wanted {
            cluster: "orders".into(),
            members: BTreeMap::new(),
            parked: false,
            primaries: 1,
            engine,
            allow_loss: false,
            restore: None,
            formed: Marks::default(),
        };
        let mut world = Self {
            now: Timestamp::UNIX_EPOCH,
            nodes: BTreeMap::new(),
            leaders: Vec::new(),
            messages: Vec::new(),
            wanted,
            marks: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            loss_accepted: false,
            power_offs: 0,
            names_given: 0,
            writes: 0,
            instances: 0,
        };
        for _ in 0..members {
            world.configure_next();
        }
        world.elect_leader();
        world
    }

    pub(crate) fn new_name(&mut self) -> String {
        self.names_given += 1;
        format!("id{}", self.names_given)
    }

    // --- What administrators do.

    /// Configures one more member, the lowest free ordinal, on a new volume.
    pub(crate) fn configure_next(&mut self) -> String {
        let ordinal =
            (0..26).find(|n| !self.wanted.members.contains_key(&member_name(*n))).unwrap_or_default();
        let name = member_name(ordinal);
        let uuid = self.new_name();
        self.wanted.members.insert(
            name.clone(),
            WantedMember { ordinal: Some(ordinal), pool: "p".into(), ..WantedMember::default() },
        );
        self.marks.entry(name.clone()).or_insert(None);
        let kept = self.nodes.remove(&name).map(|node| node.volume);
        let volume = kept.unwrap_or_else(|| Volume::new(uuid));
        self.nodes.insert(name.clone(), Node::new(name.clone(), volume));
        self.power_on(&name);
        name
    }

    /// Marks a configured member as leaving.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(member) = self.wanted.members.get_mut(name) {
            member.leaving = true;
        }
    }

    /// Its Pod goes, its volume is kept.
    pub(crate) fn release(&mut self, name: &str) {
        self.wanted.members.remove(name);
        self.power_off(name);
    }

    /// Its Pod is deleted, and a new one takes its place.
    pub(crate) fn replace(&mut self, name: &str) {
        let runs = self.nodes.get(name).is_some_and(|node| node.app().is_some());
        assert!(!runs, "{name} was to be replaced while its application ran");
        self.power_off(name);
        self.power_on(name);
        if let Some(member) = self.wanted.members.get_mut(name) {
            member.outdated = false;
        }
    }

    pub(crate) fn refresh_marks(&mut self) {
        let found = self.marks.values().flatten().cloned().collect();
        let some_unmarked = self.marks.values().any(Option::is_none);
        self.wanted.formed = Marks { found, some_unmarked };
    }

    // --- What happens to machines.

    pub(crate) fn power_on(&mut self, name: &str) {
        self.instances += 1;
        let instance = Instance(self.instances);
        if let Some(node) = self.nodes.get_mut(name)
            && node.agent.is_none()
        {
            node.agent = Some(Agent::new(instance));
        }
    }

    pub(crate) fn power_off(&mut self, name: &str) {
        self.power_offs += 1;
        if let Some(node) = self.nodes.get_mut(name) {
            node.agent = None;
        }
        for leader in &mut self.leaders {
            leader.lose(name);
        }
    }

    pub(crate) fn kill_application(&mut self, name: &str) {
        if let Some(agent) = self.nodes.get_mut(name).and_then(|node| node.agent.as_mut()) {
            agent.app = None;
        }
    }

    /// Software that is being started beside a primary, which is there, throws away what it has, to copy everything.
    pub(crate) fn throw_away(&mut self, name: &str) {
        let term = self.nodes.get(name).and_then(Node::app).and_then(|app| app.term);
        let source = |node: &Node| node.app().is_some_and(|app| app.serving && app.term == term);
        let has_source = self.nodes.values().any(source);
        if let Some(node) = self.nodes.get_mut(name).filter(|_| has_source) {
            node.throw_away();
        }
    }

    /// Whoever is being started beside a primary, and may need to copy everything.
    pub(crate) fn covered(&self) -> Option<String> {
        let covered = |node: &&Node| node.volume.covered && node.app().is_some() && !node.volume.torn;
        self.nodes.values().find(covered).map(|node| node.name.clone())
    }

    /// The disk is exchanged for an empty one.
    pub(crate) fn wipe(&mut self, name: &str) {
        let uuid = self.new_name();
        self.power_off(name);
        if let Some(node) = self.nodes.get_mut(name) {
            node.volume = Volume::new(uuid);
        }
    }

    // --- What applications do.

    /// A client writes to this member, if it serves.
    pub(crate) fn write(&mut self, name: &str) -> Option<u64> {
        let write = self.writes + 1;
        if !replication::write(&mut self.nodes, name, write) {
            return None;
        }
        self.writes = write;
        self.acknowledge(name);
        Some(write)
    }

    /// A starting primary begins to serve.
    pub(crate) fn begin_serving(&mut self, name: &str) {
        let left = self.nodes.get(name).is_some_and(|node| node.volume.left);
        let Some(node) = replication::begin_serving(&mut self.nodes, name) else { return };
        let log = node.volume.log.clone();
        assert!(!left || self.loss_accepted, "{name} leads from a volume that left");
        self.check_nothing_lost(name, &log);
    }

    /// A secondary fetches up to `most` writes from the primary it was started for.
    pub(crate) fn replicate(&mut self, name: &str, most: usize) {
        match replication::replicate(&mut self.nodes, name, most) {
            Ok(Some(primary)) => self.acknowledge(&primary),
            Ok(None) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// The primary answers every client whose write has enough copies, by the roster it uses.
    fn acknowledge(&mut self, name: &str) {
        let answered = replication::acknowledged(&self.nodes, name, self.wanted.engine.copies);
        self.acknowledged.extend(answered);
    }

    // --- What people find out.

    pub(crate) fn serving(&self) -> Option<&str> {
        self.nodes
            .values()
            .find(|node| node.app().is_some_and(|app| app.serving))
            .map(|node| node.name.as_str())
    }
}

pub(crate) fn member_name(ordinal: u32) -> String {
    char::from_digit(10 + ordinal, 36).unwrap_or('z').to_string()
}
