//! By what the operator and its agents know each other: the authority of each cluster, the certificate of each Member, and
//! the key of `secretsHash`. Secrets are read by name, and written only when they are not what they should be.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use muster_api::Member;
use muster_core::build::{names, owners, secrets};
use muster_core::validation::references::Lookup;

use crate::agents::tls::Tls;
use crate::certificates::{
    AgentCa, CertificateError, ClusterName, OperatorTls, SecretData, check_member, external_config,
    issue_member,
};
use crate::cluster::apply::make;
use crate::cluster::observe::{SECRET_CHECK, Seen, read_secret};
use crate::context::Context;
use crate::door::CallError;
use crate::key::{Key, Name};
use crate::memory::{Shared, lock};

/// Why certificates or keys could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The API server did not take them.
    #[error("{what}: {error}")]
    Call {
        /// What was to be done.
        what: String,
        /// What came of it.
        error: CallError,
    },
    /// A Secret could not be read.
    #[error("Secret {name} could not be read: {why}")]
    Unreadable {
        /// Its name.
        name: String,
        /// Why.
        why: String,
    },
    /// A Secret of this name belongs to someone else.
    #[error("Secret {name} belongs to someone else ({why}): rename or remove it")]
    Taken {
        /// Its name.
        name: String,
        /// How that is known.
        why: String,
    },
    /// They could not be made, or what a Secret holds is of no use.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

impl CredentialError {
    /// In one word, for metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Call { error, .. } => error.reason(),
            Self::Unreadable { .. } => "SecretUnreadable",
            Self::Taken { .. } => "NameTaken",
            Self::Certificate(_) => "Certificate",
        }
    }
}

/// What is kept in memory of a cluster's authority.
pub struct Credentials {
    /// The authority.
    pub ca: AgentCa,
    tls: OperatorTls,
}

/// The key of `secretsHash`, which is kept with the authority.
pub fn hash_key(seen: &Seen) -> Option<Vec<u8>> {
    match seen.secrets.get(&names::agent_ca(&seen.name.name))? {
        Lookup::Found(secret) => secret.data.as_ref()?.get(secrets::HASH_KEY).map(|key| key.0.clone()),
        Lookup::NotFound | Lookup::Unreadable(_) => None,
    }
}

/// Makes, reads and replaces the authority of a cluster, and the keys by which its manager knows agents.
pub async fn of_cluster(context: &Context, seen: &Seen, memory: &Shared) -> Result<(), CredentialError> {
    let name = names::agent_ca(&seen.name.name);
    let cluster = ClusterName::new(&seen.name.namespace, &seen.name.name);
    let mut chance = context.chance.generator();
    match seen.secrets.get(&name) {
        Some(Lookup::NotFound) => {
            let ca = AgentCa::new(&cluster, seen.now, &mut chance)?;
            put(context, &authority_secret(seen, &ca), None).await?;
            // What was made is read by the next pass.
            context.queue.add(Key::Cluster(seen.name.clone()));
            Ok(())
        }
        Some(Lookup::Found(live)) => {
            let mut ca = AgentCa::read(&cluster, live.data.as_ref().unwrap_or(&SecretData::new()))?;
            let wanted = authority_secret(seen, &ca);
            if let Some(why) = owners::taken(&wanted.metadata, &live.metadata) {
                return Err(CredentialError::Taken { name, why });
            }
            if ca.rotate(seen.now, &mut chance)? {
                put(context, &authority_secret(seen, &ca), Some(live)).await?;
            }
            keep(context, seen, memory, ca).await
        }
        Some(Lookup::Unreadable(why)) => Err(CredentialError::Unreadable { name, why: why.clone() }),
        None => Ok(()),
    }
}

fn authority_secret(seen: &Seen, ca: &AgentCa) -> Secret {
    let empty = secrets::agent_ca(&seen.cluster, "", "", &[]);
    Secret { data: Some(ca.data()), ..empty }
}

/// Creates a Secret, or writes it over the one that was read, if that has not changed.
async fn put(context: &Context, secret: &Secret, live: Option<&Secret>) -> Result<(), CredentialError> {
    let what = format!("Secret {}", secret.name_any());
    let written = match live {
        None => make(context, secret).await,
        Some(live) => {
            let mut secret = secret.clone();
            secret.metadata.resource_version = live.resource_version();
            context.door.replace_uncached(&secret).await.map(drop)
        }
    };
    written.map_err(|error| CredentialError::Call { what, error })
}

/// Keeps the authority in memory, and the keys of all Members; keys that are the same stay the same, so that no stream is
/// opened anew.
async fn keep(context: &Context, seen: &Seen, memory: &Shared, ca: AgentCa) -> Result<(), CredentialError> {
    let due = {
        let memory = lock(memory);
        memory.credentials.as_ref().is_none_or(|kept| kept.tls.is_due(&ca, seen.now))
    };
    if due {
        let tls = OperatorTls::new(&ca, &context.clock, &mut context.chance.generator())?;
        let mut memory = lock(memory);
        memory.credentials = Some(Arc::new(Credentials { ca, tls }));
        memory.keys = None;
        for member in &seen.members {
            context.queue.add(Key::Member(Name::of(member.as_ref())));
        }
    }
    let Some(credentials) = lock(memory).credentials.clone() else { return Ok(()) };
    let known: Vec<String> = lock(memory).keys.iter().flat_map(|keys| keys.keys().cloned()).collect();
    let wanted: Vec<String> = seen.members.iter().map(|member| member.name_any()).collect();
    if !due && known == wanted {
        return Ok(());
    }
    let mut keys = BTreeMap::new();
    for member in &seen.members {
        keys.insert(member.name_any(), tls_of(context, &credentials, member).await?);
    }
    lock(memory).keys = Some(Arc::new(keys));
    Ok(())
}

async fn tls_of(
    context: &Context,
    credentials: &Credentials,
    member: &Member,
) -> Result<Tls, CredentialError> {
    let server = credentials.ca.cluster().member(&member.name_any()).server_name()?;
    let Some(external) = &member.spec.external else {
        return Ok(Tls { config: credentials.tls.config(), name: server });
    };
    let name = Name::of(member).beside(&external.credentials.secret_name);
    match read_secret(context, &name).await {
        Lookup::Found(secret) => {
            let data = secret.data.unwrap_or_default();
            Ok(Tls { config: external_config(&name.to_string(), &data, &context.clock)?, name: server })
        }
        Lookup::NotFound => {
            Err(CredentialError::Unreadable { name: name.to_string(), why: "it does not exist".to_owned() })
        }
        Lookup::Unreadable(why) => Err(CredentialError::Unreadable { name: name.to_string(), why }),
    }
}

/// Makes sure that a Member has a certificate that lasts. It is looked at as often as other Secrets are.
pub async fn of_member(context: &Context, member: &Member, memory: &Shared) -> Result<(), CredentialError> {
    if member.spec.external.is_some() {
        return Ok(());
    }
    let now = context.clock.now();
    let uid = member.uid().unwrap_or_default();
    let name = member.name_any();
    let (credentials, checked) = {
        let mut memory = lock(memory);
        (memory.credentials.clone(), memory.member(&name, &uid).certificate)
    };
    let Some(credentials) = credentials else { return Ok(()) };
    let fresh = SignedDuration::try_from(SECRET_CHECK).unwrap_or_default();
    if checked.is_some_and(|at| now.duration_since(at) < fresh) {
        return Ok(());
    }
    let secret = Name::of(member).beside(names::agent_secret(&name));
    let of = credentials.ca.cluster().member(&name);
    let empty = secrets::agent(member, "", "", "");
    let new = || issue_member(&credentials.ca, &of, now, &mut context.chance.generator());
    match read_secret(context, &secret).await {
        Lookup::Found(live) => {
            if let Some(why) = owners::taken(&empty.metadata, &live.metadata) {
                return Err(CredentialError::Taken { name: secret.name, why });
            }
            let held = live.data.clone().unwrap_or_default();
            if let Err(why) = check_member(&credentials.ca, &of, &held, now) {
                tracing::info!(member = %secret, %why, "issues another certificate");
                put(context, &Secret { data: Some(new()?), ..empty }, Some(&live)).await?;
            }
        }
        Lookup::NotFound => put(context, &Secret { data: Some(new()?), ..empty }, None).await?,
        Lookup::Unreadable(why) => return Err(CredentialError::Unreadable { name: secret.name, why }),
    }
    lock(memory).member(&name, &uid).certificate = Some(now);
    Ok(())
}
