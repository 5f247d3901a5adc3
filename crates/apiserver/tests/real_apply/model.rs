//! The same request through our functions, with the little that a server does around them.

use jiff::Timestamp;
use muster_apiserver::apply::{
    ApplyError, PatchError, Write as By, apply, json_patch, keep_times_of_equal, merge_patch, reset_by_main,
    reset_by_status, strategic_merge_patch, track_update,
};
use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::server::{Refusal, Request, Write};

/// What only a server knows, and what changes with every write.
const KEPT_BY_SERVER: [&str; 4] = ["uid", "creationTimestamp", "generation", "resourceVersion"];

/// What the request should lead to.
pub(crate) fn expected(
    kind: &Kind,
    live: Option<&Value>,
    request: &Request,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let reset = if request.subresource.is_empty() { reset_by_main(true) } else { reset_by_status() };
    let by = By {
        typings: &kind.typings,
        api_version: &kind.api_version,
        kind: &kind.name,
        subresource: request.subresource,
        manager: &request.manager,
        reset: &reset,
        empty: &kind.empty,
        now,
    };
    let mut new = match &request.write {
        Write::Apply { config, force } => {
            let mut new = apply(live, config, *force, &by).map_err(|error| refused(&error))?.object;
            kind.default(&mut new);
            omit_empty(kind, &mut new);
            new
        }
        Write::Create(object) | Write::Replace(object) => tracked(kind, live, object.clone(), &by),
        Write::Merge(patch) => {
            tracked(kind, live, merge_patch(live.unwrap(), patch).map_err(|error| unpatched(&error))?, &by)
        }
        Write::Json(patch) => {
            tracked(kind, live, json_patch(live.unwrap(), patch).map_err(|error| unpatched(&error))?, &by)
        }
        Write::Strategic(patch) => {
            let new = strategic_merge_patch(live.unwrap(), patch, &kind.merge_keys)
                .map_err(|error| unpatched(&error))?;
            tracked(kind, live, new, &by)
        }
    };
    prepare(live.unwrap_or(&kind.empty), &mut new, request.subresource);
    if kind.namespaced {
        new["metadata"]["namespace"] = json!("default");
    }
    if let Some(live) = live {
        keep_times_of_equal(live, &mut new);
    }
    Ok(new)
}

fn tracked(kind: &Kind, live: Option<&Value>, mut new: Value, by: &By<'_>) -> Value {
    if kind.is_custom() {
        // A custom resource's metadata is read into its type, in which what is empty is not there.
        let empty = |value: &Value| *value == json!([]) || *value == json!({}) || value.is_null();
        new["metadata"].as_object_mut().unwrap().retain(|_, value| !empty(value));
        kind.prune(&mut new);
        kind.default(&mut new);
    }
    omit_empty(kind, &mut new);
    track_update(live, new, by)
}

/// A built-in kind is read into its type, which is printed without empty lists and maps.
fn omit_empty(kind: &Kind, value: &mut Value) {
    if kind.is_custom() {
        return;
    }
    match value {
        Value::Object(fields) => {
            let maps = ["labels", "annotations", "data"];
            fields.retain(|name, value| {
                let empty_map = maps.contains(&name.as_str()) && *value == json!({});
                !(value.is_null() || *value == json!([]) && name != "managedFields" || empty_map)
            });
            fields.values_mut().for_each(|value| omit_empty(kind, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| omit_empty(kind, item)),
        _ => {}
    }
}

/// What a write cannot change stays as it is.
fn prepare(live: &Value, new: &mut Value, subresource: &str) {
    let owners = new["metadata"].get("managedFields").cloned();
    let status = if subresource.is_empty() { live.get("status") } else { new.get("status") }.cloned();
    if subresource.is_empty() {
        for name in KEPT_BY_SERVER {
            put(&mut new["metadata"], name, live["metadata"].get(name).cloned());
        }
    } else {
        *new = live.clone();
    }
    put(new, "status", status);
    put(&mut new["metadata"], "managedFields", owners);
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    let object = object.as_object_mut().unwrap();
    match value {
        Some(value) => object.insert(name.into(), value),
        None => object.remove(name),
    };
}

fn refused(error: &ApplyError) -> Refusal {
    let code = match error {
        ApplyError::Conflicts(_) => 409,
        ApplyError::BadRequest(_) => 400,
        ApplyError::Internal(_) => 500,
    };
    let mut causes = Vec::new();
    if let ApplyError::Conflicts(conflicts) = error {
        causes = conflicts.causes().into_iter().map(|cause| (cause.field, cause.message)).collect();
        causes.sort();
    }
    Refusal { code, message: error.to_string(), causes }
}

fn unpatched(error: &PatchError) -> Refusal {
    let code = match error {
        PatchError::BadRequest(_) => 400,
        PatchError::TooLarge(_) => 413,
        PatchError::DoesNotApply(_) => 422,
        PatchError::Internal(_) => 500,
    };
    // The server has no words for a patch that does not apply.
    let rejected = "the server rejected our request due to an error in our request".to_owned();
    let message = if code == 422 { rejected } else { error.to_string() };
    Refusal { code, message, causes: Vec::new() }
}

/// The object without what differs with every write.
pub(crate) fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    for name in KEPT_BY_SERVER {
        put(&mut object["metadata"], name, None);
    }
    object
}

/// The time of the last write that the owners show.
pub(crate) fn last_time(object: &Value) -> Option<Timestamp> {
    let owners = object["metadata"]["managedFields"].as_array()?;
    owners.iter().filter_map(|owner| owner["time"].as_str()?.parse().ok()).max()
}
