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
    /// Whether a Secret of this name belongs to someone else, in words.
    pub fn taken(&self) -> Option<String> {
        match self {
            Self::Taken { name, why } => Some(format!("Secret {name} ({why})")),
            _ => None,
        }
    }

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
    /// The version of the Secret that the authority was read from.
    version: Option<String>,
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
        Some(Lookup::Found(live)) if is_known(live, memory) && !is_due(seen, memory) => {
            keep_on(context, seen, memory).await;
            Ok(())
        }
        Some(Lookup::Found(live)) => {
            let mut ca = authority(seen, live)?;
            if ca.rotate(seen.now, &mut chance)? {
                put(context, &authority_secret(seen, &ca), Some(live)).await?;
                lock(memory).secrets = None;
            }
            keep(context, seen, memory, ca, live.resource_version()).await
        }
        Some(Lookup::Unreadable(why)) => Err(CredentialError::Unreadable { name, why: why.clone() }),
        None => Ok(()),
    }
}

/// Reads the authority that a cluster has, and the keys by which its manager knows agents; makes nothing and replaces nothing. For a
/// cluster to which nothing is applied: its manager goes on, also after a restart.
pub async fn as_they_are(context: &Context, seen: &Seen, memory: &Shared) -> Result<(), CredentialError> {
    let Some(Lookup::Found(live)) = seen.secrets.get(&names::agent_ca(&seen.name.name)) else {
        return Ok(());
    };
    if is_known(live, memory) && !is_due(seen, memory) {
        keep_on(context, seen, memory).await;
        return Ok(());
    }
    keep(context, seen, memory, authority(seen, live)?, live.resource_version()).await
}

/// The authority in this Secret, if it is ours.
fn authority(seen: &Seen, live: &Secret) -> Result<AgentCa, CredentialError> {
    let wanted = secrets::agent_ca(&seen.cluster, "", "", &[]);
    if let Some(why) = owners::taken(&wanted.metadata, &live.metadata) {
        return Err(CredentialError::Taken { name: live.name_any(), why });
    }
    let cluster = ClusterName::new(&seen.name.namespace, &seen.name.name);
    Ok(AgentCa::read(&cluster, live.data.as_ref().unwrap_or(&SecretData::new()))?)
}

/// Hands on the keys of Members that came since.
async fn keep_on(context: &Context, seen: &Seen, memory: &Shared) {
    let kept = lock(memory).credentials.clone();
    if let Some(kept) = kept {
        give_keys(context, seen, memory, &kept).await;
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

/// Whether the authority in memory was read from this very Secret.
fn is_known(live: &Secret, memory: &Shared) -> bool {
    let memory = lock(memory);
    memory.credentials.as_ref().is_some_and(|kept| kept.version == live.resource_version())
}

/// Whether the authority in memory, or what was made of it for the operator, is to be replaced.
fn is_due(seen: &Seen, memory: &Shared) -> bool {
    let kept = lock(memory).credentials.clone();
    kept.is_none_or(|kept| kept.ca.is_due(seen.now) || kept.tls.is_due(&kept.ca, seen.now))
}

/// Keeps the authority in memory, and the keys of all Members.
async fn keep(
    context: &Context,
    seen: &Seen,
    memory: &Shared,
    ca: AgentCa,
    version: Option<String>,
) -> Result<(), CredentialError> {
    let due = {
        let memory = lock(memory);
        memory.credentials.as_ref().is_none_or(|kept| kept.tls.is_due(&ca, seen.now))
    };
    if due {
        let tls = OperatorTls::new(&ca, &context.clock, &mut context.chance.generator())?;
        let mut memory = lock(memory);
        memory.credentials = Some(Arc::new(Credentials { ca, tls, version }));
        memory.keys = None;
        // What their agents serve with may be of an authority that nobody trusts any more.
        memory.members.values_mut().for_each(|member| member.certificate = None);
        for member in &seen.members {
            context.queue.add(Key::Member(Name::of(member.as_ref())));
        }
    }
    let Some(credentials) = lock(memory).credentials.clone() else { return Ok(()) };
    give_keys(context, seen, memory, &credentials).await;
    Ok(())
}

/// Hands on the keys of all Members, if any of them is new.
async fn give_keys(context: &Context, seen: &Seen, memory: &Shared, credentials: &Credentials) {
    let keys = keys(context, seen, credentials, memory).await;
    let mut memory = lock(memory);
    let same = memory.keys.as_ref().is_some_and(|old| {
        old.len() == keys.len()
            && keys.iter().all(|(name, new)| old.get(name).is_some_and(|old| old.same(new)))
    });
    if !same {
        memory.keys = Some(Arc::new(keys));
    }
}

/// By what each Member's agent is known. One whose Secret cannot be used has none and is not reached; the others are.
async fn keys(
    context: &Context,
    seen: &Seen,
    credentials: &Credentials,
    memory: &Shared,
) -> BTreeMap<String, Tls> {
    let mut keys = BTreeMap::new();
    for member in &seen.members {
        let tls = match &member.spec.external {
            None => {
                let server = credentials.ca.cluster().member(&member.name_any()).server_name();
                server.map(|name| Tls { config: credentials.tls.config(), name }).map_err(Into::into)
            }
            Some(external) => {
                let secret = Name::of(member.as_ref()).beside(&external.credentials.secret_name);
                external_tls(context, credentials, member, &secret, memory).await
            }
        };
        match tls {
            Ok(tls) => drop(keys.insert(member.name_any(), tls)),
            Err(error) => tracing::warn!(member = member.name_any(), %error, "has no way to an agent"),
        }
    }
    keys
}

/// The keys in the Secret of an external Member, read anew when that has changed.
async fn external_tls(
    context: &Context,
    credentials: &Credentials,
    member: &Member,
    secret: &Name,
    memory: &Shared,
) -> Result<Tls, CredentialError> {
    let unreadable = |why: String| CredentialError::Unreadable { name: secret.to_string(), why };
    let found = match read_secret(context, secret).await {
        Lookup::Found(found) => found,
        Lookup::NotFound => return Err(unreadable("it does not exist".to_owned())),
        Lookup::Unreadable(why) => return Err(unreadable(why)),
    };
    let version = format!(
        "{secret} {} {}",
        found.uid().unwrap_or_default(),
        found.resource_version().unwrap_or_default()
    );
    let name = member.name_any();
    if let Some((_, tls)) = lock(memory).external.get(&name).filter(|(known, _)| *known == version) {
        return Ok(tls.clone());
    }
    let data = found.data.unwrap_or_default();
    let tls = Tls {
        config: external_config(&secret.to_string(), &data, &context.clock)?,
        name: credentials.ca.cluster().member(&name).server_name()?,
    };
    lock(memory).external.insert(name, (version, tls.clone()));
    Ok(tls)
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
