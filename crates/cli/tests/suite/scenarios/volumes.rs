//! A member loses its disk: what is on it, or the volume itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::Api;
use kube::api::DeleteParams;
use serde_json::Value;

use crate::suite::missing::report_of;
use crate::suite::{Cluster, Software};

pub(crate) fn a_member_whose_volume_was_wiped_joins_empty_and_never_seeds(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 10);
    // The one that led would come first among equals.
    let wiped = cluster.primary();
    cluster.park(&cluster.members(3));
    cluster.wipe(&wiped);
    let recoveries = cluster.recoveries();
    cluster.scale(3);
    if cluster.software == Software::Galera {
        is_missed(cluster, &wiped);
    }
    // What Galera acknowledged may have been on that disk alone. That it goes on without it a person says, in every outage anew until
    // another disk has all.
    cluster.goes_on_without_what_is_missing(&writer);
    let leader = cluster.until_served_while(&writer, |it| {
        assert_ne!(cluster.offered_seed(it).as_ref(), Some(&wiped), "what is empty is not offered: {it:#}");
    });
    // Of Galera all lead once they have a copy, and it may come first among them.
    assert!(leader != wiped || cluster.software == Software::Galera, "what is empty does not lead");
    assert!(!recoveries.seeds().contains(&wiped), "what is empty is not chosen");
    // A copy that is cut off by the next outage counts for nothing either.
    for member in cluster.members(3) {
        cluster.kill_application(&member);
    }
    cluster.until_served(&writer);
    cluster.counts_losses("an outage in the middle of a copy");
    recoveries.most_advanced_seeded();
    cluster.holds_all(&writer);
}

pub(crate) fn a_volume_that_is_lost_is_replaced_by_a_new_one(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 10);
    let member = cluster.secondary();
    let claims = cluster.api::<PersistentVolumeClaim>();
    let name = format!("data-{member}");
    let lost = cluster.run(claims.get(&name)).unwrap();
    let volume = lost.spec.unwrap().volume_name.unwrap();
    let now = DeleteParams::default();
    cluster.run(claims.delete(&name, &now)).unwrap();
    cluster.run(Api::<PersistentVolume>::all(cluster.client()).delete(&volume, &now)).unwrap();
    // Nobody takes the volume from a Pod that uses it.
    cluster.run(cluster.api::<Pod>().delete(&format!("{member}-0"), &now)).unwrap();
    cluster.until("it has another volume", |_| {
        let claim = cluster.run(claims.get_opt(&name)).unwrap().and_then(|claim| claim.spec?.volume_name);
        claim.is_some_and(|other| other != volume)
    });
    cluster.holds_all(&writer);
}

/// Nobody goes on without it before a person says so.
fn is_missed(cluster: &Cluster, wiped: &str) {
    cluster.until("it is blocked, and says which disk is empty", |it| {
        let recovery = &it["status"]["recovery"];
        let is_empty = |report: &Value| report["empty"] == true;
        recovery["blockedBy"] == "DataMissing" && report_of(recovery, wiped).is_some_and(is_empty)
    });
}
