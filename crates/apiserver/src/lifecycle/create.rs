//! Creation: an object gets a name, a uid, a time and a first generation.

use serde_json::Value;

use super::{Source, Traits, metadata};

/// The longest prefix of a generated name: five characters follow, and a name has at most 63.
const MAX_GENERATED_PREFIX: usize = 58;

/// What the request says about the object besides its body.
#[derive(Clone, Copy, Debug)]
pub struct Creation<'a> {
    /// The namespace of the path.
    pub namespace: Option<&'a str>,
    /// What the resource needs to be known for.
    pub traits: Traits,
}

/// Why a body cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The body is no object.
    #[error("the body of the request is not an object")]
    NotAnObject,
    /// A version is given by the server.
    #[error("resourceVersion should not be set on objects to be created")]
    VersionGiven,
    /// Body and path disagree.
    #[error("the namespace of the provided object does not match the namespace sent on the request")]
    OtherNamespace,
    /// It cannot be found without a name.
    #[error("name or generateName is required")]
    NoName,
}

/// The object as it is to be stored.
pub fn create(
    mut object: Value,
    creation: Creation<'_>,
    source: &mut impl Source,
) -> Result<Value, CreateError> {
    if !object.is_object() || metadata::fields(&mut object).is_none() {
        return Err(CreateError::NotAnObject);
    }
    if !matches!(metadata::text(&object, "resourceVersion"), "" | "0") {
        return Err(CreateError::VersionGiven);
    }
    place(&mut object, creation)?;
    name(&mut object, source)?;
    for given_by_the_server in
        ["resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        metadata::set(&mut object, given_by_the_server, None);
    }
    metadata::set(&mut object, "uid", Some(source.uid().into()));
    metadata::set(&mut object, "creationTimestamp", Some(metadata::time_text(source.now()).into()));
    // Where the server does not count generations, what the client says stays.
    if creation.traits.generation {
        metadata::set(&mut object, "generation", Some(1.into()));
    }
    if creation.traits.status
        && !creation.traits.first_status
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    Ok(object)
}

fn place(object: &mut Value, creation: Creation<'_>) -> Result<(), CreateError> {
    let given = metadata::text(object, "namespace");
    match creation.namespace {
        Some(namespace) if creation.traits.namespaced => {
            if !given.is_empty() && given != namespace {
                return Err(CreateError::OtherNamespace);
            }
            metadata::set(object, "namespace", Some(namespace.into()));
        }
        _ => metadata::set(object, "namespace", None),
    }
    Ok(())
}

fn name(object: &mut Value, source: &mut impl Source) -> Result<(), CreateError> {
    if !metadata::text(object, "name").is_empty() {
        return Ok(());
    }
    let prefix = metadata::text(object, "generateName");
    if prefix.is_empty() {
        return Err(CreateError::NoName);
    }
    let cut = prefix.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_GENERATED_PREFIX).last();
    let end = if prefix.len() <= MAX_GENERATED_PREFIX { prefix.len() } else { cut.unwrap_or(0) };
    let name = format!("{}{}", &prefix[..end], source.suffix());
    metadata::set(object, "name", Some(name.into()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Counting;
    use super::*;

    const WIDGETS: Traits = Traits {
        namespaced: true,
        status: true,
        generation: true,
        status_writes_metadata: false,
        first_status: false,
    };

    fn created(object: Value, traits: Traits) -> Result<Value, CreateError> {
        create(object, Creation { namespace: Some("ns"), traits }, &mut Counting::default())
    }

    #[test]
    fn the_server_gives_what_is_its_own_and_keeps_the_rest() {
        let sent = json!({
            "metadata": {"name": "a", "uid": "mine", "generation": 9, "selfLink": "x", "labels": {"l": "v"}, "resourceVersion": "0",
                "deletionTimestamp": "2020-01-01T00:00:00Z", "creationTimestamp": null},
            "spec": {"n": 1}, "status": {"ready": true},
        });
        let expected = json!({
            "metadata": {"name": "a", "namespace": "ns", "uid": "uid-1", "generation": 1, "labels": {"l": "v"},
                "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"n": 1},
        });
        assert_eq!(created(sent, WIDGETS), Ok(expected));
    }

    #[test]
    fn without_a_path_of_its_own_status_is_like_any_field() {
        let plain = Traits { status: false, generation: false, ..WIDGETS };
        let object = created(json!({"metadata": {"name": "a"}, "status": {"x": 1}}), plain).unwrap();
        assert_eq!(object["status"], json!({"x": 1}));
        assert_eq!(object["metadata"].get("generation"), None);
    }

    #[test]
    fn a_name_is_given_or_generated() {
        let object = created(json!({"metadata": {"generateName": "job-"}}), WIDGETS).unwrap();
        assert_eq!(object["metadata"]["name"], "job-00001");
        let long = created(json!({"metadata": {"generateName": "x".repeat(80)}}), WIDGETS).unwrap();
        assert_eq!(long["metadata"]["name"].as_str().map(str::len), Some(63));
        assert_eq!(created(json!({"metadata": {}}), WIDGETS), Err(CreateError::NoName));
        assert_eq!(created(json!({}), WIDGETS), Err(CreateError::NoName));
    }

    #[test]
    fn body_and_path_must_agree() {
        let elsewhere = json!({"metadata": {"name": "a", "namespace": "other"}});
        assert_eq!(created(elsewhere, WIDGETS), Err(CreateError::OtherNamespace));
        let cluster = Traits { namespaced: false, ..WIDGETS };
        let object = created(json!({"metadata": {"name": "a", "namespace": "other"}}), cluster).unwrap();
        assert_eq!(object["metadata"].get("namespace"), None);
        assert_eq!(
            created(json!({"metadata": {"name": "a", "resourceVersion": "5"}}), WIDGETS),
            Err(CreateError::VersionGiven)
        );
        assert_eq!(created(json!([1]), WIDGETS), Err(CreateError::NotAnObject));
        assert_eq!(created(json!({"metadata": 1}), WIDGETS), Err(CreateError::NotAnObject));
    }
}
