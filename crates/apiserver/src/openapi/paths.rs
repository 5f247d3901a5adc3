//! The paths of a resource, with what can be done at each.

use serde_json::{Map, Value, json};

use super::schemas::{self, DELETE_OPTIONS, PATCH, SCALE, STATUS};
use crate::kind::built_in::PLACE;
use crate::registry::Resource;

const FORMS: [&str; 2] = ["application/json", "application/yaml"];

/// The parameters of queries, with their types.
const LIST: &[(&str, &str)] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const DELETE_ALL: &[(&str, &str)] = &[
    ("continue", "string"),
    ("dryRun", "string"),
    ("fieldSelector", "string"),
    ("gracePeriodSeconds", "integer"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
];
const GET: &[(&str, &str)] = &[("resourceVersion", "string")];
const WRITE: &[(&str, &str)] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
const PATCH_QUERY: &[(&str, &str)] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];
const DELETE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

/// What is said of one operation.
struct Operation<'a> {
    action: &'a str,
    /// Its name: `read`, or `delete` and `Collection` around the group.
    verb: &'a str,
    about: String,
    description: String,
    query: &'a [(&'a str, &'a str)],
    body: Option<&'a str>,
    answer: &'a str,
    created: bool,
}

/// The paths of a resource.
pub(super) fn of(resource: &Resource) -> Vec<(String, Value)> {
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    let (root, plural) = (format!("/{root}/{}", resource.api_version()), &resource.plural);
    let scope = if resource.traits.namespaced { "namespaces/{namespace}/" } else { "" };
    let all = format!("{root}/{scope}{plural}");
    let mut paths = vec![(all.clone(), collection(resource)), (format!("{all}/{{name}}"), one(resource))];
    if resource.traits.namespaced {
        let list = Operation { about: format!("{}ForAllNamespaces", resource.kind_name), ..list(resource) };
        let mut everywhere = item(resource, &[], &[("get", list)]);
        everywhere["parameters"] = queries(&[("pretty", "string")]).into();
        paths.push((format!("{root}/{plural}"), everywhere));
    }
    let name = schemas::name(resource);
    if resource.traits.status {
        paths.push((format!("{all}/{{name}}/status"), part(resource, "Status", &name)));
    }
    if resource.scale.is_some() {
        paths.push((format!("{all}/{{name}}/scale"), part(resource, "Scale", SCALE)));
    }
    paths
}

fn list(resource: &Resource) -> Operation<'_> {
    Operation {
        action: "list",
        verb: "list",
        about: in_namespace(resource),
        description: format!("list or watch objects of kind {}", resource.kind_name),
        query: LIST,
        body: None,
        answer: "",
        created: false,
    }
}

fn in_namespace(resource: &Resource) -> String {
    let scope = if resource.traits.namespaced { "Namespaced" } else { "" };
    format!("{scope}{}", resource.kind_name)
}

fn collection(resource: &Resource) -> Value {
    let name = schemas::name(resource);
    let kind = &resource.kind_name;
    let create = Operation {
        action: "post",
        verb: "create",
        about: in_namespace(resource),
        description: format!("create a {kind}"),
        query: WRITE,
        body: Some(&name),
        answer: &name,
        created: true,
    };
    let mut operations = vec![("get", list(resource)), ("post", create)];
    if resource.verbs.contains(&"deletecollection") {
        let delete = Operation {
            action: "deletecollection",
            verb: "delete",
            about: format!("Collection{}", in_namespace(resource)),
            description: format!("delete collection of {kind}"),
            // Custom kinds say less than they take.
            query: if resource.kind.is_custom() { LIST } else { DELETE_ALL },
            body: (!resource.kind.is_custom()).then_some(DELETE_OPTIONS),
            answer: STATUS,
            ..list(resource)
        };
        operations.push(("delete", delete));
    }
    item(resource, &[], &operations)
}

fn one(resource: &Resource) -> Value {
    let name = schemas::name(resource);
    let mut operations = read_and_write(resource, "", &name);
    operations.push((
        "delete",
        Operation {
            action: "delete",
            verb: "delete",
            about: in_namespace(resource),
            description: format!("delete a {}", resource.kind_name),
            query: DELETE,
            body: Some(DELETE_OPTIONS),
            answer: STATUS,
            created: false,
        },
    ));
    item(resource, &["name"], &operations)
}

fn part(resource: &Resource, part: &str, schema: &str) -> Value {
    item(resource, &["name"], &read_and_write(resource, part, schema))
}

fn read_and_write<'a>(resource: &Resource, part: &str, schema: &'a str) -> Vec<(&'a str, Operation<'a>)> {
    let about = format!("{}{part}", in_namespace(resource));
    let of = if part.is_empty() { String::new() } else { format!("{} of ", part.to_lowercase()) };
    let operation = |action, verb, words: &str, query, body, created| Operation {
        action,
        verb,
        about: about.clone(),
        description: format!("{words} {of}the specified {}", resource.kind_name),
        query,
        body,
        answer: schema,
        created,
    };
    vec![
        ("get", operation("get", "read", "read", GET, None, false)),
        ("put", operation("put", "replace", "replace", WRITE, Some(schema), true)),
        ("patch", operation("patch", "patch", "partially update", PATCH_QUERY, Some(PATCH), true)),
    ]
}

/// One path: its operations, and the parameters that they share.
fn item(resource: &Resource, names: &[&str], operations: &[(&str, Operation<'_>)]) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    let namespace = if resource.traits.namespaced { &["namespace"][..] } else { &[] };
    for name in names.iter().chain(namespace) {
        let schema = json!({"type": "string", "uniqueItems": true});
        parameters.push(json!({"name": name, "in": "path", "required": true, "schema": schema}));
    }
    parameters.extend(queries(&[("pretty", "string")]));
    let mut item: Map<String, Value> = operations
        .iter()
        .map(|(method, operation)| ((*method).to_owned(), say(resource, operation)))
        .collect();
    item.insert("parameters".to_owned(), Value::Array(parameters));
    Value::Object(item)
}

fn queries(names: &[(&str, &str)]) -> Vec<Value> {
    let query = |(name, of): &(&str, &str)| json!({"name": name, "in": "query", "schema": {"type": of, "uniqueItems": true}});
    names.iter().map(query).collect()
}

fn say(resource: &Resource, operation: &Operation<'_>) -> Value {
    let list = schemas::list_name(resource);
    let answer = if operation.answer.is_empty() { &list } else { operation.answer };
    let schema = |name: &str| json!({"schema": {"$ref": format!("{PLACE}{name}")}});
    let content: Map<String, Value> = FORMS.iter().map(|form| ((*form).to_owned(), schema(answer))).collect();
    let mut responses =
        json!({"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}});
    if operation.created {
        responses["201"] = json!({"description": "Created", "content": content});
    }
    let group = group_words(resource);
    let version = capital(&resource.version);
    let (group_of_kind, version_of_kind, kind) = if operation.answer == SCALE && !resource.kind.is_custom() {
        ("autoscaling", "v1", "Scale")
    } else {
        (resource.group.as_str(), resource.version.as_str(), resource.kind_name.as_str())
    };
    let mut said = json!({
        "tags": [format!("{}_{}", small(&group), resource.version)],
        "description": operation.description,
        "operationId": format!("{}{group}{version}{}", operation.verb, operation.about),
        "parameters": queries(operation.query),
        "responses": responses,
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": {"group": group_of_kind, "version": version_of_kind, "kind": kind},
    });
    if let Some(body) = operation.body {
        said["requestBody"] =
            json!({"content": body_forms(resource, body), "required": body != DELETE_OPTIONS});
    }
    said
}

fn body_forms(resource: &Resource, body: &str) -> Map<String, Value> {
    let forms: &[&str] = match body {
        PATCH if resource.kind.is_custom() => {
            &["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"]
        }
        PATCH => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ],
        _ => &["*/*"],
    };
    let schema = json!({"schema": {"$ref": format!("{PLACE}{body}")}});
    forms.iter().map(|form| ((*form).to_owned(), schema.clone())).collect()
}

/// The group as names of operations have it: `rbac.authorization.k8s.io` is `RbacAuthorization`.
fn group_words(resource: &Resource) -> String {
    match resource.group.as_str() {
        "" => "Core".to_owned(),
        group => group.trim_end_matches(".k8s.io").split('.').map(capital).collect(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn small(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
