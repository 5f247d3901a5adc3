//! A member stands still: it neither answers nor dies.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::suite::processes::send;
use crate::suite::{Cluster, Writer, deaths};

/// How often the primary stands still: after a minute it is taken for dead and started again, which on a busy machine may come before
/// anyone said that it is missed.
const TRIES: u32 = 3;

pub(crate) fn a_frozen_member_is_waited_for_and_a_thawed_one_goes_on(cluster: &Cluster) {
    let writer = cluster.writer();
    // If it is taken for dead after all it dies in the middle of a write.
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    let secondary = cluster.secondary();
    let pid = cluster.until_runs(&secondary);
    send(pid, Signal::STOP);
    cluster.until_more(&writer, 20);
    send(pid, Signal::CONT);
    let missed = (0..TRIES).any(|_| nobody_takes_its_place(cluster, &writer));
    // An operator that leads for some seconds may have no time to say so; that nobody else led meanwhile is proven all the same.
    assert!(missed || deaths::happen(), "it was never said that a primary is missed which stands still");
    cluster.holds_all(&writer);
}

/// The primary stands still, with its agent: nobody can know what it does, so nobody else leads. Whether that was said before it was
/// taken for dead.
fn nobody_takes_its_place(cluster: &Cluster, writer: &Writer) -> bool {
    cluster.until_ready();
    cluster.until_more(writer, 5);
    let members = cluster.members(3);
    let primary = cluster.until_one_leads(&members);
    let others: Vec<&String> = members.iter().filter(|member| **member != primary).collect();
    let (agent, application) = (cluster.agent(&primary).unwrap(), cluster.until_runs(&primary));
    for pid in [agent, application] {
        send(pid, Signal::STOP);
    }
    let stands_still = || cluster.agent(&primary) == Some(agent);
    let object = cluster.until("it is missed, or taken for dead", |it| {
        // In this order: what stands still afterwards did so when the others were asked.
        let instead = others.iter().find(|other| cluster.leads(other));
        assert!(instead.is_none() || !stands_still(), "{instead:?} leads, and so may {primary}: {it:#}");
        is_missed(it, &primary) || !stands_still()
    });
    let missed = is_missed(&object, &primary);
    for pid in [application, agent] {
        send(pid, Signal::CONT);
    }
    cluster.until_more(writer, 5);
    missed
}

/// Whether nobody is elected because this one is not accounted for.
fn is_missed(object: &Value, member: &str) -> bool {
    let recovery = &object["status"]["recovery"];
    recovery["blockedBy"] == "MemberMissing" && recovery["missing"] == json!([member])
}
