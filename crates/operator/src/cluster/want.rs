//! Decide, second half: every object that this spec asks for, who comes, who goes, and whose turn it is to change.

use std::collections::BTreeMap;

use kube::ResourceExt;
use muster_api::Member;
use muster_api::cluster::Pool;
use muster_api::member::DesiredState;
use muster_core::build::drivers::DriverWorkload;
use muster_core::build::member::{self, Rolled as Roll, Target};
use muster_core::build::{self, BuildError, ClusterChildren, names, secrets};
use muster_core::conditions::Truth;
use muster_core::manager::report::Application;
use muster_core::rollout::{self, Next, Rolled};
use muster_core::scaling::{Decision, Gain};
use muster_core::status::{Part, Picture};

use super::observe::Seen;
use super::size::Sized;
use crate::child::{Child, Kind};
use crate::memory::Memory;

/// Why what is wanted could not be said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WantError {
    /// It cannot be built.
    #[error("cannot be built: {0}")]
    Build(#[from] BuildError),
    /// A Secret that rolls the members could not be read.
    #[error("Secret {0} could not be read, so it is not known whether it changed")]
    Secret(String),
}

/// All that a pass wants to be so.
pub struct Wants {
    /// The cluster's own children.
    pub children: Vec<Child>,
    /// Members that are to be there as they are to be.
    pub members: Vec<Child>,
    /// Members that are to leave.
    pub leaving: Vec<String>,
    /// What the rollout waits for.
    pub rollout: Next,
    /// Which Members are as this spec builds them.
    pub current: BTreeMap<String, bool>,
    /// What members run with.
    pub target: Target,
    /// The account Secrets that must be there.
    pub accounts: Vec<muster_api::engine::EngineSecret>,
    /// Members that are created for their storage, and what was free before.
    pub gains: BTreeMap<String, Gain>,
    /// Changes that are held while clustering is stopped, in words.
    pub held: Vec<String>,
}

/// Says what is wanted.
pub(super) fn want(
    seen: &Seen,
    sized: &Sized,
    picture: Option<&Picture<'_>>,
    hash_key: &[u8],
    agent_image: &str,
    memory: &Memory,
) -> Result<Wants, WantError> {
    let Some(engine) = &seen.engine else {
        return Err(BuildError::NoVersion(seen.cluster.spec.engine.name.clone()).into());
    };
    let built = build::cluster(&seen.cluster, &engine.spec, agent_image)?;
    let used = secrets::used_by_members(&seen.cluster, &engine.spec);
    let Some(contents) = seen.used_secrets(&used) else {
        let unread = used.iter().find(|name| {
            !matches!(seen.secrets.get(*name), Some(muster_core::validation::references::Lookup::Found(_)))
        });
        return Err(WantError::Secret(unread.cloned().unwrap_or_default()));
    };
    let target = Target {
        version: built.config.version.clone(),
        config: built.config_map.metadata.name.clone().unwrap_or_default(),
        secrets_hash: secrets::hash(hash_key, &contents),
    };
    let mut wants = Wants {
        children: own_children(&built),
        members: Vec::new(),
        leaving: Vec::new(),
        rollout: Next::Done,
        current: BTreeMap::new(),
        target,
        accounts: built.accounts,
        gains: BTreeMap::new(),
        held: Vec::new(),
    };
    wants.come(seen, sized);
    wants.go(seen, sized, picture.is_some());
    wants.roll(seen, picture, memory);
    Ok(wants)
}

fn own_children(built: &ClusterChildren) -> Vec<Child> {
    let mut children: Vec<Child> =
        vec![built.config_map.clone().into(), built.disruption_budget.clone().into()];
    children.extend(built.services.iter().cloned().map(Child::from));
    children.extend(built.drivers.iter().cloned().map(|driver| match driver {
        DriverWorkload::Deployment(deployment) => Child::from(*deployment),
        DriverWorkload::DaemonSet(set) => Child::from(*set),
    }));
    children
}

impl Wants {
    /// The members that pools are to get.
    fn come(&mut self, seen: &Seen, sized: &Sized) {
        for (pool, advice) in seen.cluster.spec.pools.iter().zip(&sized.advice.pools) {
            let Decision::Create { ordinals, free_before } = &advice.decision else { continue };
            for ordinal in ordinals {
                let member = member::of_pool(&seen.cluster, pool, *ordinal, &self.target);
                if let Some(before) = free_before {
                    self.gains.insert(member.name_any(), Gain::Pending { before: *before });
                }
                self.members.push(member.into());
            }
        }
    }

    /// The members that are to leave. Without a manager nobody could take them out; and before it has looked, nobody knows who
    /// failed and who leads: a deletion cannot be taken back.
    fn go(&mut self, seen: &Seen, sized: &Sized, looked: bool) {
        let decisions = sized.advice.pools.iter().map(|pool| &pool.decision);
        for decision in decisions.chain([&sized.advice.removed_pools]) {
            let Decision::Remove { member, .. } = decision else { continue };
            if seen.pause.clustering {
                self.held.push(format!("{member} is to leave"));
            } else if looked {
                self.leaving.push(member.clone());
            }
        }
    }

    /// Brings existing Members up to this spec: claims at once, the rest one at a time.
    fn roll(&mut self, seen: &Seen, picture: Option<&Picture<'_>>, memory: &Memory) {
        let mut wanted = BTreeMap::new();
        let mut rolled = Vec::new();
        let mut ordered: Vec<_> = seen.members.iter().collect();
        ordered.sort_by_cached_key(|live| rollout::order(&seen.cluster.spec.pools, live));
        for live in ordered {
            let want = self.wanted(seen, live);
            let current = want.as_ref().is_none_or(|want| want.is_current(live));
            // Storage is nobody's turn, but until a Member has it this spec is not everywhere.
            let stored = want.as_ref().is_none_or(|want| want.has_storage(live));
            self.current.insert(live.name_any(), current && stored);
            rolled.push(as_rolled(live, current, picture, memory, seen));
            if let Some(want) = want {
                wanted.insert(live.name_any(), want);
            }
        }
        self.rollout = rollout::next(&rolled);
        let moves = match &self.rollout {
            Next::Update(names) => names.clone(),
            Next::Done | Next::Wait { .. } => Vec::new(),
        };
        for live in &seen.members {
            let name = live.name_any();
            let Some(want) = wanted.remove(&name) else { continue };
            let turn = moves.contains(&name);
            let at_rest = rolled.iter().any(|member| member.name == name && member.at_rest);
            let holds = turn && seen.pause.clustering && !at_rest && live.spec.workload.is_some();
            if holds {
                self.held.push(format!("{name} is to be restarted"));
            }
            let disabled = live.spec.desired_state == DesiredState::Disabled;
            let roll = match (disabled, turn && !holds) {
                (true, _) => Roll::Fixed,
                (false, true) => Roll::Moved,
                (false, false) => Roll::Kept,
            };
            self.members.push(want.child(live, roll));
        }
    }

    fn wanted(&self, seen: &Seen, live: &Member) -> Option<Want> {
        let pool = seen.cluster.spec.pools.iter().find(|pool| pool.name == live.spec.pool);
        match names::ordinal(live) {
            // Of a pool that is gone: it stays as it is until it has left.
            Some(ordinal) => pool.map(|pool| Want::FromPool(Box::new(self.of_pool(seen, pool, ordinal)))),
            None => Some(Want::ByHand(Box::new(member::workload_by_hand(pool, &self.target)))),
        }
    }

    fn of_pool(&self, seen: &Seen, pool: &Pool, ordinal: u32) -> Member {
        member::of_pool(&seen.cluster, pool, ordinal, &self.target)
    }
}

/// What is wanted of an existing Member.
enum Want {
    FromPool(Box<Member>),
    ByHand(Box<muster_api::member::Workload>),
}

impl Want {
    fn is_current(&self, live: &Member) -> bool {
        match self {
            Self::FromPool(wanted) => !member::to_roll(wanted, live),
            Self::ByHand(workload) => {
                live.spec.external.is_some() || live.spec.workload.as_ref() == Some(workload.as_ref())
            }
        }
    }

    fn has_storage(&self, live: &Member) -> bool {
        match self {
            Self::FromPool(wanted) => wanted.spec.storage == live.spec.storage,
            Self::ByHand(_) => true,
        }
    }

    fn child(&self, live: &Member, roll: Roll) -> Child {
        match self {
            Self::FromPool(wanted) => member::following(wanted, live, roll).into(),
            Self::ByHand(workload) => {
                let workload = match roll {
                    Roll::Moved => workload.as_ref(),
                    // Its first workload is nobody's turn: it runs nothing yet.
                    Roll::Kept | Roll::Fixed => live.spec.workload.as_ref().unwrap_or(workload),
                };
                let name = crate::key::Name::of(live);
                Child::partly(Kind::Member, name, member::by_hand(live, workload))
            }
        }
    }
}

/// Whether the application of this Member runs, or may run for all that is known.
fn may_run(name: &str, picture: Option<&Picture<'_>>, seen: &Seen) -> bool {
    if let Some(picture) = picture {
        match picture.view.observed.report_of(name) {
            Some(report) => return report.application != Application::Stopped,
            None if picture.part(name) == Part::Fenced => return false,
            None => {}
        }
    }
    // Nobody is heard who could run nowhere.
    seen.running_pods.contains(name)
}

fn as_rolled(
    live: &Member,
    current: bool,
    picture: Option<&Picture<'_>>,
    memory: &Memory,
    seen: &Seen,
) -> Rolled {
    let name = live.name_any();
    let primary = picture.is_some_and(|picture| picture.primaries().contains(&name.as_str()));
    let disabled = live.spec.desired_state == DesiredState::Disabled;
    // While nobody looks nobody will: what would restart a member is held, and listed.
    let ready = match super::members::readiness(live, memory) {
        Truth::Unknown if seen.pause.clustering => Truth::False,
        ready => ready,
    };
    let at_rest = live.spec.external.is_some() || seen.view.parked;
    Rolled {
        current,
        ready,
        // While clustering is stopped nobody is touched whom that would stop.
        runs: !seen.pause.clustering && may_run(&name, picture, seen),
        primary,
        fixed: disabled || live.metadata.deletion_timestamp.is_some(),
        at_rest,
        name,
    }
}
