//! Stateful sets of at most one Pod, updated on delete.

use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use serde_json::{Value, json};

use super::objects::{at, is_ending, revision, status_patch, text};
use super::seen::Kind;
use super::work::{Again, Work};
use crate::state::Key;

const REVISION: &str = "controller-revision-hash";

impl Work {
    pub(super) async fn keep_set(&mut self, key: &Key) -> Result<(), Again> {
        let Some(set) = self.seen.get(Kind::StatefulSet, key).cloned() else {
            return self.collect(key).await;
        };
        if is_ending(&set) {
            return Ok(());
        }
        let (namespace, name) = key;
        let pod_key = (namespace.clone(), format!("{name}-0"));
        let wanted = at(&set, "/spec/replicas").as_u64().unwrap_or(1).min(1);
        let pods = Kind::Pod.api(&self.client, namespace);
        self.settle_whose(&set, &pod_key).await?;
        match (wanted, self.seen.get(Kind::Pod, &pod_key)) {
            (1, None) => {
                let pod: DynamicObject =
                    serde_json::from_value(pod_of(&set, name)).map_err(kube::Error::SerdeError)?;
                match pods.create(&PostParams::default(), &pod).await {
                    Ok(created) => drop(self.seen.put(Kind::Pod, &created)),
                    // It is there, and will be seen.
                    Err(kube::Error::Api(status)) if status.code == 409 => {}
                    Err(error) => return Err(error.into()),
                }
            }
            (0, Some(pod)) if !is_ending(pod) && owned_by(pod, text(&set, "/metadata/uid")) => {
                pods.delete(&pod_key.1, &DeleteParams::default()).await?;
            }
            _ => {}
        }
        self.report_set(key, &set, &pod_key).await
    }

    /// Lets go of a Pod that it does not select any more, and takes one that it selects and that is nobody's.
    async fn settle_whose(&mut self, set: &Value, pod_key: &Key) -> Result<(), Again> {
        let Some(pod) = self.seen.get(Kind::Pod, pod_key).filter(|pod| !is_ending(pod)) else {
            return Ok(());
        };
        let ours = owned_by(pod, text(set, "/metadata/uid"));
        let free = at(pod, "/metadata/ownerReferences").as_array().is_none_or(Vec::is_empty);
        let owners = match (selects(set, pod), ours) {
            (false, true) => Value::Null,
            (true, false) if free => owner_references(set),
            _ => return Ok(()),
        };
        let patch = json!({"metadata": {"uid": at(pod, "/metadata/uid"), "ownerReferences": owners}});
        let pods = Kind::Pod.api(&self.client, &pod_key.0);
        let written = pods.patch(&pod_key.1, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.seen.put(Kind::Pod, &written);
        Ok(())
    }

    /// The stateful set is gone, and its Pod has to follow.
    async fn collect(&mut self, key: &Key) -> Result<(), Again> {
        let pod_key = (key.0.clone(), format!("{}-0", key.1));
        let Some(pod) = self.seen.get(Kind::Pod, &pod_key).filter(|_| self.collects) else { return Ok(()) };
        let owner = text(pod, "/metadata/ownerReferences/0/kind");
        if owner != "StatefulSet" || is_ending(pod) {
            return Ok(());
        }
        let uid = Some(text(pod, "/metadata/uid").to_owned());
        let preconditions = Some(Preconditions { uid, ..Preconditions::default() });
        let params = DeleteParams { preconditions, ..DeleteParams::default() };
        Kind::Pod.api(&self.client, &key.0).delete(&pod_key.1, &params).await?;
        Ok(())
    }

    async fn report_set(&mut self, key: &Key, set: &Value, pod_key: &Key) -> Result<(), Again> {
        let newest = revision(&key.1, at(set, "/spec/template"));
        let pod = self.seen.get(Kind::Pod, pod_key).filter(|pod| owned_by(pod, text(set, "/metadata/uid")));
        let one = |is: bool| u32::from(is);
        let exists = pod.is_some();
        let updated = pod.is_some_and(|pod| at(pod, "/metadata/labels")[REVISION] == newest.as_str());
        let ready = pod.is_some_and(is_ready);
        let first = Some(text(set, "/status/currentRevision")).filter(|it| !it.is_empty());
        let status = json!({
            "observedGeneration": at(set, "/metadata/generation"),
            "replicas": one(exists),
            "readyReplicas": one(ready),
            "availableReplicas": one(ready),
            "currentReplicas": one(exists),
            "updatedReplicas": one(updated),
            "currentRevision": first.unwrap_or(&newest),
            "updateRevision": newest,
            "collisionCount": 0,
        });
        let Some(patch) = status_patch(&counted(set), &status) else { return Ok(()) };
        let sets = Kind::StatefulSet.api(&self.client, &key.0);
        let written = sets.patch_status(&key.1, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.seen.put(Kind::StatefulSet, &written);
        Ok(())
    }
}

/// With the counts that are left out when they are 0.
fn counted(set: &Value) -> Value {
    let mut set = set.clone();
    for count in ["replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"] {
        if set["status"].is_object() && set["status"][count].is_null() {
            set["status"][count] = 0.into();
        }
    }
    set
}

fn selects(set: &Value, pod: &Value) -> bool {
    let wanted = at(set, "/spec/selector/matchLabels").as_object();
    wanted.is_some_and(|wanted| wanted.iter().all(|(key, value)| at(pod, "/metadata/labels")[key] == *value))
}

fn owned_by(pod: &Value, uid: &str) -> bool {
    let owners = at(pod, "/metadata/ownerReferences").as_array();
    owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == uid))
}

/// Whether its condition says that it is ready.
fn is_ready(pod: &Value) -> bool {
    let conditions = at(pod, "/status/conditions").as_array();
    let says = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    !is_ending(pod) && conditions.is_some_and(|all| all.iter().any(says))
}

fn owner_references(set: &Value) -> Value {
    json!([{
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": at(set, "/metadata/name"),
        "uid": at(set, "/metadata/uid"), "controller": true, "blockOwnerDeletion": true,
    }])
}

fn pod_of(set: &Value, name: &str) -> Value {
    let template = at(set, "/spec/template");
    let mut metadata = template["metadata"].clone();
    if !metadata.is_object() {
        metadata = json!({});
    }
    metadata["name"] = format!("{name}-0").into();
    metadata["namespace"] = at(set, "/metadata/namespace").clone();
    metadata["labels"][REVISION] = revision(name, template).into();
    metadata["labels"]["statefulset.kubernetes.io/pod-name"] = format!("{name}-0").into();
    metadata["labels"]["apps.kubernetes.io/pod-index"] = "0".into();
    metadata["ownerReferences"] = owner_references(set);
    let mut spec = template["spec"].clone();
    spec["hostname"] = format!("{name}-0").into();
    spec["subdomain"] = at(set, "/spec/serviceName").clone();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}
