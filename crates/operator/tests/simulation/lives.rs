//! The lives of clusters, each a script of steps with what to wait for after each.

use std::time::Duration;

use muster_core::manager::requests::Ask;
use muster_test_agents::Pace;
use serde_json::{Value, json};

use super::cores::alone;
use super::happenings::SILENCE;
use super::people::{FAR, Wish};
use super::samples::{self, CLUSTER, LEDGER, NAMESPACE};
use super::stored::says_ready;
use super::world::{Base, World};

/// Something that a person does, or that happens to machines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The cluster is created with so many members.
    Create(usize),
    /// It is to have so many members.
    Scale(usize),
    /// It is to have this version.
    Version(&'static str),
    /// A parameter changes.
    Size(&'static str),
    /// This is stopped.
    Stop(&'static str),
    /// This is started again.
    Start(&'static str),
    /// All agents restart at once.
    Outage,
    /// The agent of the primary restarts.
    PrimaryDies,
    /// A person wants this member to be primary.
    SwitchTo(&'static str),
    /// A person asks for this.
    Ask(Wish),
    /// The cluster is to have these drivers.
    Drivers(&'static [&'static str]),
    /// A member comes that runs elsewhere.
    Bring,
    /// This member is to go.
    Dismiss(&'static str),
    /// This member may be changed, or may not.
    Enable(&'static str, bool),
    /// The machine of this member loses its power.
    PowerOff(&'static str),
    /// It has power again.
    PowerOn(&'static str),
    /// All agents restart at once, and these members have empty disks.
    LoseDisks(&'static [&'static str]),
    /// This member holds what no other one does, and stops.
    Diverge(&'static str),
    /// The operator's process dies.
    Crash,
    /// Nothing.
    Nothing,
    /// The cluster is deleted.
    Delete,
}

/// What is waited for after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// Status says Ready, and it is so.
    Live,
    /// The same, and this member is the primary, or is asked for until it is.
    Led(&'static str),
    /// Status says that this is stopped.
    Stopped(&'static str),
    /// Recovery waits for a person, for this reason.
    Blocked(&'static str),
    /// Status says that this member went astray.
    Errant(&'static str),
    /// This was carried out, or is asked for until it is.
    Granted(Wish),
    /// This member is not Ready.
    Missed(&'static str),
    /// This member is Ready, and has this version.
    Rolled(&'static str, &'static str),
    /// It is gone, and so are its members.
    Gone,
}

/// Where a life begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Where there is no cluster.
    Nothing,
    /// With so many members that are live.
    Members(usize),
    /// With so many members that are parked.
    Parked(usize),
}

/// A life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) name: &'static str,
    pub(crate) from: Beginning,
    pub(crate) steps: &'static [(Step, Wait)],
}

const CLUSTERING: &str = "clustering";
const RECONCILIATION: &str = "reconciliation";
/// How often a person asks for the same at most: nothing goes wrong twice.
const ASKED: usize = 3;

/// After which time a command that was lost was surely sent again: until then a person has no reason to ask again.
const REPEATED: Duration = Duration::from_secs(60);

/// Every life there is.
pub(crate) const LIVES: [Life; 23] = [
    Life { name: "create", from: Beginning::Nothing, steps: &[(Step::Create(3), Wait::Live)] },
    Life { name: "scale up", from: Beginning::Members(2), steps: &[(Step::Scale(3), Wait::Live)] },
    Life { name: "scale down", from: Beginning::Members(3), steps: &[(Step::Scale(2), Wait::Live)] },
    Life { name: "park", from: Beginning::Members(2), steps: &[(Step::Scale(0), Wait::Live)] },
    Life { name: "unpark", from: Beginning::Parked(2), steps: &[(Step::Scale(2), Wait::Live)] },
    Life { name: "update", from: Beginning::Members(3), steps: &[(Step::Version("2"), Wait::Live)] },
    Life { name: "set", from: Beginning::Members(2), steps: &[(Step::Size("7"), Wait::Live)] },
    Life {
        name: "stop clustering",
        from: Beginning::Members(2),
        steps: &[
            (Step::Stop(CLUSTERING), Wait::Stopped("ClusteringActive")),
            (Step::Start(CLUSTERING), Wait::Live),
        ],
    },
    Life {
        name: "stop reconciliation",
        from: Beginning::Members(2),
        steps: &[
            (Step::Stop(RECONCILIATION), Wait::Stopped("ReconciliationActive")),
            (Step::Scale(3), Wait::Stopped("ReconciliationActive")),
            (Step::PrimaryDies, Wait::Stopped("ReconciliationActive")),
            (Step::Start(RECONCILIATION), Wait::Live),
        ],
    },
    Life { name: "recover", from: Beginning::Members(3), steps: &[(Step::Outage, Wait::Live)] },
    Life { name: "fail over", from: Beginning::Members(3), steps: &[(Step::PrimaryDies, Wait::Live)] },
    Life {
        name: "switch over",
        from: Beginning::Members(3),
        steps: &[(Step::SwitchTo("orders-a-2"), Wait::Led("orders-a-2"))],
    },
    Life { name: "delete", from: Beginning::Members(2), steps: &[(Step::Delete, Wait::Gone)] },
    Life {
        name: "delete while stopped",
        from: Beginning::Members(2),
        steps: &[(Step::Stop(CLUSTERING), Wait::Stopped("ClusteringActive")), (Step::Delete, Wait::Gone)],
    },
    Life {
        name: "restart",
        from: Beginning::Members(2),
        steps: &[(Step::Crash, Wait::Live), (Step::PrimaryDies, Wait::Live)],
    },
    Life {
        name: "drivers",
        from: Beginning::Members(1),
        steps: &[(Step::Drivers(&["proxy", "mounts"]), Wait::Live), (Step::Drivers(&["mounts"]), Wait::Live)],
    },
    Life {
        name: "external",
        from: Beginning::Members(2),
        steps: &[(Step::Bring, Wait::Live), (Step::Dismiss(FAR), Wait::Live)],
    },
    Life {
        name: "dismiss",
        from: Beginning::Members(3),
        steps: &[(Step::Dismiss("orders-a-0"), Wait::Live)],
    },
    Life {
        name: "disable",
        from: Beginning::Members(3),
        steps: &[
            (Step::Enable("orders-a-2", false), Wait::Live),
            (Step::Version("2"), Wait::Rolled("orders-a-0", "2")),
            (Step::Enable("orders-a-2", true), Wait::Live),
        ],
    },
    Life {
        name: "fence",
        from: Beginning::Members(3),
        steps: &[
            (Step::PowerOff("orders-a-0"), Wait::Blocked("MemberMissing")),
            (Step::Ask(Wish::Fence("orders-a-0")), Wait::Granted(Wish::Fence("orders-a-0"))),
            (Step::PowerOn("orders-a-0"), Wait::Live),
        ],
    },
    Life {
        name: "seed",
        from: Beginning::Members(3),
        steps: &[
            (Step::LoseDisks(&["orders-a-1", "orders-a-2"]), Wait::Blocked("DataMissing")),
            (Step::Ask(Wish::Seed("orders-a-0")), Wait::Granted(Wish::Seed("orders-a-0"))),
            (Step::Nothing, Wait::Live),
        ],
    },
    Life {
        name: "forget",
        from: Beginning::Members(3),
        steps: &[
            (Step::PowerOff("orders-a-2"), Wait::Missed("orders-a-2")),
            (Step::Ask(Wish::Forget("orders-a-2")), Wait::Granted(Wish::Forget("orders-a-2"))),
            (Step::Nothing, Wait::Live),
        ],
    },
    Life {
        name: "rejoin",
        from: Beginning::Members(3),
        steps: &[
            (Step::Diverge("orders-a-2"), Wait::Errant("orders-a-2")),
            (Step::Ask(Wish::Rejoin("orders-a-2")), Wait::Granted(Wish::Rejoin("orders-a-2"))),
            (Step::Nothing, Wait::Live),
        ],
    },
];

impl Step {
    pub(crate) async fn take(self, world: &mut World) {
        match self {
            Self::Create(nodes) => world.create(&[nodes]).await,
            Self::Scale(nodes) => world.edit(json!({"spec": {"pools": samples::pools(&[nodes])}})).await,
            Self::Version(version) => world.edit(json!({"spec": {"engine": {"version": version}}})).await,
            Self::Size(size) => world.edit(json!({"spec": {"engine": {"parameters": {"size": size}}}})).await,
            Self::Stop(what) => world.edit(stopped(what, &json!("true"))).await,
            Self::Start(what) => world.edit(stopped(what, &Value::Null)).await,
            Self::Outage => {
                clients_write(world, 5);
                world.restart(&world.fleet.members(NAMESPACE, CLUSTER));
            }
            Self::PrimaryDies => {
                world.fleet.write(NAMESPACE, CLUSTER);
                world.restart(&world.fleet.serving(NAMESPACE, CLUSTER));
            }
            Self::SwitchTo(member) => world.ask(Ask::Switchover { to: Some(member.to_owned()) }).await,
            Self::Delete => world.delete().await,
            Self::Ask(wish) => wish.ask(world).await,
            Self::Drivers(names) => world.edit(json!({"spec": {"drivers": samples::drivers(names)}})).await,
            Self::Bring => world.bring().await,
            Self::Dismiss(member) => world.dismiss(member).await,
            Self::Enable(member, enabled) => world.enable(member, enabled).await,
            Self::PowerOff(member) => {
                world.oracle.hurt_silently(SILENCE);
                world.fleet.power_off(NAMESPACE, member);
            }
            Self::PowerOn(member) => world.fleet.power_on(NAMESPACE, member),
            Self::LoseDisks(members) => {
                world.lose_disks(members);
                world.restart(&world.fleet.members(NAMESPACE, CLUSTER));
            }
            Self::Diverge(member) => world.diverge(member),
            Self::Crash => world.wire.die(),
            Self::Nothing => {}
        }
    }
}

/// Clients write so often.
pub(crate) fn clients_write(world: &World, times: usize) {
    for _ in 0..times {
        world.fleet.write(NAMESPACE, CLUSTER);
    }
}

fn stopped(what: &str, value: &Value) -> Value {
    json!({"metadata": {"annotations": {format!("muster.dev/{what}-stopped"): value}}})
}

impl Wait {
    pub(crate) async fn wait(self, world: &mut World) {
        match self {
            Self::Live => world.until("to be live", World::is_live).await,
            Self::Led(member) => {
                // An operator that dies with a request loses it, and never repeats it: a person asks again.
                for _ in 0..ASKED {
                    world.until("to be live", World::is_live).await;
                    if world.fleet.serving(NAMESPACE, CLUSTER) != [member] {
                        world.pass(REPEATED).await;
                        world.until("to be live", World::is_live).await;
                    }
                    if world.fleet.serving(NAMESPACE, CLUSTER) == [member] {
                        return;
                    }
                    Step::SwitchTo(member).take(world).await;
                }
                panic!("{member} is not made primary:\n{}", world.describe());
            }
            Self::Stopped(kind) => world.until("to stop", |world| world.says(kind, "False")).await,
            Self::Blocked(reason) => {
                world.until("to wait for a person", |world| world.is_blocked_by(reason)).await;
            }
            Self::Errant(member) => world.until("to miss it", |world| world.is_errant(member)).await,
            Self::Granted(wish) => wish.granted(world).await,
            Self::Missed(member) => {
                world.until("to miss it", |world| !world.member(member, says_ready)).await;
            }
            Self::Rolled(member, version) => {
                let rolled = |it: &Value| says_ready(it) && it["spec"]["workload"]["version"] == version;
                world.until("to be rolled", |world| world.member(member, rolled)).await;
            }
            Self::Gone => {
                let members = |world: &World| world.oracle.stored(|it| it.count("muster.dev/members"));
                let pods = |world: &World| world.oracle.stored(|it| it.count("/pods"));
                let gone = |world: &World| world.is_gone() && members(world) + pods(world) == 0;
                world.until("to be gone", gone).await;
            }
        }
    }
}

impl Beginning {
    /// A world that is there.
    pub(crate) fn base(self) -> Base {
        let empty = alone(Base::empty(LEDGER));
        let (nodes, parked) = match self {
            Self::Nothing => return empty,
            Self::Members(nodes) => (nodes, false),
            Self::Parked(nodes) => (nodes, true),
        };
        alone(async {
            let mut world = World::begin(&empty, 1, Pace::default()).await;
            world.start_operator();
            Step::Create(nodes).take(&mut world).await;
            Wait::Live.wait(&mut world).await;
            clients_write(&world, 3);
            if parked {
                Step::Scale(0).take(&mut world).await;
                Wait::Live.wait(&mut world).await;
            }
            world.base().await
        })
    }
}
