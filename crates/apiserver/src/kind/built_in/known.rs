//! Which kinds kube-apiserver knows, whether they are served or not: a body of one is read before it is refused.

use serde_json::Value;

use super::read;
use super::types::{definition, struct_of};

/// Kinds that are about the API itself.
const OF_THE_API: [&str; 12] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "Status",
    "UpdateOptions",
    "WatchEvent",
];

/// Reads an object as one of this kind. Gives what is said of a value that cannot be read; none if there is no such kind.
pub(crate) fn read_known(api_version: &str, kind: &str, mut object: Value) -> Option<Result<(), String>> {
    let definition = definition(api_version, kind);
    if is_kind(&definition) {
        return Some(read::read(&definition, &mut object).map(drop));
    }
    let is_list = definition.strip_suffix("List").is_some_and(is_kind);
    let is_of_the_api = api_version == "v1" && OF_THE_API.contains(&kind);
    (is_list || is_of_the_api).then_some(Ok(()))
}

/// Whether the definition is of what can be sent by itself.
fn is_kind(definition: &str) -> bool {
    struct_of(definition).is_some_and(|fields| fields.contains_key("kind") && fields.contains_key("metadata"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_told_from_parts_of_them() {
        let known = |version: &str, kind: &str| read_known(version, kind, json!({})).is_some();
        assert!(known("v1", "Secret") && known("apps/v1", "DeploymentList") && known("v1", "Status"));
        assert!(!known("v1", "Container") && !known("v1", "Nonsense") && !known("apps/v1", "Secret"));
        let wrong = read_known("v1", "Secret", json!({"data": {"a": "b"}}));
        assert_eq!(wrong, Some(Err("illegal base64 data at input byte 0".to_owned())));
    }
}
