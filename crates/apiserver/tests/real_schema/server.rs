//! The real server, asked in turn with our own schemas.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use kube::api::{GetParams, PostParams};
use kube::core::Request;
use muster_apiserver::schema::{FieldError, Schema};
use muster_test_control_plane::{ControlPlane, eventually};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// How long the server may take to serve a new kind, or a new schema of one.
const SERVED_WITHIN: Duration = Duration::from_secs(60);
/// The group of the kinds that are made up here.
pub(crate) const GROUP: &str = "schemas.example.com";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A problem, as both sides name it.
pub(crate) type Cause = (String, String, String);

/// A refusal: the problems, or the message if there are none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    Causes(BTreeSet<Cause>),
    Message(String),
}

/// Problems of ours in the form of a refusal.
pub(crate) fn refusal(errors: &[FieldError]) -> Refusal {
    let causes = errors.iter().map(FieldError::cause);
    Refusal::Causes(causes.map(|cause| (cause.reason.to_owned(), cause.field, cause.message)).collect())
}

/// What is asked of the server; the flag is for a dry run.
enum Verb<'a> {
    Get(&'a str),
    Create(&'a Value, bool),
    CreateStrictly(&'a Value),
    Replace(&'a Value, bool),
    ReplaceStatus(&'a Value),
}

/// A client on a runtime of its own, for tests that ask one thing after another.
pub(crate) struct Server {
    runtime: Runtime,
    client: kube::Client,
}

impl Server {
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(ControlPlane::shared().unwrap().client()).unwrap();
        Self { runtime, client }
    }

    fn ask(&self, path: &str, verb: &Verb<'_>) -> Result<Value, Refusal> {
        let bytes = |object: &Value| object.to_string().into_bytes();
        let named = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        let parameters = |dry_run| PostParams { dry_run, ..PostParams::default() };
        let target = Request::new(path);
        let mut request = match verb {
            Verb::Get(name) => target.get(name, &GetParams::default()),
            Verb::Create(object, dry_run) => target.create(&parameters(*dry_run), bytes(object)),
            Verb::CreateStrictly(object) => target.create(&parameters(true), bytes(object)),
            Verb::Replace(object, dry_run) => {
                target.replace(&named(object), &parameters(*dry_run), bytes(object))
            }
            Verb::ReplaceStatus(object) => {
                target.replace_subresource("status", &named(object), &parameters(true), bytes(object))
            }
        }
        .unwrap();
        if matches!(verb, Verb::CreateStrictly(_)) {
            *request.uri_mut() = format!("{}&fieldValidation=Strict", request.uri()).parse().unwrap();
        }
        match self.runtime.block_on(self.client.request::<Value>(request)) {
            Ok(answer) => Ok(answer),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.map(|details| details.causes).unwrap_or_default();
                if causes.is_empty() {
                    return Err(Refusal::Message(status.message));
                }
                let causes = causes.into_iter().map(|cause| (cause.reason, cause.field, cause.message));
                Err(Refusal::Causes(causes.collect()))
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Creates something.
    pub(crate) fn create(&self, path: &str, object: &Value, dry_run: bool) -> Result<Value, Refusal> {
        self.ask(path, &Verb::Create(object, dry_run))
    }

    /// Creates something for show, and is strict about unknown fields.
    pub(crate) fn create_strictly(&self, path: &str, object: &Value) -> Result<Value, Refusal> {
        self.ask(path, &Verb::CreateStrictly(object))
    }

    /// Replaces something.
    pub(crate) fn replace(&self, path: &str, object: &Value, dry_run: bool) -> Result<Value, Refusal> {
        self.ask(path, &Verb::Replace(object, dry_run))
    }

    /// Replaces the status of something, for show.
    pub(crate) fn replace_status(&self, path: &str, object: &Value) -> Result<Value, Refusal> {
        self.ask(path, &Verb::ReplaceStatus(object))
    }

    /// Tries a CRD, and gives what is wrong with it.
    pub(crate) fn try_definition(&self, definition: &Value) -> Result<Value, Refusal> {
        self.create(DEFINITIONS, definition, true)
    }

    /// Installs a CRD, and waits until its objects are served.
    pub(crate) fn install(&self, definition: &Value) {
        self.create(DEFINITIONS, definition, false).unwrap_or_else(|refusal| panic!("{refusal:#?}"));
        let path = path_of(definition);
        let probe = object_of(definition, &json!({}));
        let served = || match self.create(&path, &probe, true) {
            Err(Refusal::Message(message)) => Err(message),
            _ => Ok(()),
        };
        eventually(Instant::now() + SERVED_WITHIN, served).unwrap();
    }

    /// Changes the schema of a CRD, and waits until it refuses an object that it accepted before.
    pub(crate) fn tighten(&self, definition: &Value, example: &Value) {
        let name = definition["metadata"]["name"].as_str().unwrap();
        let current = self.ask(DEFINITIONS, &Verb::Get(name)).unwrap();
        let mut definition = definition.clone();
        definition["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
        self.replace(DEFINITIONS, &definition, false).unwrap();
        let path = path_of(&definition);
        let refuses = || match self.create(&path, example, true) {
            Err(Refusal::Causes(_)) => Ok(()),
            other => Err(other),
        };
        eventually(Instant::now() + SERVED_WITHIN, refuses).unwrap();
    }
}

/// A CRD of one kind with one version.
pub(crate) fn definition(kind: &str, schema: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

/// Where the objects of a CRD are.
pub(crate) fn path_of(definition: &Value) -> String {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let version = text(&spec["versions"][0]["name"]);
    let namespace = if spec["scope"] == "Namespaced" { "namespaces/default/" } else { "" };
    format!("/apis/{}/{version}/{namespace}{}", text(&spec["group"]), text(&spec["names"]["plural"]))
}

/// An object of a CRD.
pub(crate) fn object_of(definition: &Value, spec: &Value) -> Value {
    let of = &definition["spec"];
    json!({
        "apiVersion": format!("{}/{}", of["group"].as_str().unwrap(), of["versions"][0]["name"].as_str().unwrap()),
        "kind": of["names"]["kind"], "metadata": {"name": "probe"}, "spec": spec,
    })
}

/// The schema of a CRD, compiled by us.
pub(crate) fn compiled(definition: &Value) -> Schema {
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    Schema::compile(schema).unwrap_or_else(|errors| panic!("{:#?}", refusal(&errors)))
}

/// What we answer to a new object, or to one that replaces another.
pub(crate) fn our_answer(schema: &Schema, object: &Value, old: Option<&Value>) -> Result<Value, Refusal> {
    let mut object = object.clone();
    schema.default(&mut object);
    schema.prune(&mut object);
    let errors = schema.validate(&object, old);
    if errors.is_empty() { Ok(object) } else { Err(refusal(&errors)) }
}

/// Whether two answers are the same: the whole refusal, or everything but metadata.
pub(crate) fn same(ours: &Result<Value, Refusal>, theirs: &Result<Value, Refusal>) -> bool {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => without_metadata(ours) == without_metadata(theirs),
        (Err(ours), Err(theirs)) => ours == theirs,
        _ => false,
    }
}

/// An object as Go would write it, without its metadata.
fn without_metadata(object: &Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove("metadata");
    written(object)
}

/// A floating number that is whole loses its point when Go writes it.
#[allow(clippy::cast_possible_truncation)] // only where nothing is lost
fn written(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < 1e15 => {
                json!(value as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(written).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, field)| (name, written(field))).collect(),
        other => other,
    }
}

/// Reads a manifest of the repository.
pub(crate) fn manifest(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    serde_yaml_ng::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn shown(answer: &Result<Value, Refusal>) -> String {
    match answer {
        Ok(object) => without_metadata(object).to_string(),
        Err(refusal) => format!("{refusal:?}"),
    }
}

/// Collects differences, and fails with the first few of them.
#[derive(Default)]
pub(crate) struct Differences {
    asked: usize,
    refused: usize,
    found: Vec<String>,
}

impl Differences {
    pub(crate) fn compare(
        &mut self,
        what: &Value,
        ours: &Result<Value, Refusal>,
        theirs: &Result<Value, Refusal>,
    ) {
        self.asked += 1;
        self.refused += usize::from(theirs.is_err());
        if !same(ours, theirs) {
            let what: String = what.to_string().chars().take(600).collect();
            self.found.push(format!("{what}\n  ours: {}\ntheirs: {}", shown(ours), shown(theirs)));
        }
    }

    pub(crate) fn assert_none(self, at_least: usize) {
        println!("{} answers compared, {} of them refusals", self.asked, self.refused);
        assert!(self.asked >= at_least, "only {} questions", self.asked);
        let shown: Vec<_> = self.found.iter().take(60).cloned().collect();
        assert!(shown.is_empty(), "{} differences:\n{}", self.found.len(), shown.join("\n"));
    }
}
