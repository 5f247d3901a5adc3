//! The whole status of a Member: a verdict made of observations alone, then laid over what is stored.

use jiff::Timestamp;
use muster_api::member::{DesiredState, MemberStatus};
use muster_api::names::{ConditionType, MEMBER_CONDITIONS, MemberState, Reason};
use muster_api::{Condition, limits};

use super::inputs::Judged;
use super::view::{Part, Picture};
use super::{carry_over, text};
use crate::conditions::{self, Finding, MemberMeasurements};
use crate::generation::Gate;
use crate::pause::{self, Pause, Progress};
use crate::scaling::Published;
use crate::validation::Report;

mod agent;
mod devices;
mod steady;
mod storage;
mod workload;

pub use devices::DeviceSeen;
pub use steady::free_storage;

/// The storage of a Member, as it was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct StorageSeen<'a> {
    /// Its claims: bound, and as large as asked.
    pub claims: &'a [(String, Gate)],
    /// Claims that it names and that do not exist.
    pub not_found: &'a [String],
    /// The devices that its spec names.
    pub wanted_devices: &'a [String],
    /// The devices that its agent reports.
    pub devices: &'a [DeviceSeen],
    /// What could not be observed, and why, in words.
    pub unobserved: &'a [String],
    /// Its free storage as it is to be shown: see [`free_storage`].
    pub free: Option<Published>,
}

/// The workload of a Member, as it was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkloadSeen<'a> {
    /// Its StatefulSet; none while there is none.
    pub set: Option<&'a Gate>,
    /// Its Pod, as far as an agent's report may speak for it; none while there is none.
    pub pod: Option<&'a Gate>,
    /// An object under a wanted name that belongs to someone else.
    pub name_taken: Option<&'a str>,
    /// What the API server refuses to have, and why, in words.
    pub refused: Option<&'a str>,
    /// A change that is held because no manager could start the member again, in words.
    pub held: Option<&'a str>,
    /// Whether its StatefulSet is at 0 because its cluster is parked.
    pub at_zero: bool,
    /// What could not be observed, and why, in words.
    pub unobserved: Option<&'a str>,
}

/// Everything that was observed of a Member.
#[derive(Clone, Debug)]
pub struct MemberInputs<'a> {
    /// Its name.
    pub name: &'a str,
    /// `metadata.generation`.
    pub generation: i64,
    /// Whether `deletionTimestamp` is set.
    pub deleting: bool,
    /// The state that is in effect.
    pub state: DesiredState,
    /// Whether it runs on a host of its own.
    pub external: bool,
    /// What is stopped of its cluster.
    pub pause: Pause,
    /// The last generation this process applied; none after a restart.
    pub applied: Option<i64>,
    /// Whether the live children equal what this spec builds.
    pub children_equal: bool,
    /// What the checks of the spec found.
    pub spec: Option<Judged<&'a Report>>,
    /// Its storage.
    pub storage: StorageSeen<'a>,
    /// Its workload.
    pub workload: WorkloadSeen<'a>,
    /// What the manager sees, or why nothing is known: [`Clustering::looking`](super::Clustering::looking).
    pub seen: Result<&'a Picture<'a>, Finding>,
    /// The last lines of an action that failed.
    pub action_error: Option<&'a str>,
    /// Where it is reached by the others.
    pub address: Option<&'a str>,
    /// Its status as this process last assembled it; what only moves is not restated.
    pub previous: Option<&'a MemberStatus>,
}

impl MemberInputs<'_> {
    /// The generation that verdicts must be about to count; none when only the stored status could tell it.
    fn basis(&self) -> Option<i64> {
        match (self.pause.reconciliation, self.applied) {
            (false, _) => Some(self.generation),
            (true, Some(applied)) => Some(applied),
            (true, None) => self.children_equal.then_some(self.generation),
        }
    }
}

/// What was found about a Member. It knows nothing of the stored status, and survives a conflict with it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberVerdict {
    spec_valid: Finding,
    storage: Finding,
    workload: Finding,
    measured: MemberMeasurements,
    /// Everything that is not a condition.
    fields: MemberStatus,
    /// Whether its application runs, so that its sequence moves by itself.
    moving: bool,
    previous: Option<MemberStatus>,
    unseen: bool,
    pause: Pause,
    progress: Progress,
}

/// Judges a Member by what was observed of it.
pub fn judge_member(inputs: &MemberInputs<'_>) -> MemberVerdict {
    let connected = agent::connected(inputs);
    let (fields, moving) = fields(inputs, &connected);
    MemberVerdict {
        spec_valid: spec_valid(inputs),
        storage: storage::storage(inputs),
        workload: workload::workload(inputs),
        measured: MemberMeasurements {
            joined: agent::joined(inputs, &connected),
            agent_connected: connected,
        },
        fields,
        moving,
        previous: inputs.previous.cloned(),
        unseen: matches!(&inputs.seen, Err(why) if why.reason == Reason::ClusteringStopped.as_str()),
        pause: inputs.pause,
        progress: Progress {
            generation: inputs.generation,
            applied: inputs.applied,
            children_equal: inputs.children_equal,
            stored: None,
        },
    }
}

fn spec_valid(inputs: &MemberInputs<'_>) -> Finding {
    match inputs.spec.as_ref().and_then(|spec| spec.at(inputs.basis())) {
        Some(report) => report.finding(),
        None => Finding::unknown(Reason::NotObserved, "this generation was not checked yet"),
    }
}

/// Everything that is not a condition, and whether the application runs.
fn fields(inputs: &MemberInputs<'_>, connected: &Finding) -> (MemberStatus, bool) {
    let state = match (inputs.deleting, inputs.state) {
        (true, _) => MemberState::Deleting,
        (false, DesiredState::Disabled) => MemberState::Disabled,
        (false, DesiredState::Enabled) => MemberState::Enabled,
    };
    let mut status = MemberStatus {
        current_state: Some(state.into()),
        address: inputs.address.and_then(|address| text::cut_some(address, limits::ADDRESS_MAX)),
        ..MemberStatus::default()
    };
    let Ok(picture) = &inputs.seen else { return (status, false) };
    let Some(report) = agent::report(inputs, picture, connected) else { return (status, false) };
    status.role = report.running().map(|running| running.role.into());
    if let Some(held) = report.held().filter(|held| !held.empty) {
        status.history = text::cut_some(&held.history, limits::POSITION_MAX);
        status.term = held.place().term.and_then(text::term);
        status.sequence = text::sequence(held.sequence);
        status.position = text::cut_some(&held.position, limits::POSITION_MAX);
    }
    if picture.part(inputs.name) != Part::Fenced {
        status.free_storage = inputs.storage.free.map(|shown| text::bytes(shown.bytes));
        status.devices = devices::devices(inputs, picture.view.now);
    }
    (status, report.running().is_some())
}

impl MemberVerdict {
    /// What the cluster may count of this Member, beside the gates on its stored status.
    pub fn truths(&self) -> super::MemberTruths {
        let conditions = self.conditions(&[], self.progress.generation, Timestamp::UNIX_EPOCH);
        let ready = conditions::truth_at(&conditions, ConditionType::Ready, self.progress.generation);
        super::MemberTruths { storage: self.storage.truth, workload: self.workload.truth, ready }
    }

    /// The complete status to write where `stored` is. Nothing is taken from there but what [`carry_over`] allows.
    pub fn over(&self, stored: Option<&MemberStatus>, now: Timestamp) -> MemberStatus {
        let progress = Progress { stored: stored.and_then(|s| s.observed_generation), ..self.progress };
        let generation = pause::observed_generation(self.pause, progress).max(0);
        let old = stored.map_or(&[][..], |stored| stored.conditions.as_slice());
        self.finish(self.conditions(old, generation, now), generation, stored)
    }

    /// The write for a generation that was not seen before (R1.1). None while reconciliation is stopped: then nothing
    /// is being applied.
    pub fn reset_over(&self, stored: Option<&MemberStatus>, now: Timestamp) -> Option<MemberStatus> {
        if self.pause.reconciliation {
            return None;
        }
        let generation = self.progress.generation;
        let old = stored.map_or(&[][..], |stored| stored.conditions.as_slice());
        let mut conditions = carry_over::conditions(old, MEMBER_CONDITIONS, now);
        conditions::reset_member(&mut conditions, self.measured.clone(), generation, now);
        if self.unseen {
            pause::unsee_member(&mut conditions, generation, now);
        }
        Some(self.finish(conditions, generation, stored))
    }

    fn conditions(&self, old: &[Condition], generation: i64, now: Timestamp) -> Vec<Condition> {
        use ConditionType as T;
        let mut conditions = carry_over::conditions(old, MEMBER_CONDITIONS, now);
        let findings = [
            (T::SpecValid, &self.spec_valid),
            (T::StorageReady, &self.storage),
            (T::WorkloadReady, &self.workload),
            (T::AgentConnected, &self.measured.agent_connected),
            (T::Joined, &self.measured.joined),
        ];
        for (kind, finding) in findings {
            conditions::set(&mut conditions, kind, finding.clone(), generation, now);
        }
        let ready = conditions::summarise_member(&conditions, generation);
        conditions::set(&mut conditions, T::Ready, ready, generation, now);
        if self.unseen {
            pause::unsee_member(&mut conditions, generation, now);
        }
        conditions
    }

    fn finish(
        &self,
        mut conditions: Vec<Condition>,
        generation: i64,
        stored: Option<&MemberStatus>,
    ) -> MemberStatus {
        carry_over::arrange(&mut conditions, MEMBER_CONDITIONS);
        let mut status = self.fields.clone();
        status.observed_generation = Some(generation);
        status.conditions = conditions;
        if self.moving {
            steady::hold_still(&mut status, self.previous.as_ref(), stored);
        }
        status
    }
}
