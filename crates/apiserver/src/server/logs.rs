//! What a container said: `pods/NAME/log`. The node that runs the Pod knows; here it is found out which container is meant, and whether
//! the question makes sense.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;

use super::Server;
use super::answer::{Answer, Content};
use super::body;
use super::call::Call;
use super::objects;
use super::options::invalid;
use crate::error::{ApiError, Reason, Subject};
use crate::schema::{FieldError, Path};

/// What a container said, piece by piece.
pub type Said = BoxStream<'static, Vec<u8>>;

/// The answer of a node, or the code and the words that it refuses with.
pub type Reading = Pin<Box<dyn Future<Output = Result<Said, (u16, String)>> + Send>>;

/// A container of a Pod, and what of its log is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogWanted {
    /// The node that runs the Pod.
    pub node: String,
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod's name.
    pub pod: String,
    /// The container's name.
    pub container: String,
    /// `tailLines=5&follow=true`, as kube-apiserver asks a kubelet.
    pub query: String,
}

/// Whoever can read the logs of containers.
pub trait Logs: Send + Sync {
    /// Reads a log.
    fn read(&self, wanted: LogWanted) -> Reading;
}

/// Whether a request is for the log of a Pod.
pub(super) fn is_log(call: &Call) -> bool {
    &*call.resource.id == "/pods" && call.subresource.as_deref() == Some("log")
}

impl Server {
    /// Logs are read here from now on. Who said so first is asked.
    pub fn serve_logs(&self, logs: Arc<dyn Logs>) {
        drop(self.0.logs.set(logs));
    }

    /// `pods/NAME/log`.
    pub(super) async fn log(&self, call: &Call) -> Result<Answer, ApiError> {
        let query = query(call)?;
        let stored = self.store().get(&call.key()).ok_or_else(|| ApiError::not_found(call.subject()))?;
        let pod = objects::load_stored(&call.resource, &stored);
        let container = container(&pod, call)?;
        let node = pod.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
        if node.is_empty() {
            let content = Content::Text(String::new());
            return Ok(Answer { code: StatusCode::NO_CONTENT, content, warnings: Vec::new() });
        }
        let Some(logs) = self.0.logs.get() else {
            let message = format!("node {node} does not tell this API server what its containers say");
            return Err(ApiError::new(Reason::ServiceUnavailable, message));
        };
        let (namespace, pod) = (call.namespace().to_owned(), call.name().to_owned());
        let said = logs.read(LogWanted { node: node.to_owned(), namespace, pod, container, query }).await;
        said.map(|said| Answer::ok(Content::Log(body::stream(pieces(said))))).map_err(refused)
    }
}

fn pieces(said: Said) -> impl Stream<Item = Result<Bytes, super::faults::ConnectionLost>> + Send + 'static {
    said.map(|piece| Ok(Bytes::from(piece)))
}

/// What a node refuses, as the API says it.
fn refused((code, message): (u16, String)) -> ApiError {
    let reason = match code {
        400 => Reason::BadRequest,
        404 => Reason::NotFound,
        _ => Reason::InternalError,
    };
    ApiError::new(reason, message)
}

/// The container that is meant: the one that is named, or the only one.
fn container(pod: &Value, call: &Call) -> Result<String, ApiError> {
    let names = |field: &str| -> Vec<&str> {
        let all = pod.pointer(field).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|one| one["name"].as_str()).collect()
    };
    let [main, init, ephemeral] =
        ["/spec/containers", "/spec/initContainers", "/spec/ephemeralContainers"].map(names);
    let name = call.name();
    match (call.query.get("container"), main.as_slice()) {
        (Some(asked), _) if [&main, &init, &ephemeral].iter().any(|names| names.contains(&asked)) => {
            Ok(asked.to_owned())
        }
        (Some(asked), _) => {
            Err(ApiError::bad_request(format!("container {asked} is not valid for pod {name}")))
        }
        (None, [only]) => Ok((*only).to_owned()),
        (None, several) => {
            let choice = |words: &str, names: &[&str]| match names {
                [] => String::new(),
                names => format!("{words}: [{}]", names.join(" ")),
            };
            let several = choice(", choose one of", several);
            let init = choice(" or one of the init containers", &init);
            let message = format!("a container name must be specified for pod {name}{several}{init}");
            Err(ApiError::bad_request(message))
        }
    }
}

/// The query for the node, if it makes sense.
fn query(call: &Call) -> Result<String, ApiError> {
    let mut wanted: Vec<String> = ["follow", "previous", "timestamps"]
        .iter()
        .filter(|name| call.query.flag(name))
        .map(|name| format!("{name}=true"))
        .collect();
    let mut errors = Vec::new();
    for (name, least, words) in [
        ("tailLines", 0, "must be greater than or equal to 0"),
        ("limitBytes", 1, "must be greater than 0"),
        ("sinceSeconds", 1, "must be greater than 0"),
    ] {
        let Some(number) = number(call, name)? else { continue };
        if number < least {
            errors.push(FieldError::invalid(&Path::new(name), number, words));
        }
        wanted.push(format!("{name}={number}"));
    }
    if let Some(text) = call.query.get("sinceTime") {
        let time: Timestamp =
            text.parse().map_err(|_| ApiError::bad_request(format!("sinceTime: {text:?} is not a time")))?;
        if call.query.get("sinceSeconds").is_some() {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            errors.push(FieldError::forbidden(&Path::new(""), why));
        }
        wanted.push(format!("sinceTime={time}"));
    }
    if errors.is_empty() {
        return Ok(wanted.join("&"));
    }
    let subject =
        Subject { kind: "PodLogOptions".to_owned(), name: call.name().to_owned(), ..Subject::default() };
    Err(invalid(subject, &errors))
}

fn number(call: &Call, name: &str) -> Result<Option<i64>, ApiError> {
    let parse = |text: &str| {
        let message = format!("strconv.ParseInt: parsing {text:?}: invalid syntax");
        text.parse::<i64>().map_err(|_| ApiError::bad_request(message))
    };
    call.query.get(name).map(parse).transpose()
}
