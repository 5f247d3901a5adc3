//! The scene: a fleet with one member, and the operator's view of its agent.

use std::sync::Arc;
use std::time::Duration;

use muster_core::manager::stamp::Stamp;
use muster_operator::agents::{Agent, Event, Events, News, Peer};
use muster_protocol::{Action, Command, Instruction, Line};
use muster_test_agents::Fleet;
use tokio::time::Instant;

pub(crate) const NAMESPACE: &str = "shop";
pub(crate) const MEMBER: &str = "orders-a-0";
/// In simulated time: nothing that is waited for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn peer(member: &str) -> Peer {
    let address = format!("{member}-0.orders-members.{NAMESPACE}.svc");
    Peer { cluster: "orders".into(), member: member.into(), address, tls: None }
}

pub(crate) fn agent(fleet: &Fleet, member: &str) -> Agent {
    Agent::new(peer(member), Arc::new(fleet.dial()))
}

/// A member whose agent knows that nothing of an earlier run lives.
pub(crate) async fn one_member() -> (Fleet, Agent) {
    let fleet = Fleet::new(1);
    fleet.start(NAMESPACE, "orders", MEMBER, Some("pod-1"));
    pass(Duration::from_secs(1)).await;
    let agent = agent(&fleet, MEMBER);
    (fleet, agent)
}

/// Lets simulated time pass, and everyone do what is due in it.
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep_until(Instant::now() + time).await;
}

/// A command for the run that said this line.
pub(crate) fn command(line: &Line, n: u64, action: Action) -> Instruction {
    let instance = line.report.instance;
    let (stamp, member) = (Stamp::new(7, n), line.member.clone());
    Instruction { command: Command { stamp, instance, member, roster: None, action }, peers: Vec::new() }
}

/// The next event that is like this, passing over others.
pub(crate) async fn wait_for(events: &Events, mut is: impl FnMut(&Event) -> bool) -> Event {
    let waiting = async {
        loop {
            let event = events.next().await;
            if is(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("it never happened")
}

pub(crate) fn is_lost(event: &Event) -> bool {
    matches!(event.news, News::Lost(_))
}

pub(crate) fn line(event: &Event) -> &Line {
    match &event.news {
        News::Line(line) => line,
        News::Lost(lost) => panic!("{lost}"),
    }
}
