//! The whole status of a cluster: a verdict made of observations alone, then laid over what is stored.

use jiff::Timestamp;
use muster_api::cluster::{Endpoint, ReplicatedClusterStatus};
use muster_api::names::{ANNOTATION_LAST_BACKUP_TIME, CLUSTER_CONDITIONS, ConditionType, Reason};
use muster_api::{Condition, Time, limits};

use super::inputs::ClusterInputs;
use super::view::Picture;
use super::{
    availability, carry_over, control_plane, failure, health, infrastructure, members, pools, progress,
    recovery, sizing, text,
};
use crate::conditions::{self, ClusterMeasurements, Finding};
use crate::manager::report::Report;
use crate::pause::{self, Pause, Progress};
use crate::phase::{self, Life};

/// What was found about a cluster. It knows nothing of the stored status, and survives a conflict with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterVerdict {
    spec_valid: Finding,
    infrastructure: Finding,
    control_plane: Finding,
    measured: ClusterMeasurements,
    /// Everything that is not a condition or made from conditions.
    fields: ReplicatedClusterStatus,
    life: Life,
    pause: Pause,
    /// Whether nobody looks, because a person asked for it.
    unseen: bool,
    /// Whether `restoreReplicas` stays as it is stored: no manager has read it yet, or none shall.
    restore_as_stored: bool,
    progress: Progress,
}

/// Judges a cluster by what was observed of it.
pub fn judge_cluster(inputs: &ClusterInputs<'_>) -> ClusterVerdict {
    let looking = inputs.looking();
    let picture = looking.as_ref().ok();
    let seen = |find: &dyn Fn(&Picture<'_>) -> Finding| match &looking {
        Ok(picture) => find(picture),
        Err(unknown) => unknown.clone(),
    };
    ClusterVerdict {
        spec_valid: spec_valid(inputs),
        infrastructure: infrastructure::infrastructure(inputs),
        control_plane: seen(&|picture| control_plane::control_plane(inputs, picture)),
        measured: ClusterMeasurements {
            available: seen(&|picture| availability::available(inputs, picture)),
            healthy: seen(&|picture| health::healthy(inputs, picture)),
            clustering_active: pause::clustering_active(inputs.pause(), inputs.clustering.manager),
            reconciliation_active: reconciliation_active(inputs),
            recovering: seen(&progress::recovering),
            scaling_up: seen(&|_| sizing::scaling_up(inputs)),
            scaling_down: seen(&|picture| sizing::scaling_down(inputs, picture)),
            rolling_out: seen(&|_| progress::rolling_out(inputs)),
        },
        fields: fields(inputs, picture),
        life: Life { deleting: inputs.object.deleting, formed: inputs.formed },
        pause: inputs.pause(),
        unseen: inputs.clustering_is_stopped(),
        restore_as_stored: picture.and_then(last_told).is_none(),
        progress: Progress {
            generation: inputs.object.generation,
            applied: inputs.applied,
            children_equal: inputs.children_equal,
            stored: None,
        },
    }
}

fn spec_valid(inputs: &ClusterInputs<'_>) -> Finding {
    let report = inputs.spec.as_ref().and_then(|spec| spec.at(inputs.basis()));
    let newest = inputs.object.generation;
    match report {
        Some(report) => report.finding(),
        None if inputs.basis() == Some(newest) => {
            Finding::unknown(Reason::NotObserved, format!("generation {newest} was not checked yet"))
        }
        // The same words whether this process applied it or one before: a restart changes nothing.
        None => {
            let text =
                "reconciliation is stopped, and the spec that was applied last is not there to be checked";
            Finding::unknown(Reason::NotObserved, text)
        }
    }
}

fn reconciliation_active(inputs: &ClusterInputs<'_>) -> Finding {
    let mut finding = pause::reconciliation_active(inputs.pause(), inputs.reconciliation_stopped);
    let waits = inputs.object.deleting.then(|| inputs.pause().on_deletion().message()).flatten();
    if let Some(waits) = waits {
        finding.message = conditions::message(format!("{}; {waits}", finding.message));
    }
    finding
}

/// Everything that is not a condition.
fn fields(inputs: &ClusterInputs<'_>, picture: Option<&Picture<'_>>) -> ReplicatedClusterStatus {
    let mut status = ReplicatedClusterStatus {
        client_port: inputs.engine.client_port.filter(|port| (0..=limits::PORT_MAX).contains(port)),
        service_name: inputs.service.map(|service| text::name(service.name)),
        endpoint: endpoint(inputs),
        current_version: members::current_version(inputs.members),
        target_version: inputs.engine.target_version.map(|version| text::cut(version, limits::WORD_MAX)),
        engine_generation: inputs.engine.generation.filter(|generation| *generation >= 0),
        last_backup_time: last_backup(inputs),
        recovery: picture.and_then(|picture| recovery::recovery(picture, inputs.shown_recovery)),
        last_request: inputs.last_request.cloned(),
        restore_replicas: restore_replicas(picture),
        ..ReplicatedClusterStatus::default()
    };
    members::count_objects(inputs, &mut status);
    if let Some(picture) = picture {
        members::count_members(inputs, picture, &mut status);
    }
    pools::describe(inputs, picture.is_some(), &mut status);
    status
}

fn endpoint(inputs: &ClusterInputs<'_>) -> Option<Endpoint> {
    let service = inputs.service?;
    let host = text::cut_some(service.host?, limits::STATUS_NAME_MAX)?;
    (0..=limits::PORT_MAX).contains(&service.port).then_some(Endpoint { host, port: service.port })
}

fn last_backup(inputs: &ClusterInputs<'_>) -> Option<Time> {
    let annotation = inputs.object.annotations?.get(ANNOTATION_LAST_BACKUP_TIME)?;
    text::time(annotation.parse::<Timestamp>().ok()?)
}

/// The last report of an agent that told what Muster recorded. It may be stopped by now, as all are where a cluster is parked.
fn last_told<'a>(picture: &Picture<'a>) -> Option<&'a Report> {
    let reports = picture.view.observed.members.values().filter_map(|seen| seen.report.as_ref());
    reports.max_by_key(|report| report.recorded_at)
}

/// What a person set, else what agents remember Muster to have recorded.
fn restore_replicas(picture: Option<&Picture<'_>>) -> Option<i32> {
    let told = || last_told(picture?)?.recorded.last().copied();
    let count = picture?.view.wanted.restore.or_else(told)?;
    i32::try_from(count).ok().filter(|count| (1..=limits::MAX_MEMBERS).contains(count))
}

impl ClusterVerdict {
    /// The measurements, for the reset of a new generation and for metrics.
    pub fn measured(&self) -> &ClusterMeasurements {
        &self.measured
    }

    /// The complete status to write where `stored` is. Nothing is taken from there but what [`carry_over`] allows.
    pub fn over(&self, stored: Option<&ReplicatedClusterStatus>, now: Timestamp) -> ReplicatedClusterStatus {
        let generation = self.generation(stored);
        let mut conditions = kept(stored, now);
        for (kind, finding) in self.findings() {
            // A stop is true of the object as it is, whatever was applied last.
            let about = if kind == ConditionType::ReconciliationActive {
                self.progress.generation
            } else {
                generation
            };
            conditions::set(&mut conditions, kind, finding, about, now);
        }
        let ready = conditions::summarise_cluster(&conditions, generation);
        conditions::set(&mut conditions, ConditionType::Ready, ready, generation, now);
        self.finish(conditions, generation, stored, now)
    }

    /// The write for a generation that was not seen before (R1.1): verdicts on a spec are unknown, measurements are
    /// restated, nothing was touched yet. None while reconciliation is stopped: then nothing is being applied.
    pub fn reset_over(
        &self,
        stored: Option<&ReplicatedClusterStatus>,
        now: Timestamp,
    ) -> Option<ReplicatedClusterStatus> {
        if self.pause.reconciliation {
            return None;
        }
        let generation = self.progress.generation;
        let mut conditions = kept(stored, now);
        conditions::reset_cluster(&mut conditions, self.measured.clone(), generation, now);
        if self.unseen {
            pause::unsee_cluster(&mut conditions, generation, now);
        }
        Some(self.finish(conditions, generation, stored, now))
    }

    fn generation(&self, stored: Option<&ReplicatedClusterStatus>) -> i64 {
        let stored = stored.and_then(|stored| stored.observed_generation);
        pause::observed_generation(self.pause, Progress { stored, ..self.progress }).max(0)
    }

    /// Every condition but Ready, in the order in which they are shown.
    fn findings(&self) -> Vec<(ConditionType, Finding)> {
        use ConditionType as T;
        let measured = &self.measured;
        vec![
            (T::SpecValid, self.spec_valid.clone()),
            (T::InfrastructureReady, self.infrastructure.clone()),
            (T::ControlPlaneReady, self.control_plane.clone()),
            (T::Available, measured.available.clone()),
            (T::Healthy, measured.healthy.clone()),
            (T::ClusteringActive, measured.clustering_active.clone()),
            (T::ReconciliationActive, measured.reconciliation_active.clone()),
            (T::Recovering, measured.recovering.clone()),
            (T::ScalingUp, measured.scaling_up.clone()),
            (T::ScalingDown, measured.scaling_down.clone()),
            (T::RollingOut, measured.rolling_out.clone()),
        ]
    }

    /// What follows from the conditions, and what may be carried over.
    fn finish(
        &self,
        mut conditions: Vec<Condition>,
        generation: i64,
        stored: Option<&ReplicatedClusterStatus>,
        now: Timestamp,
    ) -> ReplicatedClusterStatus {
        carry_over::arrange(&mut conditions, CLUSTER_CONDITIONS);
        let phase = phase::phase(self.life, &conditions, generation);
        let mut status = self.fields.clone();
        status.observed_generation = Some(generation);
        status.phase = Some(phase.into());
        status.control_paused = Some(pause::control_paused(&conditions));
        status.conditions = conditions;
        status.reason = failure::reason(phase, self.deletion_waits(), &status);
        if let Some((reason, message)) = failure::failure(&status) {
            (status.failure_reason, status.failure_message) = (Some(reason), Some(message));
        }
        status.last_request = status.last_request.or_else(|| carry_over::last_request(stored, now));
        if self.restore_as_stored {
            status.restore_replicas = carry_over::restore_replicas(stored).or(status.restore_replicas);
        }
        status
    }

    fn deletion_waits(&self) -> bool {
        self.life.deleting && self.pause.on_deletion() == pause::OnDeletion::Waits
    }
}

/// The stored conditions, for their times.
fn kept(stored: Option<&ReplicatedClusterStatus>, now: Timestamp) -> Vec<Condition> {
    stored.map_or_else(Vec::new, |stored| carry_over::conditions(&stored.conditions, CLUSTER_CONDITIONS, now))
}
