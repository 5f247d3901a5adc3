//! A member's certificate is about to end: the operator replaces it, and the running agent takes the new one. Nobody is started again, streams
//! go on, and who writes does not notice.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use muster_operator::certificates::{
    AgentCa, ClusterName, MEMBER_LASTS, MEMBER_SPARE, OperatorTls, SecretData, TLS_CRT, issue_member,
};
use muster_operator::clock::{SharedClock, SystemClock};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::suite::Cluster;

/// Where an agent listens for its operator.
const AGENT_PORT: u16 = 7443;
/// Within which a stream says something: more than a few heartbeats, on a busy machine.
const SOON: Duration = Duration::from_secs(30);
/// In which nothing comes that was said before.
const MOMENT: Duration = Duration::from_millis(20);

type Tls = StreamOwned<ClientConnection, TcpStream>;

/// What an operator of this cluster has, to speak with its agents.
struct Operator {
    name: ClusterName,
    ca: AgentCa,
    config: Arc<ClientConfig>,
}

impl Operator {
    fn of(cluster: &Cluster) -> Self {
        let name = ClusterName::new("default", &cluster.name);
        let ca = AgentCa::read(&name, &data(cluster, &format!("{}-agent-ca", cluster.name))).unwrap();
        let clock: SharedClock = Arc::new(SystemClock);
        let config = OperatorTls::new(&ca, &clock, &mut StdRng::from_os_rng()).unwrap().config();
        Self { name, ca, config }
    }

    /// A connection to the agent of a member; none where it could not be made in time, as on a busy machine.
    fn connect(&self, cluster: &Cluster, member: &str) -> Option<Tls> {
        let address = cluster.pod(member).and_then(|pod| pod.status?.pod_ip)?;
        let server = self.name.member(member).server_name().unwrap();
        let connection = ClientConnection::new(Arc::clone(&self.config), server).unwrap();
        let socket = TcpStream::connect((address.as_str(), AGENT_PORT)).ok()?;
        socket.set_read_timeout(Some(SOON)).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        while stream.conn.is_handshaking() {
            let went_on = stream.conn.complete_io(&mut stream.sock);
            went_on.inspect_err(|error| println!("{member}: {error}")).ok()?;
        }
        Some(stream)
    }

    /// Waits until there is one.
    fn until_connected(&self, cluster: &Cluster, member: &str) -> Tls {
        cluster.until_found(&format!("{member} is connected to"), || self.connect(cluster, member))
    }

    /// The certificate that the agent of a member shows, if it is connected to.
    fn shown(&self, cluster: &Cluster, member: &str) -> Option<CertificateDer<'static>> {
        let stream = self.connect(cluster, member)?;
        Some(stream.conn.peer_certificates()?.first()?.clone().into_owned())
    }
}

fn data(cluster: &Cluster, secret: &str) -> SecretData {
    cluster.run(cluster.api::<Secret>().get(secret)).unwrap().data.unwrap()
}

/// The certificate that a member's Secret holds.
fn issued(cluster: &Cluster, member: &str) -> CertificateDer<'static> {
    certificate(&data(cluster, &format!("{member}-agent")))
}

fn certificate(secret: &SecretData) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(&secret[TLS_CRT].0).unwrap()
}

/// Waits until a stream says something that it had not said before this was asked.
fn goes_on(stream: &mut Tls) {
    let mut said = [0; 4096];
    stream.sock.set_read_timeout(Some(MOMENT)).unwrap();
    let ended = loop {
        match stream.read(&mut said) {
            Ok(1..) => {}
            ended => break ended,
        }
    };
    let waits = |error: &std::io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    assert!(ended.as_ref().is_err_and(waits), "the stream ended: {ended:?}");
    stream.sock.set_read_timeout(Some(SOON)).unwrap();
    assert!(stream.read(&mut said).unwrap() > 0, "the stream ended");
}

pub(crate) fn a_certificate_is_replaced_before_it_ends_and_nobody_is_started_again(cluster: &Cluster) {
    let writer = cluster.writer();
    let member = cluster.member(0);
    let operator = Operator::of(cluster);
    let (agent, ledger) = (cluster.agent(&member).unwrap(), cluster.until_runs(&member));
    let first = cluster.until_found("its agent shows one", || operator.shown(cluster, &member));
    assert_eq!(first, issued(cluster, &member));
    let mut stream = operator.until_connected(cluster, &member);
    stream.write_all(b"GET /v1/watch HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    goes_on(&mut stream);

    // As if it had been made so long ago that it is time. It is good for some weeks still.
    let spare = SignedDuration::try_from(MEMBER_LASTS.checked_sub(MEMBER_SPARE).unwrap()).unwrap();
    let then = Timestamp::now() - spare - SignedDuration::from_hours(24);
    let name = operator.name.member(&member);
    let aged = issue_member(&operator.ca, &name, then, &mut StdRng::from_os_rng()).unwrap();
    let old = certificate(&aged);
    let secrets = cluster.api::<Secret>();
    let secret = cluster.run(secrets.get(&format!("{member}-agent"))).unwrap();
    let aged = Secret { data: Some(aged), ..secret };
    cluster.run(secrets.replace(&format!("{member}-agent"), &PostParams::default(), &aged)).unwrap();
    // An operator looks at certificates every few minutes, and when it starts.
    cluster.world().kill_operator();
    cluster.until("another certificate is issued", |_| issued(cluster, &member) != old);
    let new = issued(cluster, &member);
    cluster.until("the agent shows it", |_| operator.shown(cluster, &member).as_ref() == Some(&new));
    assert!(new != first && new != old);

    goes_on(&mut stream);
    assert_eq!((cluster.agent(&member), cluster.application(&member)), (Some(agent), Some(ledger)));
    cluster.holds_all(&writer);
}
