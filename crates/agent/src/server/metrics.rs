//! The agent's figures, as Prometheus reads them.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use muster_api::names::Role;

use crate::run::Agent;
use crate::run::live::{App, Live};

/// One figure: its name, what it is, its kind, and its value.
type Figure = (&'static str, &'static str, &'static str, Option<u64>);

/// All figures. Names of clusters and members are DNS labels, so nothing in them needs escaping.
pub(super) fn text(agent: &Agent) -> String {
    let settings = agent.settings();
    let labels = format!(
        "cluster=\"{}\",member=\"{}\",namespace=\"{}\"",
        settings.cluster, settings.member, settings.namespace
    );
    let mut figures = agent.look(seen).to_vec();
    figures.extend(counted(agent));
    let mut text = String::new();
    for (name, help, kind, value) in figures {
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{{{labels}}} {value}");
        }
    }
    text
}

fn seen(live: &Live) -> [Figure; 9] {
    let app = live.app.as_ref();
    let storage = live.measured.storage;
    let sequence = live.data.position().map(|position| position.sequence);
    let primary = app.is_some_and(|app| app.role == Role::Primary);
    [
        ("muster_agent_running", "1 while the application runs", "gauge", Some(app.is_some().into())),
        ("muster_agent_ready", "1 while it serves", "gauge", Some(app.is_some_and(App::is_ready).into())),
        ("muster_agent_primary", "1 while it is primary", "gauge", Some(primary.into())),
        ("muster_agent_epoch", "the highest epoch on disk", "gauge", Some(live.memory.epoch)),
        ("muster_agent_sequence", "the last known sequence of the data", "gauge", sequence),
        ("muster_agent_lag_seconds", "how far it is behind", "gauge", live.measured.lag_seconds),
        ("muster_agent_capacity_bytes", "what its volumes hold", "gauge", storage.map(|it| it.capacity)),
        ("muster_agent_free_bytes", "what is free of that", "gauge", storage.map(|it| it.free)),
        (
            "muster_agent_failed",
            "1 while an action is failed",
            "gauge",
            Some(live.measured.failure.is_some().into()),
        ),
    ]
}

fn counted(agent: &Agent) -> [Figure; 6] {
    let counters = agent.counters();
    let count = |counter: &std::sync::atomic::AtomicU64| Some(counter.load(Ordering::Relaxed));
    [
        ("muster_agent_commands_obeyed_total", "commands obeyed", "counter", count(&counters.obeyed)),
        ("muster_agent_commands_refused_total", "commands refused", "counter", count(&counters.refused)),
        (
            "muster_agent_faults_total",
            "requests that could not be answered",
            "counter",
            count(&counters.faults),
        ),
        (
            "muster_agent_failed_actions_total",
            "actions that failed",
            "counter",
            count(&counters.failed_actions),
        ),
        (
            "muster_agent_failed_writes_total",
            "writes of state that failed",
            "counter",
            count(&counters.failed_writes),
        ),
        (
            "muster_agent_turned_away_total",
            "connections that found no place",
            "counter",
            count(&counters.turned_away),
        ),
    ]
}
