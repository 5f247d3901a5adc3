//! Who gets through to whom: handshakes without a network.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::super::issuer::{Use, read_pair};
use super::super::*;
use super::*;

/// A connection: the operator says a word, and the agent answers. Both must have heard the other.
async fn connect(
    client: Arc<ClientConfig>,
    name: ServerName<'static>,
    server: Arc<ServerConfig>,
) -> Result<(), std::io::Error> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let agent = async {
        let mut stream = TlsAcceptor::from(server).accept(far).await?;
        let word = stream.read_u8().await?;
        stream.write_u8(word + 1).await?;
        stream.shutdown().await
    };
    let operator = async {
        let mut stream = TlsConnector::from(client).connect(name, near).await?;
        stream.write_u8(1).await?;
        let word = stream.read_u8().await?;
        if word == 2 { Ok(()) } else { Err(std::io::Error::other("another word")) }
    };
    let (agent, operator) = tokio::join!(agent, operator);
    agent.and(operator)
}

/// The operator dials, and expects this member; the agent serves with this.
pub(super) async fn meet(
    operator: &OperatorTls,
    data: &SecretData,
    expected: &MemberName,
    clock: &SharedClock,
) -> Result<(), std::io::Error> {
    let member = expected.clone();
    let server = agent_config(data, &member, clock).unwrap();
    connect(operator.config(), expected.server_name().unwrap(), server).await
}

struct Scene {
    ca: AgentCa,
    clock: SharedClock,
}

impl Scene {
    fn new() -> Self {
        Self { ca: ca(), clock: clock_at(now()) }
    }

    fn operator(&self) -> OperatorTls {
        OperatorTls::new(&self.ca, &self.clock, &mut chance(10)).unwrap()
    }

    fn issue(&self, name: &str) -> SecretData {
        issue_member(&self.ca, &orders().member(name), now(), &mut chance(11)).unwrap()
    }
}

#[tokio::test]
async fn the_operator_and_the_member_it_asks_for_understand_each_other() {
    let scene = Scene::new();
    meet(&scene.operator(), &scene.issue("orders-a-0"), &member(), &scene.clock).await.unwrap();
}

#[tokio::test]
async fn another_member_at_that_address_is_refused() {
    let scene = Scene::new();
    let other = orders().member("orders-a-1");
    let server = agent_config(&scene.issue("orders-a-1"), &other, &scene.clock).unwrap();
    let asked = member().server_name().unwrap();
    let error = connect(scene.operator().config(), asked, server).await.unwrap_err();
    assert!(error.to_string().contains("ertificate"), "{error}");
}

#[tokio::test]
async fn another_clusters_member_and_another_clusters_operator_are_refused() {
    let scene = Scene::new();
    for stranger in [orders(), ClusterName::new("bank", "orders")] {
        let foreign = AgentCa::new(&stranger, now(), &mut chance(20)).unwrap();
        let foreigner = stranger.member("orders-a-0");
        let data = issue_member(&foreign, &foreigner, now(), &mut chance(21)).unwrap();
        let server = agent_config(&data, &foreigner, &scene.clock).unwrap();
        let asked = foreigner.server_name().unwrap();
        connect(scene.operator().config(), asked, server).await.unwrap_err();

        let operator = OperatorTls::new(&foreign, &scene.clock, &mut chance(22)).unwrap();
        meet(&operator, &scene.issue("orders-a-0"), &member(), &scene.clock).await.unwrap_err();
    }
}

#[tokio::test]
async fn what_has_ended_or_not_begun_is_refused() {
    let scene = Scene::new();
    let data = scene.issue("orders-a-0");
    for (operators, members, at) in [
        ("good", "ended", now() + MEMBER_LASTS + days(1)),
        ("good", "not begun", now() - days(2)),
        ("ended", "good", now() + OPERATOR_LASTS + days(1)),
    ] {
        let clock = clock_at(at);
        // Made in time, or as long ago as the member's; both look at the clock when they meet.
        let made = if operators == "good" { clock_at(at) } else { clock_at(now()) };
        let pair = OperatorTls::new(&scene.ca, &made, &mut chance(30)).unwrap();
        let error = meet(&pair, &data, &member(), &clock).await.unwrap_err();
        assert!(error.to_string().contains("ertificate"), "{operators} {members}: {error}");
    }
}

/// A client that trusts the cluster's authority and shows this.
fn client(scene: &Scene, shown: Option<&SecretData>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(scene.ca.for_members().certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clock = scene.operator().config().time_provider.clone();
    let builder = ClientConfig::builder_with_details(provider, clock).with_safe_default_protocol_versions();
    let builder = builder.unwrap().with_root_certificates(roots);
    Arc::new(match shown {
        None => builder.with_no_client_auth(),
        Some(data) => {
            let (certificate, key) = read_pair(data, TLS_CRT, TLS_KEY).unwrap();
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
    })
}

#[tokio::test]
async fn who_shows_no_certificate_or_a_members_own_is_refused() {
    let scene = Scene::new();
    let server = || agent_config(&scene.issue("orders-a-0"), &member(), &scene.clock).unwrap();
    let asked = || member().server_name().unwrap();
    let error = connect(client(&scene, None), asked(), server()).await.unwrap_err();
    assert!(error.to_string().contains("no certificates"), "{error}");
    let own = scene.issue("orders-a-0");
    connect(client(&scene, Some(&own)), asked(), server()).await.unwrap_err();
    let other = scene.issue("orders-a-1");
    connect(client(&scene, Some(&other)), asked(), server()).await.unwrap_err();
}

#[tokio::test]
async fn a_certificate_for_commanding_in_another_name_is_refused() {
    let scene = Scene::new();
    let server = || agent_config(&scene.issue("orders-a-0"), &member(), &scene.clock).unwrap();
    for (name, right) in [(orders().operator(), true), ("operator.bank.shop.muster.dev".to_owned(), false)] {
        let issued =
            scene.ca.for_members().issue(&name, Use::Commanding, OPERATOR_LASTS, now(), &mut chance(40));
        let issued = issued.unwrap();
        let data = with(&SecretData::new(), TLS_CRT, issued.pem.as_bytes());
        let data = with(&data, TLS_KEY, issued.key.serialize_pem().as_bytes());
        let met = connect(client(&scene, Some(&data)), member().server_name().unwrap(), server()).await;
        assert_eq!(met.is_ok(), right, "{name}: {met:?}");
    }
}

#[tokio::test]
async fn an_external_member_is_reached_with_the_credentials_in_its_secret() {
    let scene = Scene::new();
    // What an administrator makes: an authority, a certificate for the agent, and one for the operator.
    let far = orders().member("far");
    let issued = scene.ca.for_members().issue(
        &orders().operator(),
        Use::Commanding,
        MEMBER_LASTS,
        now(),
        &mut chance(50),
    );
    let issued = issued.unwrap();
    let data = with(&SecretData::new(), CA_CRT, scene.ca.bundle().as_bytes());
    let data = with(&data, TLS_CRT, issued.pem.as_bytes());
    let data = with(&data, TLS_KEY, issued.key.serialize_pem().as_bytes());
    let config = external_config("shop/far", &data, &scene.clock).unwrap();
    let server = agent_config(&scene.issue("far"), &far, &scene.clock).unwrap();
    connect(config, far.server_name().unwrap(), server).await.unwrap();
}

#[test]
fn an_agent_does_not_serve_with_what_is_not_its_own() {
    let scene = Scene::new();
    let data = scene.issue("orders-a-1");
    let why = |data: &SecretData| match agent_config(data, &member(), &scene.clock).err() {
        Some(CertificateError::Member { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&data), Unusable::OtherName(member().dns()));
    let own = scene.issue("orders-a-0");
    assert_eq!(why(&with(&own, CA_CRT, b"garbage")), Unusable::Unreadable(CA_CRT));
    assert_eq!(why(&without(&own, TLS_KEY)), Unusable::Missing(TLS_KEY));
}
