//! A member stands still: the others have a quorum without it, and go on.

use rustix::process::Signal;
use serde_json::Value;

use crate::suite::Cluster;
use crate::suite::processes::send;

/// Once only its server stands still, which its agent tells of; once its agent does, too, and nobody does.
pub(crate) fn a_frozen_member_is_missed_and_a_thawed_one_goes_on(cluster: &Cluster) {
    let writer = cluster.writer();
    for with_its_agent in [false, true] {
        cluster.until_ready();
        let frozen = cluster.secondary();
        let server = cluster.until_runs(&frozen);
        let mut stopped = vec![server];
        if with_its_agent {
            stopped.extend(cluster.agent(&frozen));
        }
        for pid in &stopped {
            send(*pid, Signal::STOP);
        }
        cluster.until("it is not called ready", |it| !is_ready(it, &frozen));
        cluster.until_more(&writer, 20);
        for pid in &stopped {
            send(*pid, Signal::CONT);
        }
        cluster.holds_all(&writer);
        // With its agent it may have been taken for dead, and started again.
        if !with_its_agent {
            assert_eq!(
                cluster.application(&frozen),
                Some(server),
                "whoever stands still is not killed for it"
            );
        }
    }
}

fn is_ready(object: &Value, member: &str) -> bool {
    let ready = object["status"]["members"]["ready"].as_array().into_iter().flatten();
    ready.into_iter().any(|name| name == member)
}
