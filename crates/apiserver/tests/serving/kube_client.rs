//! A `kube::Client`, made from the kubeconfig that the server writes.

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use muster_apiserver::serve::{Identity, Limits, kubeconfig};

use crate::client::soon;
use crate::stub::Server;

async fn client(text: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(text).unwrap();
    assert_eq!(kubeconfig.current_context.as_deref(), Some("muster"));
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.proxy_url = None;
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn it_comes_in_by_the_kubeconfig() {
    let server = Server::start(Limits::default());
    let client = client(&kubeconfig::text(&server.running.url(), &server.identity)).await;
    assert_eq!(soon(client.apiserver_version()).await.unwrap().git_version, "v1.36.3");
    let namespaces: Api<Namespace> = Api::all(client);
    let events = soon(namespaces.watch(&WatchParams::default(), "0")).await.unwrap();
    let mut events = std::pin::pin!(events);
    let first = soon(events.try_next()).await.unwrap().unwrap();
    assert!(matches!(first, WatchEvent::Added(_)), "{first:?}");
}

#[tokio::test]
async fn it_does_not_with_the_token_or_the_authority_of_another() {
    let server = Server::start(Limits::default());
    let (url, other) = (server.running.url(), Identity::in_memory().unwrap());
    let own = kubeconfig::text(&url, &server.identity);
    let wrong_token = own.replace(server.identity.token(), other.token());
    let error = soon(client(&wrong_token).await.apiserver_version()).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 401), "{error}");
    let wrong_authority = kubeconfig::text(&url, &other).replace(other.token(), server.identity.token());
    let error = soon(client(&wrong_authority).await.apiserver_version()).await.unwrap_err();
    assert!(!matches!(error, kube::Error::Api(_)), "{error}");
}
