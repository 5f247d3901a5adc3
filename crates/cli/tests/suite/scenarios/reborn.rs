//! A cluster is deleted, its volumes are kept, and it is made again over them.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;

use crate::suite::Cluster;

pub(crate) fn a_cluster_that_is_made_again_has_what_it_had(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 20);
    // It writes until there is nobody to answer: what was acknowledged to the last moment counts.
    cluster.delete();
    let acknowledged = writer.stop();
    for ordinal in 0..3 {
        let claim = format!("data-{}", cluster.member(ordinal));
        let claim = cluster.run(cluster.api::<PersistentVolumeClaim>().get(&claim)).unwrap();
        assert_eq!(claim.metadata.deletion_timestamp, None, "volumes are kept");
    }
    cluster.make(3, "directory");
    cluster.until_ready();
    for ordinal in 0..3 {
        cluster.has(&cluster.member(ordinal), &acknowledged);
    }
    let writer = cluster.writer();
    cluster.holds_all(&writer);
}
