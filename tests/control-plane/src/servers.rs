//! The command lines of etcd and kube-apiserver, and the files they read.

use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// What both servers are told.
pub(crate) struct Layout<'a> {
    /// The directory that is theirs.
    pub(crate) directory: &'a Path,
    /// Where etcd serves.
    pub(crate) etcd_port: u16,
    /// Where kube-apiserver serves.
    pub(crate) api_port: u16,
    /// A word nobody else knows: the administrator's token, and the prefix of the keys in etcd.
    pub(crate) secret: &'a str,
    /// Whether what is written must survive a power cut. Tests need not wait for that.
    pub(crate) syncs: bool,
}

impl Layout<'_> {
    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd_port)
    }

    pub(crate) fn api_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.api_port)
    }

    /// kube-apiserver makes a certificate for 127.0.0.1 and writes it here, followed by that of its issuer.
    fn certificate(&self) -> PathBuf {
        self.directory.join("certificates/apiserver.crt")
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// What kube-apiserver shows to nodes; it vouches for itself.
    pub(crate) fn kubelet_client(&self) -> PathBuf {
        self.directory.join("kubelet-client.crt")
    }

    /// One member, which talks to no other.
    pub(crate) fn etcd_arguments(&self) -> Vec<String> {
        let url = self.etcd_url();
        let mut arguments = vec![
            format!("--data-dir={}", self.path("etcd")),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            "--listen-peer-urls=http://127.0.0.1:0".into(),
            "--initial-advertise-peer-urls=http://127.0.0.1:0".into(),
            "--initial-cluster=default=http://127.0.0.1:0".into(),
        ];
        if !self.syncs {
            arguments.push("--unsafe-no-fsync".into());
        }
        arguments
    }

    /// RBAC as in any cluster; no `ServiceAccount` admission, because no controller creates the default ones.
    pub(crate) fn apiserver_arguments(&self) -> Vec<String> {
        // The key that kube-apiserver makes for its certificate signs service account tokens too: it is there
        // before they are set up, and saves a second key.
        let key = self.path("certificates/apiserver.key");
        vec![
            format!("--etcd-servers={}", self.etcd_url()),
            // A store of one's own even on a port that changed hands.
            format!("--etcd-prefix=/{}", self.secret),
            format!("--cert-dir={}", self.path("certificates")),
            format!("--secure-port={}", self.api_port),
            "--bind-address=127.0.0.1".into(),
            "--advertise-address=127.0.0.1".into(),
            "--endpoint-reconciler-type=none".into(),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            format!("--service-account-key-file={key}"),
            format!("--service-account-signing-key-file={key}"),
            format!("--token-auth-file={}", self.path("tokens.csv")),
            "--authorization-mode=RBAC".into(),
            "--service-cluster-ip-range=10.0.0.0/24".into(),
            // Nodes of tests are on this machine, and have names that nobody resolves.
            "--kubelet-preferred-address-types=InternalIP".into(),
            format!("--kubelet-client-certificate={}", self.kubelet_client().display()),
            format!("--kubelet-client-key={}", self.path("kubelet-client.key")),
            "--disable-admission-plugins=ServiceAccount".into(),
        ]
    }

    /// Writes the administrator's token and kubeconfig.
    pub(crate) fn write_files(&self) -> Result<(), Error> {
        let tokens = format!("{},admin,admin,\"system:masters\"\n", self.secret);
        let name = "test";
        let kubeconfig = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {
                "server": self.api_url(), "certificate-authority": self.certificate(),
            }}],
            "users": [{"name": name, "user": {"token": self.secret}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        });
        let write = |path: PathBuf, content: String| {
            fs::write(&path, content).map_err(Error::io(format!("write {}", path.display())))
        };
        let (certificate, key) = kubelet_client()?;
        write(self.kubelet_client(), certificate)?;
        write(self.directory.join("kubelet-client.key"), key)?;
        write(self.directory.join("tokens.csv"), tokens)?;
        write(self.kubeconfig(), kubeconfig.to_string())
    }
}

/// A certificate for a client, and its key.
fn kubelet_client() -> Result<(String, String), Error> {
    let made = || -> Result<(String, String), rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        let mut parameters = rcgen::CertificateParams::new(vec!["kube-apiserver".to_owned()])?;
        parameters.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        Ok((parameters.self_signed(&key)?.pem(), key.serialize_pem()))
    };
    made().map_err(std::io::Error::other).map_err(Error::io("make a certificate for kube-apiserver"))
}
