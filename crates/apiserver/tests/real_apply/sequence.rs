//! Random sequences of writes by several managers to one object of the synthetic kind.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kinds::{Kind, synthetic};
use crate::model::{comparable, expected, last_time};
use crate::random::Choices;
use crate::server::{Refusal, Request, Server, Write};

const MANAGERS: [&str; 4] = ["one", "two", "three", "kubectl"];
/// More than the server keeps of those who update.
const UPDATERS: [&str; 14] = ["one", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "kubectl"];
/// All that the server says of a JSON patch that does not apply.
const REJECTED: &str = "the server rejected our request due to an error in our request";

/// Sends one request to both sides and compares; the object afterwards, if there is a new one.
pub(crate) async fn step(
    kind: &Kind,
    server: &Server,
    live: Option<&Value>,
    request: &Request,
) -> Option<Value> {
    let told = || format!("live: {}\nrequest: {request:?}", live.unwrap_or(&Value::Null));
    match server.send(request).await {
        Ok(answer) => {
            let now = last_time(&answer).unwrap_or_else(Timestamp::now);
            let ours = expected(kind, live, request, now)
                .unwrap_or_else(|ours| panic!("{ours:?}\n{}\n{answer}", told()));
            let (ours, theirs) = (comparable(&ours), comparable(&answer));
            assert!(ours == theirs, "{}\nours:   {ours}\ntheirs: {theirs}", told());
            Some(answer)
        }
        Err(theirs) => {
            let ours = expected(kind, live, request, Timestamp::now());
            if theirs.code == 422 && theirs.message != REJECTED {
                assert!(ours.is_ok(), "{}\n{ours:?}\n{theirs:?}", told());
                return None; // the schema is not ours to check
            }
            let none = Refusal { code: 200, message: String::new(), causes: vec![] };
            let ours = ours.map_or_else(|ours| ours, |_| none);
            assert!(ours == theirs, "{}\nours:   {ours:?}\ntheirs: {theirs:?}", told());
            None
        }
    }
}

/// Writes to one object, out of a seed.
pub(crate) struct Writer<'k> {
    pub(crate) kind: &'k Kind,
    pub(crate) name: String,
    pub(crate) choices: Choices,
    /// What every whole object is made from; none to make it from the schema.
    pub(crate) base: Option<Value>,
}

impl<'k> Writer<'k> {
    fn partial(&mut self, part: &str, sparse: usize) -> Value {
        self.choices.value(&self.kind.schema["properties"][part], sparse)
    }

    fn object(&mut self, part: &str, sparse: usize) -> Value {
        let mut object = json!({
            "apiVersion": self.kind.api_version, "kind": self.kind.name,
            "metadata": {"name": self.name}, part: self.partial(part, sparse),
        });
        if part == "spec" {
            self.metadata(&mut object);
            if let Some(base) = &self.base {
                object["spec"] = base["spec"].clone();
                let names: Vec<_> = base["spec"].as_object().unwrap().keys().cloned().collect();
                object["spec"].as_object_mut().unwrap().remove(self.choices.of(&names));
            }
        }
        object
    }

    fn metadata(&mut self, object: &mut Value) {
        let owner = |uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid});
        let metadata = &mut object["metadata"];
        if self.choices.once_in(2) {
            metadata["labels"] =
                json!({"l": *self.choices.of(&["1", "2"]), *self.choices.of(&["m", "n"]): "x"});
        }
        if self.choices.once_in(4) {
            metadata["annotations"] = json!({"a.b": "<&>"});
        }
        if self.choices.once_in(5) {
            let uid = self.choices.of(&["u1", "u2"]);
            metadata["ownerReferences"] = json!([owner(uid)]);
        }
    }

    fn request(&mut self, live: &Value) -> Request {
        let manager = (*self.choices.of(&MANAGERS)).to_owned();
        let status = self.choices.once_in(5);
        let (part, subresource) = if status { ("status", "status") } else { ("spec", "") };
        let write = match self.choices.below(10) {
            0..=4 => Write::Apply { config: self.object(part, 4), force: self.choices.once_in(2) },
            5..=6 => Write::Merge(self.merge(part, &manager)),
            7 => Write::Json(self.json(live, part)),
            _ => Write::Replace(self.replacement(live, part)),
        };
        let updates = !matches!(write, Write::Apply { .. });
        let manager =
            if updates && self.choices.once_in(2) { (*self.choices.of(&UPDATERS)).into() } else { manager };
        Request { write, manager, subresource }
    }

    fn merge(&mut self, part: &str, manager: &str) -> Value {
        let mut patch = json!({part: self.partial(part, 5)});
        let names: Vec<_> =
            self.kind.schema["properties"][part]["properties"].as_object().unwrap().keys().cloned().collect();
        for _ in 0..self.choices.below(3) {
            patch[part][self.choices.of(&names).as_str()] = Value::Null;
        }
        if part == "spec" && manager == "kubectl" && self.choices.once_in(2) {
            let last = self.object("spec", 4).to_string();
            patch["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
                json!(last);
        }
        match self.choices.below(12) {
            0 => patch["metadata"]["managedFields"] = json!([]),
            1 => patch["metadata"]["managedFields"] = json!([{}]),
            2 => patch["metadata"]["finalizers"] = json!(["muster.dev/b", "muster.dev/a"]),
            3 => patch["metadata"]["finalizers"] = json!(null),
            _ => {}
        }
        patch
    }

    fn json(&mut self, live: &Value, part: &str) -> Value {
        let present: Vec<_> =
            live[part].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let mut operations = Vec::new();
        for _ in 0..=self.choices.below(2) {
            if present.is_empty() {
                operations
                    .push(json!({"op": "add", "path": format!("/{part}"), "value": self.partial(part, 4)}));
                continue;
            }
            let name = self.choices.of(&present).clone();
            let path = format!("/{part}/{name}");
            let schema = self.kind.schema["properties"][part]["properties"][&name].clone();
            let value = self.choices.value(&schema, 2);
            operations.push(match self.choices.below(5) {
                0 => json!({"op": "remove", "path": path}),
                // The server compares the bytes of strings, in which `<` may be written in two ways.
                1 if !live[part][&name].to_string().contains('<') => json!({"op": "test", "path": path, "value": live[part][&name]}),
                2 => json!({"op": "add", "path": format!("{path}/-"), "value": self.choices.value(&schema["items"], 2)}),
                3 => json!({"op": "remove", "path": format!("{path}/0")}),
                _ => json!({"op": "replace", "path": path, "value": value}),
            });
        }
        Value::Array(operations)
    }

    fn replacement(&mut self, live: &Value, part: &str) -> Value {
        let mut object = live.clone();
        if self.choices.once_in(2) {
            object[part] = self.partial(part, 3);
        } else {
            let change = self.partial(part, 6);
            for (name, value) in change.as_object().unwrap() {
                object[part][name] = value.clone();
            }
        }
        let metadata = object["metadata"].as_object_mut().unwrap();
        match self.choices.below(8) {
            0 => drop(metadata.remove("managedFields")),
            1 => drop(metadata.insert("managedFields".into(), json!([]))),
            2 => {
                metadata.insert("managedFields".into(), json!([{"manager": "x", "operation": "Guess"}]));
            }
            3 => drop(metadata.remove("labels")),
            4 => {
                metadata.remove("uid");
                metadata.remove("creationTimestamp");
            }
            5 => {
                let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
                entries.map(Vec::pop);
            }
            _ => {}
        }
        object
    }

    /// Runs so many steps on both sides.
    pub(crate) async fn run(&mut self, kinds: &'k [Kind], steps: usize) {
        let mut servers = Vec::new();
        for kind in kinds {
            servers.push((kind, Server::of(kind, &self.name).await));
        }
        let mut live: Option<Value> = None;
        for index in 0..steps {
            let (kind, server) = self.choices.of(&servers);
            self.kind = kind;
            if let Some(live) = &mut live {
                live["apiVersion"] = json!(self.kind.api_version);
            }
            let request = match &live {
                Some(live) => self.request(live),
                None => self.creation(),
            };
            println!("{}, step {index}", self.name); // shown if it fails
            if let Some(new) = step(self.kind, server, live.as_ref(), &request).await {
                live = Some(new);
            }
            let kept = live.as_ref().is_none_or(|live| live["metadata"].get("finalizers").is_some());
            if !kept && self.choices.once_in(40) {
                server.delete().await;
                live = None;
            }
        }
    }

    fn creation(&mut self) -> Request {
        let mut object = self.object("spec", 3);
        if let Some(base) = &self.base {
            object["spec"] = base["spec"].clone();
        }
        let write = match self.choices.below(2) {
            0 => Write::Create(object),
            _ => Write::Apply { config: object, force: false },
        };
        Request { write, manager: "one".into(), subresource: "" }
    }
}

#[tokio::test]
async fn real_random_sequences_give_the_same_objects_owners_and_refusals() {
    let kinds = Kind::of_crd(&synthetic());
    for seed in 1..=10 {
        let name = format!("thing-{seed}");
        let mut writer = Writer { kind: &kinds[0], name, choices: Choices::new(seed), base: None };
        writer.run(&kinds[..1], 60).await;
    }
}

#[tokio::test]
async fn real_random_sequences_in_two_versions_do_too() {
    let kinds = Kind::of_crd(&synthetic());
    for seed in 1..=6 {
        let name = format!("versions-{seed}");
        let mut writer = Writer { kind: &kinds[0], name, choices: Choices::new(seed), base: None };
        writer.run(&kinds, 60).await;
    }
}
