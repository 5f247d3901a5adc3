//! The real server and ours, asked the same: objects that differ a little from one that is fine.

use std::sync::Arc;

use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::client::Body;
use muster_apiserver::apply::merge_patch;
use muster_apiserver::error::{ApiError, Cause, Subject};
use muster_apiserver::kind::built_in::catalogue;
use muster_apiserver::kind::{Around, Kind};
use muster_apiserver::lifecycle::{self, Creation, Part, Source};
use muster_apiserver::registry::Resource;
use muster_apiserver::schema::{FieldError, aggregate};
use muster_apiserver::server::Server;
use muster_test_control_plane::ControlPlane;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// What a server answers: the object or the `Status`, and its warnings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) body: Value,
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn is_refusal(&self) -> bool {
        self.body["kind"] == "Status"
    }
}

/// Nothing is around, and it is always the same time.
struct Nothing;

impl Around for Nothing {
    fn get(&self, _: &str, _: &str, _: &str) -> Option<Arc<Value>> {
        None
    }

    fn list(&self, _: &str) -> Vec<Arc<Value>> {
        Vec::new()
    }

    fn now(&self) -> String {
        "2026-01-01T00:00:00Z".to_owned()
    }

    fn random(&self) -> u64 {
        7
    }
}

/// Names nothing that is compared.
struct Counting;

impl Source for Counting {
    fn uid(&mut self) -> String {
        "uid".to_owned()
    }

    fn suffix(&mut self) -> String {
        "abcde".to_owned()
    }

    fn now(&mut self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn random(&mut self) -> u64 {
        7
    }
}

/// One kind, on both servers.
pub(crate) struct Bench {
    runtime: Runtime,
    client: kube::Client,
    path: &'static str,
    resource: Resource,
    api_version: &'static str,
    kind: &'static str,
    in_any_order: bool,
    asked: usize,
    found: Vec<String>,
}

impl Bench {
    pub(crate) fn new(api_version: &'static str, kind: &'static str, path: &'static str) -> Self {
        Self::on(api_version, kind, path, async { ControlPlane::shared().unwrap().client().await.unwrap() })
    }

    /// The same with the whole server of ours in the place of the real one.
    pub(crate) fn embedded(api_version: &'static str, kind: &'static str, path: &'static str) -> Self {
        Self::on(api_version, kind, path, async {
            kube::Client::new(Server::builder().build().await, "default")
        })
    }

    fn on(
        api_version: &'static str,
        kind: &'static str,
        path: &'static str,
        client: impl Future<Output = kube::Client>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(client);
        let resource = catalogue::resources()
            .into_iter()
            .find(|it| it.api_version() == api_version && it.kind_name == kind)
            .unwrap();
        Self {
            runtime,
            client,
            path,
            resource,
            api_version,
            kind,
            in_any_order: false,
            asked: 0,
            found: Vec::new(),
        }
    }

    /// Causes may come in any order: the real server goes through maps in any order.
    pub(crate) fn in_any_order(self) -> Self {
        Self { in_any_order: true, ..self }
    }

    /// Asks the real server.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let form = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", form)
            .body(Body::from(bytes))
            .unwrap();
        self.runtime.block_on(async {
            let response = self.client.send(request).await.unwrap();
            let warnings = response.headers().get_all("Warning").iter();
            let warnings = warnings.map(|warning| text_of(warning.to_str().unwrap())).collect();
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            Answer { body: serde_json::from_slice(&bytes).unwrap(), warnings }
        })
    }

    /// An object of this kind.
    pub(crate) fn object(&self, rest: &Value) -> Value {
        changed(
            &json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": "probe"}}),
            rest,
        )
    }

    /// Creates an object on the real server, and gives it as it is stored.
    pub(crate) fn create(&self, rest: &Value) -> Value {
        let answer = self.ask("POST", self.path, Some(&self.object(rest)));
        assert!(!answer.is_refusal(), "{}", answer.body);
        answer.body
    }

    /// Compares the creation of `base` with each of these changes (merge patches).
    pub(crate) fn creations(&mut self, base: &Value, changes: &[Value]) {
        for change in changes {
            let object = self.object(&changed(base, change));
            let ours = self.answer(&object, None, Part::Whole);
            let theirs = self.ask("POST", &format!("{}?dryRun=All", self.path), Some(&object));
            self.compare(change, &ours, &theirs);
        }
    }

    /// Compares updates of what is stored with each of these changes.
    pub(crate) fn updates(&mut self, stored: &Value, part: Part, changes: &[Value]) {
        let name = stored["metadata"]["name"].as_str().unwrap();
        let below = match part {
            Part::Whole => "",
            Part::Status => "/status",
            Part::Finalize => "/finalize",
        };
        let path = format!("{}/{name}{below}?dryRun=All", self.path);
        for change in changes {
            let object = changed(stored, change);
            let ours = self.answer(&object, Some(stored), part);
            let theirs = self.ask("PUT", &path, Some(&object));
            self.compare(change, &ours, &theirs);
        }
    }

    /// What it is for us.
    pub(crate) fn ours(&self) -> &dyn Kind {
        &*self.resource.kind
    }

    /// What we make of an object.
    fn answer(&self, sent: &Value, old: Option<&Value>, part: Part) -> Answer {
        let kind = self.ours();
        let mut object = sent.clone();
        let unknown = match kind.read(&mut object) {
            Ok(unknown) => unknown,
            Err(why) => {
                let warnings = kind.deprecation().map(str::to_owned).into_iter().collect();
                return Answer { body: self.unreadable(&why), warnings };
            }
        };
        let traits = self.resource.traits;
        let mut object = match old {
            None => {
                let namespace = traits.namespaced.then_some("default");
                lifecycle::create(object, Creation { namespace, traits }, &mut Counting).unwrap()
            }
            Some(_) => object,
        };
        kind.default(&mut object);
        let mut object = match old {
            None => object,
            Some(old) => lifecycle::update(old, object, part, traits).unwrap(),
        };
        kind.prepare(&mut object, old, part, &Nothing).unwrap();
        let errors = kind.check(&object, old, part);
        let body = if errors.is_empty() { object.clone() } else { self.refusal(&object, &errors) };
        let mut warnings: Vec<String> =
            unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
        warnings.extend(kind.warnings(&object, old));
        warnings.extend(kind.deprecation().map(str::to_owned));
        Answer { body, warnings }
    }

    fn unreadable(&self, why: &str) -> Value {
        ApiError::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {why}",
            self.kind,
            self.version(),
            self.kind
        ))
        .to_status()
    }

    fn version(&self) -> &str {
        self.api_version.rsplit('/').next().unwrap_or_default()
    }

    /// Errors about an event do not name its group, whichever it is.
    fn group(&self) -> &str {
        match self.api_version.split_once('/') {
            Some((group, _)) if self.kind != "Event" => group,
            _ => "",
        }
    }

    fn refusal(&self, object: &Value, errors: &[FieldError]) -> Value {
        let causes = errors.iter().map(FieldError::cause);
        let causes = causes.map(|cause| Cause {
            reason: cause.reason.into(),
            message: cause.message,
            field: cause.field,
        });
        let subject = Subject {
            name: object["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
            group: self.group().to_owned(),
            kind: self.kind.to_owned(),
            uid: String::new(),
        };
        ApiError::invalid(subject, &aggregate(errors), causes.collect()).to_status()
    }

    fn compare(&mut self, change: &Value, ours: &Answer, theirs: &Answer) {
        self.asked += 1;
        let (ours, theirs) = (self.comparable(ours), self.comparable(theirs));
        if ours != theirs {
            self.found.push(format!("{change}\n  ours: {ours}\ntheirs: {theirs}"));
        }
    }

    /// An answer without what must differ.
    fn comparable(&self, answer: &Answer) -> Value {
        let mut body = answer.body.clone();
        if answer.is_refusal() {
            if self.in_any_order
                && let Some(causes) = body["details"]["causes"].as_array_mut()
            {
                causes.sort_by_key(Value::to_string);
                body["message"] = Value::Null;
            }
            return body;
        }
        if let Some(metadata) = body["metadata"].as_object_mut() {
            metadata
                .retain(|name, _| ["name", "labels", "annotations", "finalizers"].contains(&name.as_str()));
        }
        // The real server goes through maps in any order.
        let mut warnings = answer.warnings.clone();
        warnings.sort();
        json!({"object": body, "warnings": warnings})
    }

    /// Fails with what differs.
    pub(crate) fn assert_same(self, at_least: usize) {
        println!("{}: {} answers compared", self.kind, self.asked);
        assert!(self.found.is_empty(), "{} differences:\n{}", self.found.len(), self.found.join("\n"));
        assert!(self.asked >= at_least, "only {} questions", self.asked);
    }
}

/// The object with a merge patch applied.
pub(crate) fn changed(object: &Value, change: &Value) -> Value {
    merge_patch(object, change).unwrap()
}

/// The text in a `Warning` header.
fn text_of(header: &str) -> String {
    let quoted = header.split_once('"').unwrap().1.strip_suffix('"').unwrap();
    quoted.replace("\\\"", "\"").replace("\\\\", "\\")
}
