//! A request that waits already: nobody writes over it.

use jiff::Timestamp;
use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_api::names::ANNOTATION_REQUEST;
use muster_core::manager::requests::{self, CLOCK_SKEW};

use crate::access::{Access, object};
use crate::error::Failure;

/// The id of the request that waits, as far as it can be read; none where there is none, or where it expired so long
/// ago that no operator's clock would still let it pass.
pub(super) fn pending(seen: &ReplicatedCluster, now: Timestamp) -> Option<String> {
    let annotation = seen.annotations().get(ANNOTATION_REQUEST)?;
    match requests::parse(annotation) {
        Ok(request) if request.expires + CLOCK_SKEW < now => None,
        Ok(request) => Some(format!("{} (valid until {})", request.id, request.expires)),
        Err(_) => Some("that cannot be read".to_owned()),
    }
}

/// Refuses to go on where one waits.
pub(super) fn refuse(seen: &ReplicatedCluster, now: Timestamp, access: &Access) -> Result<(), Failure> {
    let Some(other) = pending(seen, now) else { return Ok(()) };
    let name = seen.name_any();
    let named = object("ReplicatedCluster", &name, &access.namespace);
    let back = format!("kubectl annotate rcl {}{name} {ANNOTATION_REQUEST}-", access.namespace_flag());
    Err(Failure::No(format!(
        "a request waits for {named} already: {other}; wait for its outcome, or take it back ({back})"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(annotation: Option<&str>) -> ReplicatedCluster {
        let annotations = annotation.map(|text| json!({ANNOTATION_REQUEST: text}));
        let object = json!({
            "apiVersion": "muster.dev/v1alpha1", "kind": "ReplicatedCluster",
            "metadata": {"name": "orders", "annotations": annotations},
            "spec": {"engine": {"name": "ledger"}, "pools": []},
        });
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn one_that_waits_is_in_the_way_and_one_long_expired_is_not() {
        let request = r#"{"id":"x","clusterUid":"u","generation":1,"expires":"2026-01-01T00:10:00Z","action":"switchover"}"#;
        let at = |time: &str| pending(&with(Some(request)), time.parse().unwrap());
        assert_eq!(at("2026-01-01T00:05:00Z"), Some("x (valid until 2026-01-01T00:10:00Z)".to_owned()));
        assert!(at("2026-01-01T00:10:59Z").is_some(), "the operator's clock may be behind");
        assert_eq!(at("2026-01-01T00:11:01Z"), None);
        assert!(pending(&with(Some("garbage")), Timestamp::UNIX_EPOCH).is_some());
        assert_eq!(pending(&with(None), Timestamp::UNIX_EPOCH), None);
    }
}
