//! What is really so, by what is stored and by what the agents do: what has to be the case where status says Ready.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use muster_api::names::Role;
use muster_apiserver::store::{Change, ChangeKind, Document, Key};
use muster_core::manager::report::Activity;
use muster_core::manager::stamp::Term;
use muster_test_agents::Fleet;
use muster_test_model::{App, Node};
use serde_json::Value;
use tokio::time::Instant;

use super::samples::{CLUSTER, NAMESPACE, Software};

/// Something without which a cluster is not Ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lack {
    /// What it is.
    pub(crate) what: String,
    /// Whether it comes and goes with machines, so that nobody knows of it at once.
    pub(crate) of_machines: bool,
}

/// All that is stored, as it was told change by change. What is looked at is read once.
#[derive(Default)]
pub(crate) struct Stored(BTreeMap<Arc<str>, BTreeMap<String, Object>>);

struct Object {
    document: Document,
    read: OnceCell<Value>,
    /// When it was stored.
    at: Instant,
}

/// For how long what is stored is on its way to whoever watches.
const MOMENT: Duration = Duration::from_millis(20);

impl Object {
    fn value(&self) -> &Value {
        self.read.get_or_init(|| self.document.value())
    }
}

impl Stored {
    pub(crate) fn take(&mut self, change: &Change) {
        let Key { resource, name, .. } = &*change.key;
        let of_kind = self.0.entry(resource.clone()).or_default();
        match change.kind {
            ChangeKind::Deleted => drop(of_kind.remove(name)),
            ChangeKind::Added | ChangeKind::Modified => {
                let object =
                    Object { document: change.object.clone(), read: OnceCell::new(), at: Instant::now() };
                drop(of_kind.insert(name.clone(), object));
            }
        }
    }

    /// The object of this name.
    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<&Value> {
        self.0.get(resource)?.get(name).map(Object::value)
    }

    /// Whether this object is like this only since a moment ago: nobody can know yet.
    fn is_news(&self, resource: &str, name: &str) -> bool {
        let object = self.0.get(resource).and_then(|of_kind| of_kind.get(name));
        object.is_some_and(|object| object.at.elapsed() < MOMENT)
    }

    /// All objects of this kind.
    pub(crate) fn all(&self, resource: &str) -> Vec<&Value> {
        self.0.get(resource).into_iter().flat_map(BTreeMap::values).map(Object::value).collect()
    }

    /// How many there are of this kind.
    pub(crate) fn count(&self, resource: &str) -> usize {
        self.0.get(resource).map_or(0, BTreeMap::len)
    }
}

/// Looks at everything.
pub(crate) struct Truth<'a> {
    pub(crate) stored: &'a Stored,
    pub(crate) fleet: &'a Fleet,
    pub(crate) software: Software,
}

pub(crate) const MEMBERS: &str = "muster.dev/members";
pub(crate) const CLUSTERS: &str = "muster.dev/replicatedclusters";
const SETS: &str = "apps/statefulsets";
const PODS: &str = "/pods";
const CONFIGS: &str = "/configmaps";

/// What an application does, and in which term.
type Doing = (Role, Activity, Option<Term>);

impl Truth<'_> {
    /// What is lacking for this cluster to be Ready as its spec has it.
    pub(crate) fn lacks(&self, cluster: &Value) -> Vec<Lack> {
        let mut lacks = Vec::new();
        let pools = cluster["spec"]["pools"].as_array().cloned().unwrap_or_default();
        let nodes = |pool: &Value| pool["threshold"]["nodes"].as_u64().unwrap_or_default();
        let wanted: u64 = pools.iter().map(nodes).sum();
        if wanted == 0 {
            return self.unparked();
        }
        let members = self.stored.all(MEMBERS);
        for pool in &pools {
            let there = members.iter().filter(|member| member["spec"]["pool"] == pool["name"]).count();
            if there as u64 != nodes(pool) {
                lacks.push(by_spec(format!("pool {} has {there} members", pool["name"])));
            }
        }
        for member in members.iter().copied() {
            self.lacks_of(cluster, member, &mut lacks);
        }
        self.lacks_of_primaries(cluster, members.len(), &mut lacks);
        lacks
    }

    /// What is lacking for a Member to be Ready as its own spec has it.
    pub(crate) fn lacks_of_member(&self, cluster: &Value, member: &Value) -> Vec<Lack> {
        // Its cluster may want something else of it by now; that is not its own affair.
        let mut cluster = cluster.clone();
        let workload = &member["spec"]["workload"];
        cluster["spec"]["engine"]["version"] = workload["version"].clone();
        let config = self.stored.get(CONFIGS, workload["config"].as_str().unwrap_or_default());
        let size = config.map(|config| config["data"]["parameters.size"].clone());
        cluster["spec"]["engine"]["parameters"]["size"] = size.unwrap_or_else(|| "1".into());
        // One that is on its way out is itself until it stops.
        let mut member = member.clone();
        member["metadata"]["deletionTimestamp"] = Value::Null;
        let mut lacks = Vec::new();
        self.lacks_of(&cluster, &member, &mut lacks);
        lacks
    }

    /// What is lacking for this Member to be what this cluster's spec says, and Ready.
    fn lacks_of(&self, cluster: &Value, member: &Value, lacks: &mut Vec<Lack>) {
        let name = member["metadata"]["name"].as_str().unwrap_or_default();
        if member["metadata"]["deletionTimestamp"].is_string() {
            lacks.push(by_spec(format!("{name} is on its way out")));
        }
        for kind in ["StorageReady", "WorkloadReady"] {
            if !says(member, kind, "True") {
                lacks.push(by_machines(format!("the status of {name} does not say {kind}")));
            }
        }
        let version = cluster["spec"]["engine"]["version"].as_str().unwrap_or("1");
        let workload = &member["spec"]["workload"];
        if workload["version"] != version {
            lacks.push(by_spec(format!("{name} has version {}", workload["version"])));
        }
        let size = cluster["spec"]["engine"]["parameters"]["size"].as_str().unwrap_or("1");
        let config = self.stored.get(CONFIGS, workload["config"].as_str().unwrap_or_default());
        let runs = config.map(|config| config["data"]["parameters.size"].clone()).unwrap_or_default();
        if runs != size {
            lacks.push(by_spec(format!("{name} is configured with size {runs}")));
        }
        self.lacks_of_workload(name, version, workload, lacks);
        let doing = self.doing();
        match doing.get(name) {
            Some((_, Activity::Serving | Activity::Donor, term)) => {
                if !self.software.elects && *term != newest(&doing) {
                    lacks.push(by_machines(format!("{name} runs in term {term:?}")));
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
        let Some(pod) = self.stored.get(PODS, &format!("{name}-0")) else {
            return lacks.push(by_machines(format!("{name} has no Pod")));
        };
        if pod["metadata"]["deletionTimestamp"].is_string() {
            lacks.push(by_machines(format!("the Pod of {name} is on its way out")));
        }
        let image = format!("ledger:{version}");
        let containers = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
        let volumes = pod["spec"]["volumes"].to_string();
        let config = workload["config"].as_str().unwrap_or_default();
        if !containers.iter().any(|it| it["name"] == "main" && it["image"] == image.as_str()) {
            lacks.push(by_spec(format!("the Pod of {name} does not run {image}")));
        }
        if !volumes.contains(config) {
            lacks.push(by_spec(format!("the Pod of {name} does not have its configuration")));
        }
        if self.fleet.pod_of(NAMESPACE, name).as_deref() != pod["metadata"]["uid"].as_str() {
            lacks.push(by_machines(format!("the agent of {name} runs in another Pod")));
        }
    }

    fn lacks_of_primaries(&self, cluster: &Value, members: usize, lacks: &mut Vec<Lack>) {
        let doing = self.doing();
        let default = if self.software.all { members } else { 1 };
        let asked = cluster["spec"]["primaries"].as_u64().and_then(|asked| usize::try_from(asked).ok());
        let wanted = if self.software.elects { 1 } else { asked.unwrap_or(default).min(members) };
        let newest = newest(&doing);
        let serves = |(role, activity, term): &&Doing| {
            *role == Role::Primary
                && *activity == Activity::Serving
                && (*term == newest || self.software.elects)
        };
        let serving = doing.values().filter(serves).count();
        if serving < wanted || (serving > wanted && !self.software.all) {
            lacks.push(by_machines(format!("{serving} of {wanted} primaries serve: {doing:?}")));
        }
    }

    /// What still runs of a cluster that is to be parked.
    fn unparked(&self) -> Vec<Lack> {
        let running = self.doing().into_keys().map(|name| format!("the application of {name} runs"));
        let at_one =
            |set: &&Value| set["spec"]["replicas"] != 0 || set["status"]["replicas"].as_u64() > Some(0);
        let sets = self.stored.all(SETS).into_iter().filter(at_one);
        let sets = sets.map(|set| format!("the StatefulSet {} is not at 0", set["metadata"]["name"]));
        running.chain(sets).map(by_spec).collect()
    }

    /// What the applications do that run.
    fn doing(&self) -> BTreeMap<String, Doing> {
        let what = |app: &App| (app.role, app.activity(), app.term);
        let each = |node: &Node| Some((node.name.clone(), what(node.app()?)));
        let all = self.fleet.look(NAMESPACE, CLUSTER, |nodes| nodes.values().filter_map(each).collect());
        all.unwrap_or_default()
    }
}

fn newest(doing: &BTreeMap<String, Doing>) -> Option<Term> {
    doing.values().map(|(_, _, term)| *term).max().flatten()
}

fn by_spec(what: String) -> Lack {
    Lack { what, of_machines: false }
}

fn by_machines(what: String) -> Lack {
    Lack { what, of_machines: true }
}

/// Whether this condition has this status, at the object's generation.
pub(crate) fn says(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let generation = &object["metadata"]["generation"];
    let found =
        |it: &Value| it["type"] == kind && it["status"] == status && it["observedGeneration"] == *generation;
    conditions.is_some_and(|all| all.iter().any(found))
}

/// The resource of a change.
pub(crate) fn resource(change: &Change) -> &Arc<str> {
    &change.key.resource
}
