//! `kubectl muster enable|disable NAME MEMBER…`: whether a member takes part in changes and allocation (R2.5).

use std::time::Duration;

use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use muster_api::Member;
use muster_api::member::DesiredState;
use muster_api::names::FIELD_MANAGER_PLUGIN;
use serde_json::json;

use crate::access::{Access, Follow, Step, object};
use crate::error::{EXIT_CODES, Failure};
use crate::print::{age, document};
use crate::session::Session;

const ABOUT: &str = "Enable or disable members of a cluster";

const LONG_ABOUT: &str = "Enable or disable members of a cluster.\n\n\
    A disabled member keeps its role and is otherwise left alone: it is not seeded, promoted, allocated to, rolled, resized \
    or removed by scaling, and its absence does not make the cluster unhealthy.";

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It takes part in everything.
    Enable,
    /// It keeps its role and is left alone.
    Disable,
}

impl Wish {
    fn state(self) -> DesiredState {
        match self {
            Self::Enable => DesiredState::Enabled,
            Self::Disable => DesiredState::Disabled,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Enable => "Enabled",
            Self::Disable => "Disabled",
        }
    }
}

/// The options of both.
#[derive(clap::Args)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_help = EXIT_CODES)]
pub struct Options {
    /// The cluster
    #[arg(value_name = "NAME")]
    name: String,
    /// Its members
    #[arg(value_name = "MEMBER", required = true)]
    members: Vec<String>,
    /// Wait until the operator acts on it
    #[arg(long)]
    wait: bool,
    /// How long to wait at most
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = age::parse)]
    timeout: Duration,
}

/// Changes each, and says so.
pub async fn run(options: &Options, wish: Wish, session: &Session) -> Result<(), Failure> {
    let access = session.access().await?;
    let begun = tokio::time::Instant::now();
    access.cluster(&options.name).await?;
    let mut members = Vec::with_capacity(options.members.len());
    for name in &options.members {
        members.push(access.member(&options.name, name).await?);
    }
    for member in &members {
        let name = member.name_any();
        let already = member.spec.desired_state == wish.state();
        let member = if already { member.clone() } else { change(&access, &name, wish).await? };
        if let Some(text) = document(&member, session.output())? {
            session.console.show(&text);
            continue;
        }
        let word = wish.word().to_lowercase();
        let state = if already { format!("was {word} already") } else { word };
        session.console.say(&format!("member.muster.dev/{name} {state}"));
    }
    if options.wait {
        for member in &members {
            let left = options.timeout.saturating_sub(begun.elapsed());
            acknowledged(&access, &member.name_any(), wish, left, options).await?;
        }
    }
    Ok(())
}

async fn change(access: &Access, name: &str, wish: Wish) -> Result<Member, Failure> {
    let patch = json!({"spec": {"desiredState": wish.word()}});
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER_PLUGIN.to_owned()), ..PatchParams::default() };
    let doing = format!("change {}", object("Member", name, &access.namespace));
    access.call(&doing, access.members().patch(name, &params, &Patch::Merge(&patch))).await
}

/// Whether the operator treats it so, at its newest generation.
fn is_acknowledged(member: &Member, wish: Wish) -> bool {
    let Some(status) = &member.status else { return false };
    status.observed_generation == member.metadata.generation
        && status.current_state.as_deref() == Some(wish.word())
}

async fn acknowledged(
    access: &Access,
    name: &str,
    wish: Wish,
    timeout: Duration,
    options: &Options,
) -> Result<(), Failure> {
    let named = object("Member", name, &access.namespace);
    let follow = Follow { access, api: access.members(), name, doing: format!("watch {named}"), timeout };
    let outcome = follow.until(|member| match member {
        None => Step::Answer(false),
        Some(member) if is_acknowledged(member, wish) => Step::Answer(true),
        Some(_) => Step::Wait,
    });
    match outcome.await? {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::No(format!("{named} was deleted meanwhile"))),
        None => {
            let operator = access.operator().await;
            let why = if operator.runs() { "it is still at it".to_owned() } else { operator.sentence() };
            let next = format!("kubectl muster status {}{} says more", access.namespace_flag(), options.name);
            let limit = age::short(options.timeout);
            Err(Failure::Timeout(format!(
                "{named}: the operator did not act on it within {limit}: {why}; {next}"
            )))
        }
    }
}
