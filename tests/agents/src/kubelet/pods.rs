//! Pods: started when their claims are bound, ready when the agent says so, ended when they are deleted.

use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use muster_core::manager::report::Instance;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::objects::{NODE, at, is_ending, member_of, status_patch, text};
use super::seen::Kind;
use super::work::{Again, Work};
use crate::state::Key;

/// What runs in a Pod.
#[derive(Clone, Debug)]
pub(super) struct Running {
    /// Which Pod of that name.
    uid: String,
    /// The member that it was started for, with its cluster: what becomes of labels later is nothing to a kubelet.
    member: Option<(String, String)>,
    ip: String,
    started: String,
    /// The run of the agent in its container; none while the container has ended.
    run: Option<Instance>,
    /// How often the container was started again.
    restarts: u32,
    /// When the container ended last.
    ended: Option<String>,
    /// When it is to be started again.
    again: Option<Instant>,
    /// When the Pod has ended, once it is being deleted.
    until: Option<Instant>,
    /// Since when its readiness is what it is.
    ready: (bool, String),
}

impl Work {
    pub(super) async fn keep_pod(&mut self, key: &Key) -> Result<(), Again> {
        let pod = self.seen.get(Kind::Pod, key).cloned();
        let uid = pod.as_ref().map(|pod| text(pod, "/metadata/uid").to_owned());
        if let Some(gone) =
            self.running.get(key).filter(|running| Some(&running.uid) != uid.as_ref()).cloned()
        {
            self.end(key, &gone);
        }
        let Some(pod) = pod else { return Ok(()) };
        if is_ending(&pod) {
            return self.end_pod(key, &pod).await;
        }
        if self.running.contains_key(key) && self.is_off(key, &pod) {
            // Nobody is there to see it: the Pod stays as it was last said to be.
            return Ok(());
        }
        if !self.running.contains_key(key) && !self.begin(key, &pod) {
            return self.write_status(key, &pod, &json!({"phase": "Pending"})).await;
        }
        let again = self.keep_container(key, &pod);
        let status = self.status(key, &pod);
        self.write_status(key, &pod, &status).await?;
        again.map_or(Ok(()), |at| Err(Again::At(at)))
    }

    /// Whether the machine of this Pod is off.
    fn is_off(&self, key: &Key, pod: &Value) -> bool {
        self.member(key, pod).is_some_and(|(_, member)| self.fleet.is_dark(&key.0, &member))
    }

    /// The member whose Pod this is, with its cluster.
    fn member(&self, key: &Key, pod: &Value) -> Option<(String, String)> {
        self.running.get(key).map_or_else(|| member_of(pod), |running| running.member.clone())
    }

    /// Starts what runs in the Pod, if it can; false if it has to wait.
    fn begin(&mut self, key: &Key, pod: &Value) -> bool {
        let member = member_of(pod).map(|(cluster, member)| (cluster, (key.0.clone(), member)));
        let knobs = self.knobs();
        if member.as_ref().is_some_and(|(_, member)| knobs.never_scheduled.contains(member)) {
            return false;
        }
        let Some(volume) = self.volume(key, pod) else { return false };
        let uid = text(pod, "/metadata/uid").to_owned();
        // One that ran before this kubelet looked keeps its address.
        let known = Some(text(pod, "/status/podIP").to_owned()).filter(|ip| !ip.is_empty());
        let ip = known.unwrap_or_else(|| self.next_address());
        let mut run = None;
        if let Some((cluster, member)) = member {
            self.fleet.add(&key.0, &cluster, &member.1);
            let known = self.volumes.insert(member.clone(), volume.clone());
            if known.is_some_and(|known| known != volume) {
                self.fleet.wipe(&key.0, &member.1);
            }
            self.fleet.set_address(&key.0, &member.1, Some(&ip));
            self.fleet.start(&key.0, &cluster, &member.1, Some(&uid));
            run = self.fleet.run(&key.0, &member.1);
        }
        let now = self.now();
        let running = Running {
            uid,
            member: member_of(pod),
            ip,
            started: known_or(text(pod, "/status/startTime"), &now),
            run,
            restarts: u32::try_from(
                at(pod, "/status/containerStatuses/0/restartCount").as_u64().unwrap_or(0),
            )
            .unwrap_or_default(),
            ended: None,
            again: None,
            until: None,
            ready: ready_since(pod).unwrap_or((false, now)),
        };
        self.running.insert(key.clone(), running);
        true
    }

    /// An address that no Pod has.
    fn next_address(&mut self) -> String {
        loop {
            self.addresses += 1;
            let [_, a, b, c] = self.addresses.to_be_bytes();
            let ip = format!("10.{a}.{b}.{c}");
            if !self.seen.has_address(&ip) {
                return ip;
            }
        }
    }

    /// The uids of the Pod's claims, once all of them are bound.
    fn volume(&self, key: &Key, pod: &Value) -> Option<String> {
        let volumes = at(pod, "/spec/volumes").as_array().cloned().unwrap_or_default();
        let mut uids = Vec::new();
        for claim in
            volumes.iter().filter_map(|volume| at(volume, "/persistentVolumeClaim/claimName").as_str())
        {
            let claim = self.seen.get(Kind::Claim, &(key.0.clone(), claim.to_owned()))?;
            if text(claim, "/status/phase") != "Bound" || is_ending(claim) {
                return None;
            }
            uids.push(text(claim, "/metadata/uid").to_owned());
        }
        Some(uids.join(","))
    }

    /// Sees whether the agent still is the one that was started, and starts it again when it ended.
    fn keep_container(&mut self, key: &Key, pod: &Value) -> Option<Instant> {
        let (cluster, member) = self.member(key, pod)?;
        let (now, restart) = (self.now(), self.knobs().restart);
        let run = self.fleet.run(&key.0, &member);
        let running = self.running.get_mut(key)?;
        match (running.run, run) {
            (Some(old), None) => {
                let _ = old;
                running.run = None;
                running.ended = Some(now);
                running.again = Some(Instant::now() + restart);
            }
            (old, Some(new)) if old != Some(new) => {
                running.run = Some(new);
                running.restarts += 1;
                running.ended.get_or_insert(now);
                running.again = None;
            }
            (None, None) if running.again.is_none_or(|at| at <= Instant::now()) => {
                running.again = None;
                let uid = running.uid.clone();
                self.fleet.start(&key.0, &cluster, &member, Some(&uid));
            }
            _ => {}
        }
        self.running.get(key)?.again
    }

    async fn end_pod(&mut self, key: &Key, pod: &Value) -> Result<(), Again> {
        let grace = self.knobs().grace;
        if self.is_off(key, pod) {
            // Its kubelet does not answer: the Pod stays until the machine returns or a person removes it.
            return Ok(());
        }
        if let Some(running) = self.running.get_mut(key) {
            let until = *running.until.get_or_insert_with(|| Instant::now() + grace);
            if until > Instant::now() {
                return Err(Again::At(until));
            }
            let gone = running.clone();
            self.end(key, &gone);
        }
        let uid = Some(text(pod, "/metadata/uid").to_owned());
        let preconditions = Some(Preconditions { uid, ..Preconditions::default() });
        let params = DeleteParams { grace_period_seconds: Some(0), preconditions, ..DeleteParams::default() };
        Kind::Pod.api(&self.client, &key.0).delete(&key.1, &params).await?;
        Ok(())
    }

    /// What ran in this Pod has ended.
    fn end(&mut self, key: &Key, gone: &Running) {
        self.running.remove(key);
        let Some(member) = key.1.strip_suffix("-0") else { return };
        if self.fleet.pod_of(&key.0, member).as_deref() == Some(gone.uid.as_str()) {
            self.fleet.stop(&key.0, member);
        }
    }

    fn status(&mut self, key: &Key, pod: &Value) -> Value {
        let member = self.member(key, pod);
        let now = self.now();
        let never = self.knobs().never_ready;
        let ready = member.as_ref().is_none_or(|(_, member)| {
            let held_back = never.contains(&(key.0.clone(), member.clone()));
            !held_back && self.fleet.is_ready(&key.0, member)
        });
        let has_agent = member.is_some();
        let Some(running) = self.running.get_mut(key) else { return json!({"phase": "Pending"}) };
        let ready = ready && (running.run.is_some() || !has_agent);
        if running.ready.0 != ready {
            running.ready = (ready, now);
        }
        let alive = running.run.is_some() || !has_agent;
        let containers = at(pod, "/spec/containers").as_array().cloned().unwrap_or_default();
        let containers: Vec<Value> =
            containers.iter().map(|it| container(it, running, alive, ready)).collect();
        json!({
            "phase": "Running", "podIP": running.ip, "podIPs": [{"ip": running.ip}], "hostIP": "10.0.0.1",
            "startTime": running.started, "conditions": conditions(running), "containerStatuses": containers,
        })
    }

    async fn write_status(&mut self, key: &Key, pod: &Value, status: &Value) -> Result<(), Again> {
        let pods = Kind::Pod.api(&self.client, &key.0);
        if status["phase"] == "Running" && text(pod, "/spec/nodeName").is_empty() {
            let target = json!({"apiVersion": "v1", "kind": "Node", "name": NODE});
            let binding = json!({
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": key.1}, "target": target,
            });
            let bound: Result<Value, _> =
                pods.create_subresource("binding", &key.1, &kube::api::PostParams::default(), &binding).await;
            bound?;
        }
        let Some(patch) = status_patch(pod, status) else { return Ok(()) };
        let written = pods.patch_status(&key.1, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.seen.put(Kind::Pod, &written);
        Ok(())
    }
}

/// What is known, or else this.
fn known_or(known: &str, otherwise: &str) -> String {
    if known.is_empty() { otherwise.to_owned() } else { known.to_owned() }
}

/// Since when its readiness is what its status says.
fn ready_since(pod: &Value) -> Option<(bool, String)> {
    let all = at(pod, "/status/conditions").as_array()?;
    let ready = all.iter().find(|condition| condition["type"] == "Ready")?;
    Some((ready["status"] == "True", text(ready, "/lastTransitionTime").to_owned()))
}

fn conditions(running: &Running) -> Value {
    let (ready, since) = &running.ready;
    let condition = |kind: &str, is: bool, since: &str| {
        let status = if is { "True" } else { "False" };
        json!({"type": kind, "status": status, "lastTransitionTime": since})
    };
    json!([
        condition("PodScheduled", true, &running.started),
        condition("Initialized", true, &running.started),
        condition("ContainersReady", *ready, since),
        condition("Ready", *ready, since),
    ])
}

fn container(spec: &Value, running: &Running, alive: bool, ready: bool) -> Value {
    let id = |restarts: u32| format!("sim://{}-{}-{restarts}", running.uid, text(spec, "/name"));
    let ended = running.ended.as_deref().unwrap_or(&running.started);
    let terminated = |restarts: u32| {
        json!({"terminated": {
            "exitCode": 137, "reason": "Error", "containerID": id(restarts),
            "startedAt": running.started, "finishedAt": ended,
        }})
    };
    let since = running.ended.as_deref().unwrap_or(&running.started);
    let state = if alive { json!({"running": {"startedAt": since}}) } else { terminated(running.restarts) };
    let before = running.restarts.checked_sub(1).map(terminated);
    json!({
        "name": text(spec, "/name"), "image": text(spec, "/image"), "imageID": text(spec, "/image"),
        "containerID": id(running.restarts), "restartCount": running.restarts, "ready": ready, "started": alive,
        "state": state, "lastState": before.unwrap_or_else(|| json!({})),
    })
}
