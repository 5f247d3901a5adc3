//! The client over real sockets: both sides show who they are, and nobody waits for ever.

use std::sync::Arc;
use std::time::Duration;

use muster_operator::agents::tls::Tls;
use muster_operator::agents::{Agent, CallError, Events, Peer, TlsDial, watch};
use muster_protocol::{Action, Epoch, Outcome};
use muster_test_agents::Fleet;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::scene::{MEMBER, NAMESPACE, command, is_lost, line, wait_for};

/// An authority that both sides trust.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    fn issue(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &self.issuer).unwrap().der().clone();
        (vec![certificate], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        Arc::new(roots)
    }

    fn server(&self, name: &str) -> Arc<ServerConfig> {
        let provider = Arc::new(default_provider());
        let clients =
            WebPkiClientVerifier::builder_with_provider(self.roots(), Arc::clone(&provider)).build();
        let (chain, key) = self.issue(name, ExtendedKeyUsagePurpose::ServerAuth);
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config =
            builder.unwrap().with_client_cert_verifier(clients.unwrap()).with_single_cert(chain, key);
        Arc::new(config.unwrap())
    }

    fn client(&self, trusts: &Self) -> Arc<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let (chain, key) = self.issue("operator", ExtendedKeyUsagePurpose::ClientAuth);
        let trusting = builder.with_root_certificates(trusts.roots());
        Arc::new(trusting.with_client_auth_cert(chain, key).unwrap())
    }
}

fn agent(address: String, config: Arc<ClientConfig>) -> Agent {
    let name = ServerName::try_from(MEMBER).unwrap().to_owned();
    let peer =
        Peer { cluster: "orders".into(), member: MEMBER.into(), address, tls: Some(Tls { config, name }) };
    Agent::new(peer, Arc::new(TlsDial::default()))
}

async fn unknown_no_more(agent: &Agent) -> muster_protocol::Line {
    let events = Events::new();
    let _watch = watch(agent.clone(), 7, &events, 1);
    let known = |event: &muster_operator::agents::Event| {
        let unknown = muster_core::manager::report::Application::Unknown;
        !is_lost(event) && line(event).report.application != unknown
    };
    line(&wait_for(&events, known).await).clone()
}

#[tokio::test]
async fn commands_and_streams_work_over_mutual_tls() {
    let fleet = Fleet::new(1);
    fleet.start(NAMESPACE, "orders", MEMBER, None);
    let authority = Authority::new();
    let listening = fleet.listen(MEMBER, authority.server(MEMBER)).await.unwrap();
    let agent = agent(listening.address().to_string(), authority.client(&authority));
    let known = unknown_no_more(&agent).await;
    assert_eq!(agent.epoch(Epoch { epoch: 9, round: 3 }).await.unwrap().report.round, 3);
    let mut seed = command(&known, 1, Action::Seed { forming: true });
    seed.command.stamp.epoch = 9;
    assert!(matches!(agent.command(&seed).await.unwrap(), Outcome::Obeyed(answer) if answer.succeeded));

    let events = Events::new();
    let _watch = watch(agent, 9, &events, 1);
    let serves = |event: &muster_operator::agents::Event| {
        !is_lost(event) && muster_core::manager::observed::serves_as_primary(&line(event).report)
    };
    wait_for(&events, serves).await;
    // The agent goes away, and that is noticed at once.
    drop(listening);
    wait_for(&events, is_lost).await;
}

#[tokio::test]
async fn who_cannot_show_the_right_name_is_not_asked() {
    let fleet = Fleet::new(1);
    fleet.start(NAMESPACE, "orders", MEMBER, None);
    let (ours, theirs) = (Authority::new(), Authority::new());
    let other = fleet.listen(MEMBER, ours.server("orders-a-1")).await.unwrap();
    let foreign = fleet.listen(MEMBER, theirs.server(MEMBER)).await.unwrap();
    let strict = fleet.listen(MEMBER, ours.server(MEMBER)).await.unwrap();
    for (case, address, config) in [
        ("another member's certificate", other.address(), ours.client(&ours)),
        ("an authority that is not trusted", foreign.address(), ours.client(&ours)),
    ] {
        let error = agent(address.to_string(), config).report(1).await.unwrap_err();
        assert!(matches!(error, CallError::Unreachable(_)), "{case}: {error}");
    }
    // With TLS 1.3 a client learns only from the answer that it was not accepted.
    let stranger = agent(strict.address().to_string(), theirs.client(&ours));
    let error = stranger.report(1).await.unwrap_err();
    assert!(matches!(error, CallError::Unreachable(_) | CallError::Broken(_)), "{error}");
    let number = fleet.with(NAMESPACE, MEMBER, |node| node.agent.as_ref().map(|agent| agent.serial));
    assert_eq!(number, Some(Some(0)), "the agent was never asked");
}

#[tokio::test]
async fn one_that_accepts_and_says_nothing_is_given_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let authority = Authority::new();
    let name = ServerName::try_from(MEMBER).unwrap().to_owned();
    let tls = Some(Tls { config: authority.client(&authority), name });
    let address = silent.local_addr().unwrap().to_string();
    let peer = Peer { cluster: "orders".into(), member: MEMBER.into(), address, tls };
    let dial = TlsDial { connect_timeout: Duration::from_millis(200) };
    let error = Agent::new(peer, Arc::new(dial)).report(1).await.unwrap_err();
    assert!(matches!(error, CallError::Unreachable(_)), "{error}");
}
