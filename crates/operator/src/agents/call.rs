//! One question to one agent, and its answer: bounded in time and size, and believed only from the right member.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use muster_protocol::{
    COMMAND_PATH, EPOCH_PATH, Epoch, Fault, Instruction, Line, MAX_MESSAGE_BYTES, Outcome, REPORT_PATH,
    WATCH_PATH,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::dial::{Body, Dial, DialError, Peer};
use super::limits::Limits;

/// The most that is repeated of an answer that makes no sense.
const QUOTED_CHARS: usize = 200;

/// Why there is no answer that counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It was never asked.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke after it was asked.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// It did not answer in time.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It says that it cannot or must not answer; it did nothing.
    #[error("it refuses: {0}")]
    Refused(Fault),
    /// Its answer makes no sense.
    #[error("its answer makes no sense: {0}")]
    Malformed(String),
    /// Its answer is longer than any may be.
    #[error("its answer is longer than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
    /// Someone else answered, who is not believed.
    #[error("there answers {cluster}/{member}")]
    Stranger {
        /// The cluster it names.
        cluster: String,
        /// The member it names.
        member: String,
    },
}

impl CallError {
    /// Whether what was asked for may have been done all the same.
    pub const fn may_have_been_obeyed(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Refused(_) => false,
            Self::Broken(_)
            | Self::TimedOut(_)
            | Self::Malformed(_)
            | Self::TooLarge
            | Self::Stranger { .. } => true,
        }
    }

    /// The error in one word, for metrics.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "Unreachable",
            Self::Broken(_) => "Broken",
            Self::TimedOut(_) => "TimedOut",
            Self::Refused(_) => "Refused",
            Self::Malformed(_) => "Malformed",
            Self::TooLarge => "TooLarge",
            Self::Stranger { .. } => "Stranger",
        }
    }
}

impl From<DialError> for CallError {
    fn from(error: DialError) -> Self {
        match error {
            DialError::NotSent(why) => Self::Unreachable(why),
            DialError::Broken(why) => Self::Broken(why),
        }
    }
}

/// An agent that can be asked.
#[derive(Clone)]
pub struct Agent {
    peer: Peer,
    dial: Arc<dyn Dial>,
    limits: Limits,
}

impl Agent {
    /// The agent of this peer, reached like this.
    pub fn new(peer: Peer, dial: Arc<dyn Dial>) -> Self {
        Self { peer, dial, limits: Limits::default() }
    }

    /// With other waits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Who it is.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the agent knows now, as an answer to this round.
    pub async fn report(&self, round: u64) -> Result<Line, CallError> {
        let request = self.request(Method::GET, &format!("{REPORT_PATH}?round={round}"), Bytes::new())?;
        self.believe(self.ask(request, self.limits.report).await?)
    }

    /// Tells the agent of a new leader. It answers once that is on disk; a later leader that it knows is in the answer.
    pub async fn epoch(&self, epoch: Epoch) -> Result<Line, CallError> {
        let request = self.request(Method::POST, EPOCH_PATH, json(&epoch)?)?;
        self.believe(self.ask(request, self.limits.epoch).await?)
    }

    /// Tells the agent what to do. After an error that [may have been obeyed](CallError::may_have_been_obeyed) only a
    /// later report, or the answer to the very same command, says what became of it.
    pub async fn command(&self, instruction: &Instruction) -> Result<Outcome, CallError> {
        let request = self.request(Method::POST, COMMAND_PATH, json(instruction)?)?;
        self.ask(request, self.limits.command).await
    }

    /// Opens the stream of lines.
    pub(super) async fn open_watch(&self) -> Result<Response<Body>, CallError> {
        let request = self.request(Method::GET, WATCH_PATH, Bytes::new())?;
        let limit = self.limits.silence;
        let opened = tokio::time::timeout(limit, self.dial.dial(&self.peer, request)).await;
        let answer = opened.map_err(|_| CallError::TimedOut(limit))??;
        if answer.status() == StatusCode::OK {
            return Ok(answer);
        }
        let reading = tokio::time::timeout(limit, read::<Line>(answer)).await;
        match reading.map_err(|_| CallError::TimedOut(limit))? {
            Err(error) => Err(error),
            Ok(_) => Err(CallError::Malformed("a line where a stream was asked for".to_owned())),
        }
    }

    /// This line, if it is of this member.
    pub(super) fn believe(&self, line: Line) -> Result<Line, CallError> {
        if line.cluster == self.peer.cluster && line.member == self.peer.member {
            return Ok(line);
        }
        Err(CallError::Stranger { cluster: line.cluster, member: line.member })
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Result<Request<Full<Bytes>>, CallError> {
        let uri = format!("https://{}{path}", self.peer.authority());
        Request::builder()
            .method(method)
            .uri(uri)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| CallError::Unreachable(format!("{}: {error}", self.peer.address)))
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        request: Request<Full<Bytes>>,
        limit: Duration,
    ) -> Result<T, CallError> {
        let answering = async { read(self.dial.dial(&self.peer, request).await?).await };
        tokio::time::timeout(limit, answering).await.map_err(|_| CallError::TimedOut(limit))?
    }
}

fn json<T: Serialize>(message: &T) -> Result<Bytes, CallError> {
    let text = serde_json::to_vec(message).map_err(|error| CallError::Unreachable(error.to_string()))?;
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(CallError::Unreachable(format!("{} bytes are too much to send", text.len())));
    }
    Ok(text.into())
}

/// Reads a whole answer.
async fn read<T: DeserializeOwned>(answer: Response<Body>) -> Result<T, CallError> {
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MAX_MESSAGE_BYTES).collect().await;
    let text = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            CallError::TooLarge
        } else {
            CallError::Broken(error.to_string())
        }
    })?;
    let text = text.to_bytes();
    if status.is_success() {
        return serde_json::from_slice(&text).map_err(|error| CallError::Malformed(error.to_string()));
    }
    Err(match serde_json::from_slice::<Fault>(&text) {
        Ok(fault) => CallError::Refused(fault),
        Err(_) => CallError::Malformed(format!("{status}: {}", quoted(&text))),
    })
}

fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(QUOTED_CHARS).collect()
}
