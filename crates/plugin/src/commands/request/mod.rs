//! What a person asks the manager for, once: `recover`, `switchover`, `fence`, `forget`, `rejoin`.
//!
//! All go one way: look, say what can be lost, ask, write the request for exactly what was seen, follow its outcome.

mod ask;
mod loss;
mod outcome;
mod pending;
mod send;

pub use ask::{Fence, Forget, Recover, Rejoin, Switchover};

use std::collections::BTreeSet;
use std::time::Duration;

use kube::ResourceExt;
use muster_api::ReplicatedCluster;
use muster_core::manager::requests::Ask;
use muster_core::pause::Pause;

use crate::access::{Access, object};
use crate::error::Failure;
use crate::print::age;
use crate::session::Session;

/// The options that all requests have.
#[derive(clap::Args)]
pub struct Common {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Make the request, and do not wait for its outcome
    #[arg(long)]
    no_wait: bool,
    /// How long to wait for the outcome at most
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = age::parse)]
    timeout: Duration,
}

/// A request, as it was typed.
pub trait Asks {
    /// The cluster.
    fn cluster(&self) -> &str;
    /// What all have.
    fn common(&self) -> &Common;
    /// What is asked for.
    fn ask(&self) -> Ask;
}

/// Makes the request and follows it.
pub async fn run(typed: &impl Asks, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let (name, common, ask) = (typed.cluster(), typed.common(), typed.ask());
    let seen = access.cluster(name).await?;
    let operator = access.operator().await;
    may_be_asked(&access, &seen)?;
    pending::refuse(&seen, operator.now, &access)?;
    who_is_meant(&access, &seen, &ask).await?;
    if !operator.runs() {
        session
            .console
            .note(&format!("warning: {}; the request waits for it, and expires", operator.sentence()));
    }
    if let Some(losses) = loss::losses(&seen, &ask) {
        session.console.confirm(&losses, common.yes)?;
    }
    let request = send::send(&access, &seen, ask, operator.now).await?;
    session.console.note(&format!("request {} made, valid until {}", request.id, request.expires));
    if common.no_wait {
        let next = format!("kubectl muster status {}{name}", access.namespace_flag());
        session.console.note(&format!("{next} will show its outcome"));
        return Ok(());
    }
    outcome::follow(&access, name, &request, common.timeout, session).await
}

/// What the operator would refuse in any case.
fn may_be_asked(access: &Access, seen: &ReplicatedCluster) -> Result<(), Failure> {
    let named = object("ReplicatedCluster", &seen.name_any(), &access.namespace);
    if seen.metadata.deletion_timestamp.is_some() {
        return Err(Failure::No(format!("{named} is being deleted: nothing is asked of it any more")));
    }
    if Pause::from_annotations(seen.metadata.annotations.as_ref()).clustering {
        let next = format!("kubectl muster start clustering {}{}", access.namespace_flag(), seen.name_any());
        return Err(Failure::No(format!("the clustering of {named} is stopped: start it first ({next})")));
    }
    Ok(())
}

/// Catches a name that is typed wrong before anybody is asked whether it may be lost. A member without an object may
/// still be in the roster, which status shows while it recovers; of one to be forgotten the operator alone knows.
async fn who_is_meant(access: &Access, seen: &ReplicatedCluster, ask: &Ask) -> Result<(), Failure> {
    let named: Vec<&String> = match ask {
        Ask::Recover { seed, .. } => seed.iter().collect(),
        Ask::Switchover { to } => to.iter().collect(),
        Ask::Fence { members } => members.iter().collect(),
        Ask::Rejoin { member, .. } => vec![member],
        Ask::Forget { .. } => Vec::new(),
    };
    if named.is_empty() {
        return Ok(());
    }
    let cluster = seen.name_any();
    let mut known: BTreeSet<String> =
        access.members_of(&cluster).await?.iter().map(ResourceExt::name_any).collect();
    if let Some(recovery) = seen.status.as_ref().and_then(|status| status.recovery.as_ref()) {
        known.extend(recovery.expected.iter().cloned());
        known.extend(recovery.reported.iter().map(|report| report.member.clone()));
    }
    match named.into_iter().find(|name| !known.contains(*name)) {
        None => Ok(()),
        Some(stranger) => Err(Failure::NotFound {
            object: format!(
                "Member {stranger:?} of {}",
                object("ReplicatedCluster", &cluster, &access.namespace)
            ),
            next: if known.is_empty() {
                "it has no members yet".to_owned()
            } else {
                format!("its members are {}", known.into_iter().collect::<Vec<_>>().join(", "))
            },
        }),
    }
}
