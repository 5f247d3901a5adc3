//! Tells a case to one server, step by step, and writes down its answers.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::case::{Case, Step, Until};
use crate::watch::Watch;
use crate::{reference, target};

/// No server takes that long for one answer, on the busiest of machines; "too large resource version" takes 3 s.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// How long a step may ask again.
const UNTIL_WITHIN: Duration = Duration::from_secs(30);
const ASK_AGAIN_EVERY: Duration = Duration::from_millis(50);

/// Headers that say something to clients.
const HEADERS: [&str; 5] = ["content-type", "warning", "retry-after", "allow", "location"];

/// What was asked, for the reader of a failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) body: String,
}

/// What a server answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) asked: Asked,
    pub(crate) code: u16,
    pub(crate) headers: BTreeMap<String, Vec<String>>,
    pub(crate) body: Value,
    /// When it came, for times that are said from then on.
    pub(crate) at: jiff::Timestamp,
}

/// All answers of a server to a case.
pub(crate) async fn run(case: &Case, client: &Client) -> Vec<Answer> {
    let mut teller = Teller::new(case.namespace(), client);
    let mut answers = Vec::new();
    for step in &case.steps {
        answers.push(teller.step(step).await);
    }
    answers
}

struct Teller<'a> {
    client: &'a Client,
    namespace: String,
    words: BTreeMap<String, Value>,
    watches: BTreeMap<String, Watch>,
}

impl<'a> Teller<'a> {
    fn new(namespace: String, client: &'a Client) -> Self {
        let words = BTreeMap::from([("ns".to_owned(), Value::String(namespace.clone()))]);
        Self { client, namespace, words, watches: BTreeMap::new() }
    }

    async fn step(&mut self, step: &Step) -> Answer {
        let answer = if let Some(request) = &step.request {
            let (method, target) = request.split_once(' ').unwrap_or_else(|| panic!("no target: {request}"));
            self.until(step, method, target).await
        } else if let Some(target) = &step.watch {
            self.open(step, target).await
        } else {
            let name = step.collect.as_ref().unwrap_or_else(|| panic!("a step of nothing: {step:?}"));
            self.collect(name, step.events.as_ref()).await
        };
        if let Some(name) = &step.name {
            self.words.insert(name.clone(), answer.body.clone());
        }
        answer
    }

    /// Asks; where the step says so, again until the answer is as wanted or time is up.
    async fn until(&self, step: &Step, method: &str, target: &str) -> Answer {
        let deadline = Instant::now() + UNTIL_WITHIN;
        let mut ticks = interval(ASK_AGAIN_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let answer = self.ask(step, method, target).await;
            let done = step.until.as_ref().is_none_or(|until| self.is_met(until, &answer));
            if done || Instant::now() > deadline {
                return answer;
            }
        }
    }

    fn is_met(&self, until: &Until, answer: &Answer) -> bool {
        let code = until.code.is_none_or(|code| code == answer.code);
        let wanted = reference::fill(&until.is, &self.words);
        let place =
            until.at.as_ref().is_none_or(|at| answer.body.pointer(at).unwrap_or(&Value::Null) == &wanted);
        code && place
    }

    fn request(&self, step: &Step, method: &str, target: &str) -> (Request<Body>, Asked) {
        let path = target::path(&reference::fill_text(target, &self.words), &self.namespace);
        let body = self.body(step);
        let mut request = Request::builder().method(method).uri(&path);
        let content = step.content.as_deref().map(content_type);
        if let Some(content) = content.or((!body.is_empty()).then_some("application/json")) {
            request = request.header("content-type", content);
        }
        for (name, value) in &step.headers {
            request = request.header(name, reference::fill_text(value, &self.words));
        }
        let asked = Asked { line: format!("{method} {path}"), body: shown(&body) };
        (request.body(Body::from(body)).unwrap_or_else(|error| panic!("{}: {error}", asked.line)), asked)
    }

    fn body(&self, step: &Step) -> Vec<u8> {
        if let Some(raw) = &step.raw {
            return reference::fill_text(raw, &self.words).into_bytes();
        }
        if let Some(text) = &step.latin1 {
            return text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        }
        let Some(body) = &step.body else { return Vec::new() };
        let mut body = reference::fill(body, &self.words);
        if let Some(merge) = &step.merge {
            merge_into(&mut body, &reference::fill(merge, &self.words));
        }
        body.to_string().into_bytes()
    }

    async fn ask(&self, step: &Step, method: &str, target: &str) -> Answer {
        let (request, asked) = self.request(step, method, target);
        let answered = timeout(ANSWER_WITHIN, async {
            let response = self.send(request, &asked).await;
            read(asked.clone(), response).await
        });
        answered.await.unwrap_or_else(|_| panic!("no answer to {}", asked.line))
    }

    async fn send(&self, request: Request<Body>, asked: &Asked) -> Response<Body> {
        self.client.send(request).await.unwrap_or_else(|error| panic!("{}: {error:?}", asked.line))
    }

    async fn open(&mut self, step: &Step, target: &str) -> Answer {
        let (request, asked) = self.request(step, "GET", target);
        let sent = timeout(ANSWER_WITHIN, self.send(request, &asked));
        let response = sent.await.unwrap_or_else(|_| panic!("no answer to {}", asked.line));
        if response.status().as_u16() != 200 {
            return read(asked, response).await;
        }
        let (parts, body) = response.into_parts();
        let name = step.name.clone().unwrap_or_else(|| panic!("a watch without a name: {}", asked.line));
        self.watches.insert(name, Watch::of(body));
        Answer { asked, code: 200, headers: headers(&parts.headers), body: Value::Null, at: now() }
    }

    async fn collect(&mut self, name: &str, events: Option<&Value>) -> Answer {
        let watch = self.watches.get_mut(name).unwrap_or_else(|| panic!("no watch is called {name}"));
        let events = watch.collect(events).await;
        let asked = Asked { line: format!("events of {name}"), body: String::new() };
        Answer { asked, code: 200, headers: BTreeMap::new(), body: json!({"events": events}), at: now() }
    }
}

fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

fn content_type(word: &str) -> &str {
    match word {
        "json" => "application/json",
        "yaml" => "application/yaml",
        "patch" => "application/json-patch+json",
        "merge" => "application/merge-patch+json",
        "strategic" => "application/strategic-merge-patch+json",
        "apply" => "application/apply-patch+yaml",
        full => full,
    }
}

fn merge_into(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge_into(&mut target[name], value);
        }
    }
}

/// The beginning of a body, for the reader of a failure.
fn shown(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(2000).collect();
    text
}

fn headers(all: &http::HeaderMap) -> BTreeMap<String, Vec<String>> {
    let mut headers = BTreeMap::new();
    for name in HEADERS {
        let values =
            all.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let values: Vec<_> = values.collect();
        if !values.is_empty() {
            headers.insert(name.to_owned(), values);
        }
    }
    headers
}

async fn read(asked: Asked, response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap_or_else(|error| panic!("{}: {error}", asked.line)).to_bytes();
    let headers = headers(&parts.headers);
    let content = headers.get("content-type").map(|values| values[0].clone()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let parsed = if content.starts_with("application/json") {
        serde_json::from_str(&text).ok()
    } else if content.starts_with("application/yaml") {
        serde_yaml_ng::from_str(&text).ok()
    } else {
        None
    };
    let body = parsed.unwrap_or(Value::String(text));
    Answer { asked, code: parts.status.as_u16(), headers, body, at: now() }
}
