//! What a Pod gets from the class of its runtime.

use serde_json::Value;

use super::claim::forbidden;
use super::fields::{at, entries, given, inner, list, set, text};
use crate::error::ApiError;
use crate::kind::Around;
use crate::lifecycle::metadata;

const CLASSES: &str = "node.k8s.io/runtimeclasses";

/// A Pod runs by a class that there is, takes what that class takes besides, and goes to the nodes that have it.
pub(super) fn runtime_class(object: &mut Value, around: &dyn Around) -> Result<(), ApiError> {
    let pod = metadata::text(object, "name").to_owned();
    let spec = inner(object, "spec");
    let name = text(spec, "runtimeClassName").to_owned();
    if name.is_empty() {
        return Ok(());
    }
    let refuse = |why: String| Err(forbidden("pods", &pod, &why));
    let Some(class) = around.get(CLASSES, "", &name) else {
        return refuse(format!("pod rejected: RuntimeClass {name:?} not found"));
    };
    if let Some(overhead) = given(at(&class, "/overhead"), "podFixed") {
        if given(spec, "overhead").is_some_and(|own| own != overhead) {
            return refuse(
                "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead".to_owned(),
            );
        }
        set(spec, "overhead", overhead.clone());
    }
    let places = at(&class, "/scheduling");
    for (key, value) in entries(places, "nodeSelector") {
        let wish = inner(spec, "nodeSelector");
        let (own, wanted) = (text(wish, key), value.as_str().unwrap_or_default());
        if given(wish, key).is_some() && own != wanted {
            return refuse(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted}; pod.spec.nodeSelector[{key}] = {own}"
            ));
        }
        set(wish, key, wanted);
    }
    let mut tolerations = list(spec, "tolerations").to_vec();
    let more = list(places, "tolerations").iter().filter(|one| !tolerations.contains(one));
    let more: Vec<Value> = more.cloned().collect();
    if !more.is_empty() {
        tolerations.extend(more);
        set(spec, "tolerations", tolerations);
    }
    Ok(())
}

/// What the runtime itself takes is known from its class only.
pub(super) fn check_overhead(object: &Value) -> Result<(), ApiError> {
    let spec = at(object, "/spec");
    if text(spec, "runtimeClassName").is_empty() && entries(spec, "overhead").next().is_some() {
        let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return Err(forbidden("pods", metadata::text(object, "name"), why));
    }
    Ok(())
}
