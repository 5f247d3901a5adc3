//! What is really so, by what is stored and by what the agents do: what has to be the case where status says Ready.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_core::manager::report::Activity;
use muster_core::manager::stamp::Term;
use muster_test_agents::Fleet;
use muster_test_model::{App, Node};
use serde_json::Value;

use super::samples::{CLUSTER, NAMESPACE, Software};
use super::stored::{CONFIGS, DAEMONS, DEPLOYMENTS, MEMBERS, SETS, Stored, is_ending, name as name_of, says};

/// Something without which a cluster is not Ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// What it is.
    pub(crate) what: String,
    /// Whether it comes and goes with machines, so that nobody knows of it at once.
    pub(crate) of_machines: bool,
}

/// Looks at everything.
pub(crate) struct Truth<'a> {
    pub(super) stored: &'a Stored,
    fleet: &'a Fleet,
    software: Software,
    /// What the applications do that run.
    running: BTreeMap<String, Doing>,
}

/// What an application does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doing {
    pub(super) role: Role,
    pub(super) activity: Activity,
    term: Option<Term>,
    pub(super) synced: bool,
    /// Whether a message can reach it.
    pub(super) heard: bool,
}

/// What is wanted of a Member.
struct Wish<'a> {
    version: &'a str,
    size: &'a str,
    /// Whether it is to stay.
    stays: bool,
}

impl<'a> Truth<'a> {
    pub(crate) fn new(stored: &'a Stored, fleet: &'a Fleet, software: Software) -> Self {
        let doing = |app: &App| Doing {
            role: app.role,
            activity: app.activity(),
            term: app.term,
            synced: app.synced,
            heard: true,
        };
        let each = |node: &Node| Some((node.name.clone(), doing(node.app()?)));
        let all = fleet.look(NAMESPACE, CLUSTER, |nodes| nodes.values().filter_map(each).collect());
        let mut running: BTreeMap<String, Doing> = all.unwrap_or_default();
        for (member, doing) in &mut running {
            doing.heard = !fleet.is_isolated(NAMESPACE, member);
        }
        Self { stored, fleet, software, running }
    }

    /// What the application of this member does, if it runs and is heard.
    pub(super) fn doing(&self, member: &str) -> Option<&Doing> {
        self.running.get(member).filter(|doing| doing.heard)
    }

    /// Whether this is done in the newest term that anyone is heard to run in. The term of software that elects by itself
    /// moves only when it is seeded.
    fn is_newest(&self, doing: &Doing) -> bool {
        let heard = self.running.values().filter(|doing| doing.heard);
        self.software.elects || heard.map(|doing| doing.term).max().flatten() == doing.term
    }

    /// Whether this member serves writes, in the newest term.
    pub(super) fn serves(&self, member: &str) -> bool {
        self.doing(member).is_some_and(|doing| {
            doing.role == Role::Primary && doing.activity == Activity::Serving && self.is_newest(doing)
        })
    }

    /// What is lacking for this cluster to be Ready as its spec has it.
    pub(crate) fn lacks(&self, cluster: &Value) -> Vec<Lack> {
        let mut lacks = Vec::new();
        let spec = &cluster["spec"];
        let pools = spec["pools"].as_array().map_or(&[][..], Vec::as_slice);
        let nodes = |pool: &Value| pool["threshold"]["nodes"].as_u64().unwrap_or_default();
        if pools.iter().map(nodes).sum::<u64>() == 0 {
            return self.unparked();
        }
        self.lacks_of_drivers(spec, &mut lacks);
        let members = self.stored.all(MEMBERS);
        for pool in pools {
            let of_pool =
                |it: &&&Value| it["spec"]["pool"] == pool["name"] && it["spec"]["external"].is_null();
            let there = members.iter().filter(of_pool).count();
            if there as u64 != nodes(pool) {
                lacks.push(by_spec(format!("pool {} has {there} members", pool["name"])));
            }
        }
        let version = spec["engine"]["version"].as_str().unwrap_or("1");
        let size = spec["engine"]["parameters"]["size"].as_str().unwrap_or("1");
        for member in members.iter().copied() {
            self.lacks_of_object(member, &Wish { version, size, stays: true }, &mut lacks);
            // What a disabled one does is its administrator's affair.
            if is_enabled(member) {
                self.lacks_of_application(member, &mut lacks);
            }
        }
        self.lacks_of_primaries(spec, &members, &mut lacks);
        lacks
    }

    /// What is lacking for a Member to be Ready as its own spec has it. Its cluster may want something else of it by now; that
    /// is not its own affair. One that is on its way out is itself until it stops.
    pub(crate) fn lacks_of_member(&self, member: &Value) -> Vec<Lack> {
        let workload = &member["spec"]["workload"];
        let version = workload["version"].as_str().unwrap_or_default();
        let size = self.size(workload).unwrap_or("1");
        let mut lacks = Vec::new();
        self.lacks_of_object(member, &Wish { version, size, stays: false }, &mut lacks);
        self.lacks_of_application(member, &mut lacks);
        lacks
    }

    /// The size that this workload is configured with.
    fn size(&self, workload: &Value) -> Option<&str> {
        let config = self.stored.get(CONFIGS, workload["config"].as_str().unwrap_or_default())?;
        config["data"]["parameters.size"].as_str()
    }

    /// What is lacking of a Member's own object and its workload.
    fn lacks_of_object(&self, member: &Value, wish: &Wish<'_>, lacks: &mut Vec<Lack>) {
        let name = name_of(member);
        if wish.stays && is_ending(member) {
            lacks.push(by_spec(format!("{name} is on its way out")));
        }
        for kind in ["StorageReady", "WorkloadReady"] {
            if !says(member, kind, "True") {
                lacks.push(by_machines(format!("the status of {name} does not say {kind}")));
            }
        }
        if member["spec"]["external"].is_object() {
            return;
        }
        let workload = &member["spec"]["workload"];
        if workload["version"] != wish.version {
            lacks.push(by_spec(format!("{name} has version {}", workload["version"])));
        }
        let runs = self.size(workload);
        if runs != Some(wish.size) {
            lacks.push(by_spec(format!("{name} is configured with size {runs:?}")));
        }
        self.lacks_of_workload(name, wish.version, workload, lacks);
    }

    /// What is lacking of what a member's application does.
    fn lacks_of_application(&self, member: &Value, lacks: &mut Vec<Lack>) {
        let name = name_of(member);
        match self.doing(name) {
            Some(doing) if matches!(doing.activity, Activity::Serving | Activity::Donor) => {
                if !self.is_newest(doing) {
                    lacks.push(by_machines(format!("{name} runs in term {:?}", doing.term)));
                }
            }
            other => lacks.push(by_machines(format!("the application of {name} does {other:?}"))),
        }
    }

    /// What is lacking of a member's StatefulSet and Pod.
    fn lacks_of_workload(&self, name: &str, version: &str, workload: &Value, lacks: &mut Vec<Lack>) {
        let Some(set) = self.stored.get(SETS, name) else {
            return lacks.push(by_spec(format!("{name} has no StatefulSet")));
        };
        let (generation, status) = (&set["metadata"]["generation"], &set["status"]);
        if status["observedGeneration"] != *generation {
            lacks.push(by_spec(format!("the StatefulSet of {name} was not observed at {generation}")));
        }
        let counts = ["replicas", "updatedReplicas", "readyReplicas"];
        let unready = set["spec"]["replicas"] != 1 || counts.iter().any(|count| status[count] != 1);
        if unready && !self.stored.is_news(SETS, name) {
            lacks.push(by_machines(format!("the StatefulSet of {name} is not ready: {status}")));
        }
        let Some(pod) = self.stored.pod(name) else {
            return lacks.push(by_machines(format!("{name} has no Pod")));
        };
        if is_ending(pod) {
            lacks.push(by_machines(format!("the Pod of {name} is on its way out")));
        }
        let main = |it: &&Value| it["name"] == "main";
        let image = pod["spec"]["containers"].as_array().and_then(|all| all.iter().find(main));
        let image = image.and_then(|it| it["image"].as_str()).unwrap_or_default();
        if image.strip_prefix("ledger:") != Some(version) {
            lacks.push(by_spec(format!("the Pod of {name} runs {image}")));
        }
        let config = workload["config"].as_str().unwrap_or_default();
        if !mentions(&pod["spec"]["volumes"], config) {
            lacks.push(by_spec(format!("the Pod of {name} does not have its configuration")));
        }
        if self.fleet.pod_of(NAMESPACE, name).as_deref() != pod["metadata"]["uid"].as_str() {
            lacks.push(by_machines(format!("the agent of {name} runs in another Pod")));
        }
    }

    fn lacks_of_primaries(&self, spec: &Value, members: &[&Value], lacks: &mut Vec<Lack>) {
        // A disabled one keeps its role, and nobody asks it for another.
        let enabled = members.iter().filter(|it| is_enabled(it)).count();
        let default = if self.software.all { enabled } else { 1 };
        let asked = spec["primaries"].as_u64().and_then(|asked| usize::try_from(asked).ok());
        let wanted = if self.software.elects { 1 } else { asked.unwrap_or(default).min(members.len()) };
        let serving: Vec<&String> = self.running.keys().filter(|name| self.serves(name)).collect();
        if serving.len() < wanted || (serving.len() > wanted && !self.software.all) {
            let running = &self.running;
            lacks.push(by_machines(format!("{serving:?} of {wanted} primaries serve: {running:?}")));
        }
        let external = |name: &str| {
            self.stored.get(MEMBERS, name).is_some_and(|member| member["spec"]["external"].is_object())
        };
        let reached = |name: &&String| external(name) || self.carries(name) == Some(Role::Primary.as_str());
        if !serving.iter().any(reached) {
            lacks.push(by_machines(format!("no client is sent to any of {serving:?}")));
        }
    }

    /// What is lacking of the drivers, and which ones are too many.
    fn lacks_of_drivers(&self, spec: &Value, lacks: &mut Vec<Lack>) {
        let asked = spec["drivers"].as_array().map_or(&[][..], Vec::as_slice);
        let workload = |driver: &Value| format!("{CLUSTER}-{}", driver["name"].as_str().unwrap_or_default());
        let found: Vec<&Value> =
            self.stored.all(DEPLOYMENTS).into_iter().chain(self.stored.all(DAEMONS)).collect();
        for driver in asked {
            let name = workload(driver);
            let Some(object) = found.iter().find(|it| name_of(it) == name) else {
                lacks.push(by_spec(format!("there is no driver {name}")));
                continue;
            };
            let (status, replicas) = (&object["status"], &object["spec"]["replicas"]);
            if status["observedGeneration"] != object["metadata"]["generation"] {
                lacks.push(by_spec(format!("the driver {name} was not observed")));
            }
            let rolled = if replicas.is_null() {
                status["numberAvailable"] == status["desiredNumberScheduled"]
            } else {
                ["updatedReplicas", "availableReplicas"].iter().all(|it| status[it] == *replicas)
            };
            if !rolled || (!replicas.is_null() && *replicas != driver["replicas"].as_u64().unwrap_or(1)) {
                lacks.push(by_spec(format!("the driver {name} is not rolled out: {status}")));
            }
        }
        for object in found {
            if !asked.iter().any(|driver| workload(driver) == name_of(object)) {
                lacks.push(by_spec(format!("the driver {} is still there", name_of(object))));
            }
        }
    }

    /// What still runs of a cluster that is to be parked.
    fn unparked(&self) -> Vec<Lack> {
        let running = self.running.keys().map(|name| format!("the application of {name} runs"));
        let at_one =
            |set: &&Value| set["spec"]["replicas"] != 0 || set["status"]["replicas"].as_u64() > Some(0);
        let sets = self.stored.all(SETS).into_iter().filter(at_one);
        let sets = sets.map(|set| format!("the StatefulSet {} is not at 0", name_of(set)));
        running.chain(sets).map(by_spec).collect()
    }
}

/// Whether this word stands anywhere in it.
fn mentions(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text == word,
        Value::Array(all) => all.iter().any(|it| mentions(it, word)),
        Value::Object(all) => all.values().any(|it| mentions(it, word)),
        _ => false,
    }
}

fn is_enabled(member: &Value) -> bool {
    member["spec"]["desiredState"] != "Disabled"
}

/// Whether all pools are to have nobody.
pub(crate) fn is_to_be_parked(cluster: &Value) -> bool {
    let pools = cluster["spec"]["pools"].as_array();
    pools.is_none_or(|pools| pools.iter().all(|pool| pool["threshold"]["nodes"] == 0))
}

fn by_spec(what: String) -> Lack {
    Lack { what, of_machines: false }
}

fn by_machines(what: String) -> Lack {
    Lack { what, of_machines: true }
}
