//! What must hold of every answer to a request that nothing was made to go wrong with.

use serde_json::Value;

/// The messages with which a real server too answers 500 without a reason, because it has not thought of these errors as
/// answers. `real_conformance` and `real_apply` hold them against it.
const EQUAL_500: [&str; 18] = [
    // An object that is to be created has a version, or any object one that is no number; so in a query.
    "resourceVersion should not be set on objects to be created",
    "strconv.ParseUint: parsing",
    // What is applied does not fit its type, or cannot be held against who owned its fields.
    "failed to create typed",
    "failed to decode managed fields",
    "failed to create manager for existing fields",
    "failed to merge config",
    "failed to convert new object",
    // A strategic merge patch that cannot be merged.
    "no elements in any of the given slices",
    "list element types are not identical",
    "cannot merge lists without merge key",
    "merging lists cannot yet be specified in the patch",
    "unknown patch type",
    "does not contain declared merge key",
    "expected a []interface {}, but received",
    "The order in patch list",
    // One custom resource, asked for as the metadata of a list.
    "content is not a list",
    // A Pod is bound to what is no node, or has no name.
    "target.kind: Unsupported value",
    "target.name: Required value",
];

/// By design: a client asks for a version that is still to come, and is told to come back; so does the real server.
const EQUAL_504: [&str; 1] = ["Too large resource version"];

/// By design: nobody was named who could tell what containers say (`Server::serve_logs`).
const OURS_503: [&str; 1] = ["does not tell this API server what its containers say"];

/// Says what is wrong with an answer: that something broke, or an error in JSON that does not say what it is.
pub(crate) fn verdict(code: u16, content_type: &str, body: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(body);
    let known: &[&str] = match code {
        500 => &EQUAL_500,
        503 => &OURS_503,
        504 => &EQUAL_504,
        _ => &[],
    };
    // In the whole text, so that it is found in every form of an answer.
    let is_known = known.iter().any(|message| text.contains(message));
    if code >= 500 && !is_known {
        return Err(format!("something broke, {code}: {text}"));
    }
    if code < 400 || content_type != "application/json" || body.is_empty() {
        return Ok(());
    }
    let status: Value = serde_json::from_slice(body).map_err(|error| format!("{error}: {text}"))?;
    let says = |field: &str| status[field].as_str().is_some_and(|said| !said.is_empty());
    if status["kind"] != "Status" {
        return Err(format!("an error that is no Status: {text}"));
    }
    if status["code"] != code || !says("message") {
        return Err(format!("a Status without its code or a message: {text}"));
    }
    if !says("reason") && code != 500 {
        return Err(format!("a Status without a reason: {text}"));
    }
    Ok(())
}
