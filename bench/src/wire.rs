//! A connection that does as little as it can: one request after the other over HTTP/1.1 and TLS, the answer read and let
//! go. Client and server share the processors, so what the client does beside that would be measured as the server's.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use kube::client::ConfigExt;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// A server, and what is needed to speak with it.
#[derive(Clone)]
pub(crate) struct Target {
    host: String,
    port: u16,
    tls: Arc<ClientConfig>,
    headers: HeaderMap,
}

impl Target {
    /// The server of this kubeconfig.
    pub(crate) async fn of(kubeconfig: &Path) -> Result<Self> {
        let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
        let written = serde_json::to_value(&kubeconfig)?;
        let token =
            written.pointer("/users/0/user/token").and_then(Value::as_str).context("there is no token")?;
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        let host = config.cluster_url.host().context("a server has a name")?.to_owned();
        let port = config.cluster_url.port_u16().context("a server has a port")?;
        let mut headers = HeaderMap::new();
        headers.insert(HOST, format!("{host}:{port}").parse()?);
        headers.insert(AUTHORIZATION, format!("Bearer {token}").parse()?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("bench/1"));
        Ok(Self { host, port, tls: Arc::new(config.rustls_client_config()?), headers })
    }

    pub(crate) async fn connect(&self) -> Result<Wire> {
        let socket = TcpStream::connect((self.host.as_str(), self.port)).await?;
        socket.set_nodelay(true)?;
        let name = ServerName::try_from(self.host.clone())?;
        let stream = TlsConnector::from(self.tls.clone()).connect(name, socket).await?;
        let (requests, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Wire { requests, headers: self.headers.clone() })
    }
}

/// A connection.
pub(crate) struct Wire {
    requests: SendRequest<Full<Bytes>>,
    headers: HeaderMap,
}

impl Wire {
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: impl Into<Bytes>) -> Result<()> {
        let mut request = Request::builder().method(method).uri(path).body(Full::new(body.into()))?;
        request.headers_mut().clone_from(&self.headers);
        self.requests.ready().await?;
        let response = self.requests.send_request(request).await?;
        ensure!(response.status().is_success(), "{method} {path}: {}", response.status());
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        Ok(())
    }
}
