//! Who the Pods of a StatefulSet are: their names, labels and claims.

use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec};
use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume,
};
use kube::ResourceExt;

use crate::control::Error;
use crate::workloads::ownership::owner;
use crate::workloads::pods;

pub(super) const NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
pub(super) const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";

/// The spec; an object without one is no StatefulSet.
pub(super) fn spec(set: &StatefulSet) -> Result<&StatefulSetSpec, Error> {
    set.spec.as_ref().ok_or_else(|| Error::Unusable("a StatefulSet without a spec".to_owned()))
}

/// The name of the Pod of a number.
pub(super) fn pod_name(set: &str, ordinal: i32) -> String {
    format!("{set}-{ordinal}")
}

/// The StatefulSet that a Pod of this name would be of, and its number there.
pub(super) fn parent(pod: &str) -> Option<(&str, i32)> {
    let (set, digits) = pod.rsplit_once('-')?;
    let ordinal: i32 = digits.parse().ok()?;
    (ordinal >= 0 && pod_name(set, ordinal) == pod).then_some((set, ordinal))
}

/// The number of a Pod in this set; None if its name is not one of the set's.
pub(super) fn ordinal(set: &str, pod: &Pod) -> Option<i32> {
    let (parent, ordinal) = parent(pod.metadata.name.as_deref()?)?;
    (parent == set).then_some(ordinal)
}

/// The revision that a Pod was made from.
pub(super) fn revision(pod: &Pod) -> &str {
    pods::labels(pod).get(REVISION_LABEL).map_or("", String::as_str)
}

/// Whether a Pod says who it is.
pub(super) fn says_so(pod: &Pod) -> bool {
    pods::labels(pod).get(NAME_LABEL) == pod.metadata.name.as_ref()
}

/// The Pod of a number, as a revision's template has it.
pub(super) fn pod(
    set: &StatefulSet,
    template: &PodTemplateSpec,
    revision: &str,
    ordinal: i32,
) -> Result<Pod, Error> {
    let (namespace, set_name) = (set.namespace().unwrap_or_default(), set.name_any());
    let name = pod_name(&set_name, ordinal);
    let mut pod = pods::from_template(template, &namespace, owner(set)?);
    let labels = pod.labels_mut();
    labels.insert(NAME_LABEL.to_owned(), name.clone());
    labels.insert(INDEX_LABEL.to_owned(), ordinal.to_string());
    labels.insert(REVISION_LABEL.to_owned(), revision.to_owned());
    let claims = claims(set, ordinal)?;
    if let Some(spec) = &mut pod.spec {
        spec.hostname = Some(name.clone());
        spec.subdomain = super::identity::spec(set)?.service_name.clone().filter(|name| !name.is_empty());
        let mut volumes: Vec<Volume> = claims.iter().map(|(name, claim)| volume(name, claim)).collect();
        let others = spec.volumes.take().into_iter().flatten();
        volumes.extend(others.filter(|volume| claims.iter().all(|(name, _)| *name != volume.name)));
        spec.volumes = (!volumes.is_empty()).then_some(volumes);
    }
    pod.metadata.name = Some(name);
    pod.metadata.generate_name = Some(format!("{set_name}-"));
    Ok(pod)
}

fn volume(name: &str, claim: &PersistentVolumeClaim) -> Volume {
    let source = PersistentVolumeClaimVolumeSource { claim_name: claim.name_any(), ..Default::default() };
    Volume { name: name.to_owned(), persistent_volume_claim: Some(source), ..Volume::default() }
}

/// The claims of the Pod of a number, each with the name of its template. Nobody owns them: they belong to the data.
pub(super) fn claims(set: &StatefulSet, ordinal: i32) -> Result<Vec<(String, PersistentVolumeClaim)>, Error> {
    let spec = spec(set)?;
    let templates = spec.volume_claim_templates.iter().flatten();
    let claim = |template: &PersistentVolumeClaim| {
        let mut claim = template.clone();
        let name = template.name_any();
        claim.metadata.name = Some(format!("{name}-{}-{ordinal}", set.name_any()));
        claim.metadata.namespace = set.namespace();
        claim.labels_mut().extend(spec.selector.match_labels.clone().unwrap_or_default());
        claim.status = None;
        (name, claim)
    };
    Ok(templates.map(claim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_known_by_its_name() {
        assert_eq!(parent("db-0"), Some(("db", 0)));
        assert_eq!(parent("orders-a-0-12"), Some(("orders-a-0", 12)));
        for stranger in ["db", "db-", "db-x", "db-00", "db-+1", "db-99999999999"] {
            assert_eq!(parent(stranger), None, "{stranger}");
        }
    }
}
