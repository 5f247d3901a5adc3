//! Who may speak to an agent.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use muster_operator::agents::{Agent as Client, CallError};
use muster_operator::certificates::{
    AgentCa, ClusterName, SecretData, TLS_CRT, TLS_KEY, external_config, issue_member,
};
use muster_operator::clock::{Clock, SharedClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::clients::{connect, operator};
use super::place::{Place, chance, client, clock, cluster, eventually, member};

struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Whether this client is let in; TLS 1.3 tells it only when it reads.
async fn is_let_in(client: &Client) -> bool {
    match client.report(0).await {
        Ok(_) => true,
        Err(CallError::Unreachable(_) | CallError::Broken(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn only_the_operator_of_this_cluster_is_let_in() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    assert!(is_let_in(&agent.client).await);

    let other = AgentCa::new(&cluster(), Timestamp::now(), &mut chance()).unwrap();
    let mut foreign = place.ca.data();
    foreign.extend(other.data().into_iter().filter(|(key, _)| key == TLS_CRT || key == TLS_KEY));
    assert!(!is_let_in(&client(agent.agent, &other, &clock())).await, "of another authority");

    // It trusts the agent, and shows what the agent does not.
    let shows = |ca: &AgentCa, name: &str| -> SecretData {
        let mut data = issue_member(ca, &cluster().member(name), Timestamp::now(), &mut chance()).unwrap();
        let trusted = issue_member(&place.ca, &member(), Timestamp::now(), &mut chance()).unwrap();
        data.insert("ca.crt".into(), trusted["ca.crt"].clone());
        data
    };
    for (what, data) in [
        ("another member", shows(&place.ca, "orders-a-1")),
        ("itself", shows(&place.ca, "orders-a-0")),
        ("a stranger's member", shows(&other, "orders-a-1")),
    ] {
        let config = external_config("x", &data, &clock()).unwrap();
        let mut stream = connect(agent.agent, config).await.unwrap();
        let _ = stream.write_all(b"GET /v1/report HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer).await;
        assert!(read.is_err() && answer.is_empty(), "{what}: {}", String::from_utf8_lossy(&answer));
    }
    assert!(is_let_in(&agent.client).await);
}

#[tokio::test]
async fn the_operator_of_another_cluster_is_not_let_in_even_by_the_same_authority() {
    let place = Place::new();
    let agent = place.start_and_settle().await;
    // The same key and certificate, read as another cluster's, are refused already where they are read.
    let other = ClusterName::new("shop", "invoices");
    assert!(AgentCa::read(&other, &place.ca.data()).is_err());
    assert!(is_let_in(&agent.client).await);
}

#[tokio::test]
async fn who_shows_nothing_or_something_that_ended_is_not_let_in() {
    let long_ago = Timestamp::now() - SignedDuration::from_hours(24 * 30);
    let mut place = Place::new();
    place.ca = AgentCa::new(&cluster(), long_ago, &mut chance()).unwrap();
    place.put_certificate(&issue_member(&place.ca, &member(), long_ago, &mut chance()).unwrap());
    let agent = place.start_and_settle().await;
    assert!(is_let_in(&agent.client).await);
    let then: SharedClock = Arc::new(At(long_ago));
    assert!(!is_let_in(&client(agent.agent, &place.ca, &then)).await, "it ended three weeks ago");

    let mut plain = tokio::net::TcpStream::connect(agent.agent).await.unwrap();
    plain.write_all(b"GET /v1/report HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "without TLS nothing is said");
}

#[tokio::test]
async fn a_new_certificate_is_used_when_it_comes_and_a_bad_one_is_not() {
    let mut place = Place::new();
    let agent = place.start_and_settle().await;
    std::fs::write(place.path("tls/tls.crt"), "garbage").unwrap();
    let old =
        std::mem::replace(&mut place.ca, AgentCa::new(&cluster(), Timestamp::now(), &mut chance()).unwrap());
    agent.until_said("its certificate cannot be used").await;
    assert!(is_let_in(&client(agent.agent, &old, &clock())).await, "it goes on with the one it had");
    place.give_certificate(&place.ca);
    let handle = tokio::runtime::Handle::current();
    let (address, new) = (agent.agent, operator(&place.ca));
    let trusted = tokio::task::spawn_blocking(move || {
        eventually("the new certificate is used", || {
            handle.block_on(connect(address, new.clone())).ok().map(|_| ())
        });
    });
    tokio::time::timeout(Duration::from_secs(60), trusted).await.unwrap().unwrap();
    assert!(is_let_in(&client(agent.agent, &place.ca, &clock())).await);
    assert!(!is_let_in(&client(agent.agent, &old, &clock())).await);
}
