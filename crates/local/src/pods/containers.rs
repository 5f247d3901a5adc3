//! The containers of a Pod: which run, which are to be started, and when one that ended is started again.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::logs::Log;
use super::order::OrderError;
use super::probes::{Answer, Asker, Question};
use super::spawner::Process;
use super::state::{ContainerState, Doing, Ended};
use super::{Around, Isolation};
use crate::sandbox::{NOT_STARTED, Order};

/// How long after its end a container is started again, the first time; it doubles with each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// And at most.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// A container that ran for this long is well: its next end is a first one.
const WELL_AFTER: Duration = Duration::from_secs(120);
/// How long a Pod's containers have to end before they are killed, unless it says otherwise: in seconds, as everywhere.
const GRACE: i64 = 30;

/// Which containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// One after another, each to its end.
    Init,
    /// All at once, for ever.
    Main,
}

/// The end of a container: which, and how.
pub(super) type Ending = Pin<Box<dyn Future<Output = (Phase, usize, io::Result<ExitStatus>)> + Send>>;

/// How long the containers of a Pod have to end, once they were told to.
pub(super) fn grace(pod: &Pod) -> Duration {
    let asked = pod.spec.as_ref().and_then(|spec| spec.termination_grace_period_seconds);
    // Whoever deletes it may ask for less.
    seconds(pod.metadata.deletion_grace_period_seconds.or(asked).unwrap_or(GRACE))
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.max(0).unsigned_abs())
}

/// The containers of one phase.
pub(super) struct Containers {
    phase: Phase,
    all: Vec<One>,
}

struct One {
    spec: Container,
    /// How long it has to end.
    grace: Duration,
    state: ContainerState,
    process: Option<Process>,
    /// How it is asked how it is, and who hears the answers.
    asker: Option<(Asker, mpsc::Sender<Answer>)>,
    probes: JoinSet<()>,
    failures: u32,
    again: Option<Instant>,
    /// Why it was ended by this node.
    unwell: Option<String>,
}

impl Containers {
    pub(super) fn new(pod: &Pod, phase: Phase, specs: Vec<Container>) -> Self {
        let one = |spec: Container| One {
            state: ContainerState::recalled(pod, &spec.name),
            grace: grace(pod),
            spec,
            process: None,
            asker: None,
            probes: JoinSet::new(),
            failures: 0,
            again: None,
            unwell: None,
        };
        Self { phase, all: specs.into_iter().map(one).collect() }
    }

    /// Whether all have done their work: of init containers only.
    pub(super) fn done(&self) -> bool {
        self.all.iter().all(|one| matches!(&one.state.doing, Doing::Ended(end) if end.code == 0))
    }

    /// Whether there is nothing to start, now or later.
    pub(super) fn settled(&self) -> bool {
        self.all.iter().all(|one| one.process.is_some())
    }

    pub(super) fn any_runs(&self) -> bool {
        self.all.iter().any(|one| one.process.is_some())
    }

    pub(super) fn spec(&self, index: usize) -> &Container {
        &self.all[index].spec
    }

    pub(super) fn states(&self) -> Vec<ContainerState> {
        self.all.iter().map(|one| one.state.clone()).collect()
    }

    /// Those that are to be started now.
    pub(super) fn due(&self, policy: &str) -> Vec<usize> {
        let is_due = |one: &One| {
            let wanted = match &one.state.doing {
                Doing::Running(_) => false,
                Doing::Waiting(..) => true,
                Doing::Ended(end) if self.phase == Phase::Init || policy == "OnFailure" => end.code != 0,
                Doing::Ended(_) => policy != "Never",
            };
            wanted && one.process.is_none() && one.again.is_none_or(|at| at <= Instant::now())
        };
        let open = self.all.iter().enumerate().filter(|(_, one)| match self.phase {
            Phase::Init => !matches!(&one.state.doing, Doing::Ended(end) if end.code == 0),
            Phase::Main => true,
        });
        let at_once = if self.phase == Phase::Init { 1 } else { usize::MAX };
        open.take(at_once).filter(|(_, one)| is_due(one)).map(|(index, _)| index).collect()
    }

    /// Says why those that wait do so.
    pub(super) fn wait(&mut self, reason: &'static str, message: &str) {
        for one in &mut self.all {
            if let Doing::Waiting(..) = one.state.doing {
                one.state.doing = Doing::Waiting(reason, message.to_owned());
            }
        }
    }

    /// Starts one; what comes back ends when it does.
    pub(super) async fn start(
        &mut self,
        index: usize,
        order: Result<Order, OrderError>,
        directory: &Path,
        around: &Around,
        address: &str,
        answers: mpsc::Sender<Answer>,
    ) -> Option<Ending> {
        let phase = self.phase;
        let one = &mut self.all[index];
        let order = match order {
            Ok(order) => order,
            Err(error) => {
                one.state.doing = Doing::Waiting(error.reason(), error.to_string());
                return None;
            }
        };
        if let Doing::Ended(end) = &one.state.doing {
            one.state.before = Some(end.clone());
            one.state.restarts += 1;
        }
        match launch(&order, directory, one.state.restarts, around).await {
            Ok(mut process) => {
                let (_, ended) = tokio::sync::oneshot::channel();
                let (ended, target) = (std::mem::replace(&mut process.ended, ended), process.target.clone());
                one.begin(index, process, around, address, &answers);
                let end = async move {
                    let how = ended.await.unwrap_or_else(|error| Err(io::Error::other(error)));
                    target.end().await;
                    (phase, index, how)
                };
                Some(Box::pin(end))
            }
            Err(error) => {
                one.state.doing = Doing::Waiting("CannotStart", error.to_string());
                None
            }
        }
    }

    /// Notes the end of one.
    pub(super) fn ended(&mut self, index: usize, how: &io::Result<ExitStatus>) {
        self.all[index].end(how);
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.all
            .iter()
            .filter_map(|one| one.process.as_ref())
            .for_each(|process| process.target.signal(signal));
    }

    /// What a probe's answer means. One of an earlier run means nothing.
    pub(super) fn heard(&mut self, answer: &Answer) {
        let this_run = |one: &&mut One| one.state.restarts == answer.run;
        let Some(one) = self.all.get_mut(answer.container).filter(this_run) else { return };
        if !matches!(one.state.doing, Doing::Running(_)) {
            return;
        }
        match answer.question {
            Question::Started if answer.yes => one.has_started(),
            Question::Ready => one.state.ready = answer.yes,
            Question::Started | Question::Alive if !answer.yes => {
                one.end_unwell(answer.question, &answer.why);
            }
            Question::Started | Question::Alive => {}
        }
    }
}

async fn launch(order: &Order, directory: &Path, run: u32, around: &Around) -> io::Result<Process> {
    tokio::fs::create_dir_all(directory).await?;
    if let Some(view) = &order.view {
        tokio::fs::create_dir_all(&view.scratch).await?;
    }
    let log = Log::open(directory, run, &around.growing)?;
    around.spawner.start(order, &directory.join("order"), log).await
}

impl One {
    fn begin(
        &mut self,
        index: usize,
        process: Process,
        around: &Around,
        address: &str,
        answers: &mpsc::Sender<Answer>,
    ) {
        self.state.doing = Doing::Running(Timestamp::now());
        (self.state.started, self.state.ready) = (false, false);
        let asker = Asker {
            container: index,
            run: self.state.restarts,
            address: address.to_owned(),
            since: Instant::now(),
            exec: match (around.isolation, process.target.program()) {
                (Isolation::Namespaces, Some(program)) => {
                    let target = format!("--target={}", program.number());
                    ["nsenter", &target, "--mount", "--pid", "--root", "--"].map(str::to_owned).into()
                }
                _ => Vec::new(),
            },
        };
        self.asker = Some((asker, answers.clone()));
        self.process = Some(process);
        self.again = None;
        if self.spec.startup_probe.is_some() {
            self.ask(Question::Started);
        } else {
            self.has_started();
        }
    }

    /// It has started: only now it is asked whether it is ready and lives. Before, one that starts slowly would be ended for it.
    fn has_started(&mut self) {
        self.state.started = true;
        self.state.ready = self.spec.readiness_probe.is_none();
        self.ask(Question::Ready);
        self.ask(Question::Alive);
    }

    fn ask(&mut self, question: Question) {
        if let Some((asker, answers)) = self.asker.clone() {
            self.probes.spawn(asker.ask(question, self.spec.clone(), answers));
        }
    }

    /// Ends one that does not live: it is started again.
    fn end_unwell(&mut self, question: Question, why: &str) {
        self.unwell = Some(why.to_owned());
        let grace = self.unwell_grace(question);
        let Some(process) = &self.process else { return };
        process.target.signal(Signal::TERM);
        let target = process.target.clone();
        self.probes.spawn(async move {
            tokio::time::sleep(grace).await;
            target.signal(Signal::KILL);
        });
    }

    /// How long it has to end when this was answered with no: as the probe says, or else as long as with its Pod. A database that is
    /// stopped in the middle of its work starts the slower for it.
    fn unwell_grace(&self, question: Question) -> Duration {
        let probe = match question {
            Question::Started => &self.spec.startup_probe,
            Question::Ready | Question::Alive => &self.spec.liveness_probe,
        };
        let own = probe.as_ref().and_then(|probe| probe.termination_grace_period_seconds);
        own.map_or(self.grace, seconds)
    }

    fn end(&mut self, how: &io::Result<ExitStatus>) {
        // Nobody asks any more; what was being asked is given up.
        (self.probes, self.asker) = (JoinSet::new(), None);
        self.process = None;
        let Doing::Running(started) = self.state.doing else { return };
        let (code, signal) = match how {
            Ok(status) => (status.code().or(status.signal().map(|signal| 128 + signal)), status.signal()),
            Err(_) => (None, None),
        };
        let code = code.unwrap_or(-1);
        let (reason, message) = match (how, self.unwell.take()) {
            (Err(error), _) => ("Error", error.to_string()),
            (Ok(_), Some(why)) => ("Unwell", format!("its probe failed: {why}")),
            (Ok(_), None) if code == 0 => ("Completed", String::new()),
            (Ok(_), None) if code == i32::from(NOT_STARTED) => ("CannotRun", "see its log for why".into()),
            (Ok(_), None) => ("Error", String::new()),
        };
        let at = Timestamp::now();
        let ran = Duration::try_from(at.duration_since(started)).unwrap_or_default();
        self.failures = if ran >= WELL_AFTER { 0 } else { self.failures + 1 };
        let doublings = self.failures.saturating_sub(1).min(16);
        self.again = Some(Instant::now() + (FIRST_BACKOFF * 2u32.pow(doublings)).min(MAX_BACKOFF));
        let run = self.state.restarts;
        let reason = reason.to_owned();
        self.state.doing = Doing::Ended(Ended { code, signal, reason, message, started, at, run });
        (self.state.started, self.state.ready) = (self.spec.startup_probe.is_none() && code == 0, false);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn graces(spec: &Value) -> (u64, u64) {
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        let specs = pod.spec.clone().unwrap().containers;
        let main = Containers::new(&pod, Phase::Main, specs);
        let of = |question| main.all[0].unwell_grace(question).as_secs();
        (of(Question::Alive), of(Question::Started))
    }

    #[test]
    fn one_that_does_not_live_has_the_time_that_its_pod_or_its_probe_gives() {
        assert_eq!(graces(&json!({"containers": [{"name": "c"}]})), (30, 30));
        let probe = json!({"terminationGracePeriodSeconds": 7});
        let own = json!({"containers": [{"name": "c", "startupProbe": probe}], "terminationGracePeriodSeconds": 600});
        assert_eq!(graces(&own), (600, 7));
    }
}
