//! One member is killed, then another; an agent; the operator; the seed.

use rustix::process::{Signal, test_kill_process};

use crate::suite::processes::send;
use crate::suite::{Cluster, World, Writer};

/// How often everyone is killed until a seed leads for long enough: on a busy machine one may lead for a moment only.
const TRIES: u32 = 5;

/// Whoever follows, or takes writes beside others.
pub(crate) fn a_killed_secondary_comes_back(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.until_more(&writer, 5);
    let secondary = cluster.secondary();
    let before = cluster.until_runs(&secondary);
    send(before, Signal::KILL);
    cluster.until_more(&writer, 5);
    cluster.until("it runs again", |_| cluster.application(&secondary).is_some_and(|pid| pid != before));
    cluster.holds_all(&writer);
}

pub(crate) fn a_killed_primary_is_replaced(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    let primary = cluster.primary();
    // It is killed again whenever it comes back: with the longest ledger of all it would be right to let it lead again.
    cluster.until("another leads", |it| {
        let leads = it["status"]["primary"].as_str().unwrap_or_default();
        if leads == primary || leads == "none" {
            cluster.agent(&primary).inspect(|agent| send(*agent, Signal::KILL));
        }
        !["", "none", &primary].contains(&leads)
    });
    cluster.until_more(&writer, 5);
    cluster.holds_all(&writer);
}

pub(crate) fn an_agent_that_is_killed_takes_its_application_along_and_both_come_back(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    for member in [cluster.secondary(), cluster.primary()] {
        cluster.until_more(&writer, 5);
        let application = cluster.until_runs(&member);
        cluster.kill_agent(&member);
        cluster.until("its application is gone", |_| test_kill_process(application).is_err());
        cluster.until_runs(&member);
        cluster.until_more(&writer, 5);
        cluster.until_ready();
    }
    cluster.holds_all(&writer);
}

pub(crate) fn a_seed_that_acknowledged_writes_and_then_dies_loses_none(cluster: &Cluster, rounds: usize) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    // A member of Galera may be half copied when the seed dies.
    cluster.goes_on_without_what_is_missing(&writer);
    cluster.until_more(&writer, 5);
    for round in 0..rounds {
        let killed = (0..TRIES).find_map(|_| a_seed_is_killed(cluster, &writer, 1 + round));
        let seed = killed.expect("a seed was killed that had served");
        cluster.until_served(&writer);
        cluster.counts_losses(&format!("the death of seed {round}, {seed}"));
    }
    cluster.holds_all(&writer);
}

/// Everyone is killed; then whoever leads first, after so many entries were acknowledged. None: it was gone or led no more by then, which
/// was somebody else's doing.
fn a_seed_is_killed(cluster: &Cluster, writer: &Writer, entries: usize) -> Option<String> {
    let members = cluster.members(3);
    let before: Vec<_> = members.iter().filter_map(|member| cluster.application(member)).collect();
    for pid in &before {
        send(*pid, Signal::KILL);
    }
    cluster.until("all of them are gone", |_| before.iter().all(|pid| test_kill_process(*pid).is_err()));
    // By its own word: what status says may be of the one before it.
    let seed = cluster.until_one_leads(&members);
    let leads = cluster.application(&seed)?;
    // With the copy of whoever joined first. One more: the last answer of the one before may be counted only now.
    cluster.until_more(writer, 1 + entries);
    let still = cluster.leads(&seed) && cluster.application(&seed) == Some(leads);
    still.then(|| {
        send(leads, Signal::KILL);
        seed
    })
}

pub(crate) fn an_operator_that_is_killed_is_replaced_and_goes_on_where_the_other_was(cluster: &Cluster) {
    let writer = cluster.writer();
    cluster.gives_up_the_errant(&writer);
    cluster.until_more(&writer, 5);
    // In the middle of a failover.
    let primary = cluster.primary();
    cluster.kill_application(&primary);
    World::shared().kill_operator();
    cluster.until_more(&writer, 5);
    cluster.until_ready();
    // In the middle of a recovery.
    for ordinal in 0..3 {
        cluster.kill_application(&cluster.member(ordinal));
    }
    World::shared().kill_operator();
    cluster.until_more(&writer, 5);
    cluster.counts_losses("an outage in which the operator died, too");
    cluster.until_ready();
    // While clients are served nobody needs it.
    World::shared().kill_operator();
    cluster.until_more(&writer, 5);
    if let Some(agent) = cluster.agent(&cluster.secondary()) {
        send(agent, Signal::KILL);
    }
    cluster.holds_all(&writer);
}
