//! The agent's certificate, read again when its files change: the operator renews it while the agent runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use muster_protocol::tls::{self, CA_CRT, Credentials, TLS_CRT, TLS_KEY};
use rustls::ServerConfig;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;

use crate::log::say;
use crate::settings::Settings;

/// How often the files are looked at. A kubelet takes a minute to show a new Secret, so this adds nothing that counts.
const LOOK: Duration = Duration::from_secs(5);
/// While there is no certificate at all, nobody can reach the agent.
const LOOK_SOON: Duration = Duration::from_millis(500);

/// What the agent serves with now.
pub struct Keyring {
    directory: PathBuf,
    member: String,
    operator: String,
    current: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    files: Option<[Vec<u8>; 3]>,
    config: Option<Arc<ServerConfig>>,
}

impl Keyring {
    /// Of this member; nothing is loaded yet.
    pub fn new(settings: &Settings) -> Self {
        let Settings { namespace, cluster, member, .. } = settings;
        Self {
            directory: settings.tls.clone(),
            member: tls::member_name(namespace, cluster, member),
            operator: tls::operator_name(namespace, cluster),
            current: Mutex::new(Loaded::default()),
        }
    }

    /// What to serve with; None until there is something.
    pub fn current(&self) -> Option<Arc<ServerConfig>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    /// Looks whether the files have changed. What is of no use leaves everything as it was.
    pub fn look(&self) {
        let files = read(&self.directory);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if files.is_none() || files == current.files {
            return;
        }
        let loaded = files.as_ref().map(|[ca, certificate, key]| {
            let credentials = Credentials { ca, certificate, key };
            tls::agent_config(credentials, &self.member, &self.operator, Arc::new(Clock))
        });
        match loaded {
            Some(Ok(config)) => current.config = Some(config),
            Some(Err(why)) => say!("its certificate cannot be used: {why}"),
            None => {}
        }
        current.files = files;
    }

    /// Looks again and again, for as long as the agent lives.
    pub async fn keep(self: Arc<Self>) {
        loop {
            let keyring = Arc::clone(&self);
            // A volume that does not answer holds up nothing else.
            let _ = tokio::task::spawn_blocking(move || keyring.look()).await;
            let pause = if self.current().is_some() { LOOK } else { LOOK_SOON };
            tokio::time::sleep(pause).await;
        }
    }
}

fn read(directory: &Path) -> Option<[Vec<u8>; 3]> {
    let read = |name: &str| std::fs::read(directory.join(name)).ok();
    Some([read(CA_CRT)?, read(TLS_CRT)?, read(TLS_KEY)?])
}

/// The time of day, by which certificates begin and end.
#[derive(Debug)]
struct Clock;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        SystemTime::now().duration_since(UNIX_EPOCH).ok().map(UnixTime::since_unix_epoch)
    }
}
