//! What a manager tells the controllers: what it knows, what it decided, and what it leaves to them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use muster_core::manager::decide::Decision;
use muster_core::manager::observed::Observed;
use muster_core::manager::report::{Data, Report};
use muster_core::manager::wanted::Wanted;
use muster_core::pause::Manager;
use muster_core::status::{self, Picture};
use muster_protocol::{Line, Measured};

use super::asked::Word;

/// What a manager tells.
#[derive(Clone, Debug)]
pub struct View {
    /// What it does.
    pub manager: Manager,
    /// What it sees; none while it has not decided anything yet.
    pub sight: Option<Sight>,
    /// Whom it has not heard yet, while it starts.
    pub unheard: Vec<String>,
    /// The members to whom clients that write are sent.
    pub reached: BTreeSet<String>,
    /// What agents measured, by member.
    pub heard: BTreeMap<String, Heard>,
    /// The members whose Pod may go, by the Member's name.
    pub released: BTreeSet<String>,
    /// Every application is stopped, and the workloads may go to 0.
    pub parked: bool,
    /// Why the `leave` of a member failed.
    pub leave_failed: BTreeMap<String, String>,
    /// What became of the last request.
    pub last_request: Option<Word>,
}

/// What a manager knew when it last decided.
#[derive(Clone, Debug)]
pub struct Sight {
    /// What it knows.
    pub observed: Observed,
    /// What it was asked to keep.
    pub wanted: Wanted,
    /// What it decided.
    pub decision: Decision,
    /// When that was.
    pub now: Timestamp,
}

/// What an agent said besides its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The Pod it runs in.
    pub pod_uid: Option<String>,
    /// What it measured.
    pub measured: Measured,
    /// When it said so.
    pub at: Timestamp,
}

impl Sight {
    fn view(&self) -> status::View<'_> {
        status::View {
            observed: &self.observed,
            wanted: &self.wanted,
            decision: &self.decision,
            now: self.now,
        }
    }

    /// The members of whom something else is to be said than before. What one does is judged by the others, too: whether there is a
    /// primary that it follows, and whose term is the newest.
    pub(super) fn judges_anew(&self, before: &Self) -> Vec<String> {
        let (now, before) = (Picture::new(self.view()), Picture::new(before.view()));
        let led_otherwise = now.has_primary() != before.has_primary();
        let differs = |name: &&str| led_otherwise || now.part(name) != before.part(name);
        now.everyone().into_iter().filter(differs).map(str::to_owned).collect()
    }
}

impl View {
    /// Of a manager that has just been started.
    pub fn starting() -> Self {
        Self {
            manager: Manager::Starting,
            sight: None,
            unheard: Vec::new(),
            reached: BTreeSet::new(),
            heard: BTreeMap::new(),
            released: BTreeSet::new(),
            parked: false,
            leave_failed: BTreeMap::new(),
            last_request: None,
        }
    }

    /// Of a manager that has stopped.
    #[must_use]
    pub fn stopped(self, unfinished: Option<String>) -> Self {
        let manager = Manager::Stopped(muster_core::pause::Stopped { unfinished });
        let last_request = self.last_request;
        Self { manager, last_request, ..Self::starting() }
    }

    /// What status is made of.
    pub fn clustering<'a>(&'a self, held: &'a [String]) -> status::Clustering<'a> {
        let view = self.sight.as_ref().map(Sight::view);
        status::Clustering {
            manager: &self.manager,
            view,
            unheard: &self.unheard,
            reached: &self.reached,
            held,
        }
    }
}

/// A line without what moves all the time: when this differs, someone has to look at it.
pub(super) fn essence(line: &Line) -> Line {
    let mut line = line.clone();
    still(&mut line.report);
    if let Some(storage) = &mut line.measured.storage {
        // A hundredth of the capacity is what status shows.
        let step = (storage.capacity / 100).max(1);
        storage.free -= storage.free % step;
    }
    for device in &mut line.measured.devices {
        let step = (device.capacity / 100).max(1);
        device.free -= device.free % step;
    }
    line.measured.lag_seconds = None;
    line
}

fn still(report: &mut Report) {
    report.serial = 0;
    report.round = 0;
    let running = report.running().is_some();
    if let muster_core::manager::report::Application::Running(app) = &mut report.application {
        app.progress = 0;
    }
    if let Data::Held(held) = &mut report.data
        && running
    {
        held.sequence = 0;
        held.position = String::new();
    }
}
