//! What a Deployment asks for, in numbers.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, ReplicaSet, RollingUpdateDeployment};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::control::Error;

/// The label by which the Pods of one template are told from those of another.
pub(super) const HASH_LABEL: &str = "pod-template-hash";
/// Without a deadline, or a limit, this is written.
const NO_LIMIT: i32 = i32::MAX;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    pub(super) spec: &'a DeploymentSpec,
}

impl<'a> Wish<'a> {
    pub(super) fn of(deployment: &'a Deployment) -> Result<Self, Error> {
        let spec = deployment.spec.as_ref();
        let spec = spec.ok_or_else(|| Error::Unusable("a Deployment without a spec".to_owned()))?;
        Ok(Self { spec })
    }

    pub(super) fn replicas(self) -> i32 {
        self.spec.replicas.unwrap_or(1)
    }

    pub(super) fn is_paused(self) -> bool {
        self.spec.paused == Some(true)
    }

    /// All old Pods go before a new one comes.
    pub(super) fn recreates(self) -> bool {
        let strategy = self.spec.strategy.as_ref();
        strategy.and_then(|strategy| strategy.type_.as_deref()) == Some("Recreate")
    }

    /// For how long it may go without progress.
    pub(super) fn deadline(self) -> Option<i32> {
        self.spec.progress_deadline_seconds.filter(|seconds| *seconds != NO_LIMIT)
    }

    /// How many old `ReplicaSets` are kept.
    pub(super) fn history_limit(self) -> Option<usize> {
        let limit = self.spec.revision_history_limit.filter(|limit| *limit != NO_LIMIT)?;
        usize::try_from(limit).ok()
    }

    fn rolling(self) -> RollingUpdateDeployment {
        let strategy = self.spec.strategy.as_ref();
        strategy.and_then(|strategy| strategy.rolling_update.clone()).unwrap_or_default()
    }

    /// How many Pods there may be above what is wanted.
    pub(super) fn max_surge(self) -> i32 {
        if self.recreates() { 0 } else { scaled(self.rolling().max_surge.as_ref(), self.replicas(), true) }
    }

    /// How many Pods may be missing.
    pub(super) fn max_unavailable(self) -> i32 {
        if self.recreates() || self.replicas() == 0 {
            return 0;
        }
        let missing = scaled(self.rolling().max_unavailable.as_ref(), self.replicas(), false);
        // With neither, nothing could ever move.
        let missing = if missing == 0 && self.max_surge() == 0 { 1 } else { missing };
        missing.min(self.replicas())
    }
}

/// A number, or a percentage of the total.
fn scaled(value: Option<&IntOrString>, total: i32, up: bool) -> i32 {
    match value {
        None => 0,
        Some(IntOrString::Int(number)) => *number,
        Some(IntOrString::String(text)) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or(0);
            let hundredths = percent.saturating_mul(i64::from(total));
            let whole = if up { (hundredths + 99).div_euclid(100) } else { hundredths.div_euclid(100) };
            i32::try_from(whole).unwrap_or(total)
        }
    }
}

/// Whether two templates are the same but for the label of their hash.
pub(super) fn same_template(set: &ReplicaSet, template: &PodTemplateSpec) -> bool {
    let set = set.spec.as_ref().and_then(|spec| spec.template.as_ref());
    set.is_some_and(|set| without_hash(set) == without_hash(template))
}

fn without_hash(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut template = template.clone();
    if let Some(labels) = template.metadata.as_mut().and_then(|metadata| metadata.labels.as_mut()) {
        labels.remove(HASH_LABEL);
    }
    template
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_up_for_more_and_down_for_less() {
        let quarter = IntOrString::String("25%".to_owned());
        assert_eq!((scaled(Some(&quarter), 3, true), scaled(Some(&quarter), 3, false)), (1, 0));
        assert_eq!(scaled(Some(&IntOrString::Int(2)), 3, true), 2);
        assert_eq!(scaled(None, 3, true), 0);
    }
}
