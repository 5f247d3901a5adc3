//! A member loses its disk: what is on it, or the volume itself.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::Api;
use kube::api::DeleteParams;

use crate::suite::Cluster;

#[test]
fn a_member_whose_volume_was_wiped_joins_empty_and_never_seeds() {
    let cluster = Cluster::ready("wiped", 3);
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    writer.until_more(10);
    // The one that led would come first among equals.
    let wiped = cluster.primary();
    cluster.park(&cluster.members(3));
    cluster.wipe(&wiped);
    let recoveries = cluster.recoveries();
    cluster.scale(3);
    assert_ne!(cluster.until_served(&writer), wiped, "what is empty does not lead");
    assert!(!recoveries.seeds().contains(&wiped), "what is empty is not chosen");
    // A copy that is cut off by the next outage counts for nothing either.
    for member in cluster.members(3) {
        cluster.kill_application(&member);
    }
    cluster.until_served(&writer);
    recoveries.most_advanced_seeded();
    cluster.holds_all(writer);
}

#[test]
fn a_volume_that_is_lost_is_replaced_by_a_new_one() {
    let cluster = Cluster::ready("lost", 3);
    let writer = cluster.writer();
    writer.until_more(10);
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
    cluster.holds_all(writer);
}
