//! The counts and lists of members, and the primary's name.

use muster_api::cluster::{MemberLists, ReplicatedClusterStatus};
use muster_api::names::Role;

use super::inputs::{ClusterInputs, MemberSeen};
use super::text;
use super::view::{Part, Picture};

/// Fills in what comes from objects; it is known even while nobody looks at the agents.
pub(super) fn count_objects(inputs: &ClusterInputs<'_>, status: &mut ReplicatedClusterStatus) {
    let updated = |member: &&MemberSeen| member.spec_current && member.workload().is_ready();
    status.replicas = Some(text::count(inputs.members.len()));
    status.updated_replicas = Some(text::count(inputs.members.iter().filter(updated).count()));
    let desired = inputs.sizing().map(|sizing| sizing.advice.desired_replicas);
    status.desired_replicas = desired.map(|count| i32::try_from(count).unwrap_or(i32::MAX));
}

/// Fills in what comes from agents. Without them these fields are absent: a number would be a claim.
pub(super) fn count_members(
    inputs: &ClusterInputs<'_>,
    picture: &Picture<'_>,
    status: &mut ReplicatedClusterStatus,
) {
    let (ready, unready): (Vec<&MemberSeen>, Vec<&MemberSeen>) =
        inputs.members.iter().partition(|member| member.ready().is_ready());
    let primary = picture.primaries();
    let secondary = picture.whose(|part| matches!(part, Part::Joined { role: Role::Secondary, .. }));
    let synced = picture.whose(|part| matches!(part, Part::Joined { synced: true, .. }));
    let failed = picture.whose(|part| matches!(part, Part::Failed { .. }));
    let errant = picture.whose(|part| *part == Part::Errant);

    status.ready_replicas = Some(text::count(ready.len()));
    status.available_replicas = Some(text::count(primary.len() + secondary.len()));
    status.synced_replicas = Some(text::count(synced.len()));
    // Errant is who differs from the primary; without one nobody can tell.
    status.errant_replicas = picture.leader.map(|_| text::count(errant.len()));
    status.members_ready = status.desired_replicas.map(|desired| format!("{}/{desired}", ready.len()));
    status.primary = match primary.as_slice() {
        [] => None,
        [one] => Some(text::name(one)),
        several => Some(format!("{} primaries", several.len())),
    };
    let names = |members: &[&MemberSeen]| text::names(members.iter().map(|member| member.name.as_str()));
    status.members = Some(MemberLists {
        ready: names(&ready),
        unready: names(&unready),
        primary: text::names(primary),
        secondary: text::names(secondary),
        failed: text::names(failed),
        errant: text::names(errant),
    });
}

/// The version that every member runs; none while they differ, or one is not ready.
pub(super) fn current_version(members: &[MemberSeen]) -> Option<String> {
    let (first, rest) = members.split_first()?;
    let version = first.version.as_deref()?;
    let same = rest.iter().all(|member| member.version.as_deref() == Some(version));
    same.then(|| text::cut(version, muster_api::limits::WORD_MAX))
}
