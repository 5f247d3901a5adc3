//! The events of a watch, one by one, as they come.

use std::time::Duration;

use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::timeout;

/// An event that is due comes within milliseconds; a bookmark before the end of a watch within seconds.
const EVENT_WITHIN: Duration = Duration::from_secs(20);
/// More than any case makes.
const MOST_EVENTS: usize = 1000;

/// A watch that was opened.
pub(crate) struct Watch {
    body: Body,
    /// What came and is no whole line yet.
    rest: Vec<u8>,
}

impl Watch {
    pub(crate) fn of(body: Body) -> Self {
        Self { body, rest: Vec::new() }
    }

    /// Reads a number of events, or up to the `bookmark`, or to the `end`.
    pub(crate) async fn collect(&mut self, wanted: Option<&Value>) -> Vec<Value> {
        let count = wanted.and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let word = wanted.and_then(Value::as_str);
        let mut events = Vec::new();
        while events.len() < count.unwrap_or(MOST_EVENTS) {
            let Some(event) = self.event().await else { break };
            let bookmark = event["type"] == "BOOKMARK";
            // When a bookmark comes on its own is up to the server.
            if !bookmark || word == Some("bookmark") || is_end_of_initial(&event) {
                events.push(event);
            }
            if bookmark && word == Some("bookmark") {
                break;
            }
        }
        events
    }

    /// The next event; none at the end.
    async fn event(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line).into_owned();
                return Some(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
            match timeout(EVENT_WITHIN, self.body.frame()).await {
                Err(_) => return Some(json!({"type": "NOTHING CAME"})),
                Ok(None) => return None,
                Ok(Some(Err(error))) => return Some(json!({"type": "BROKEN", "error": error.to_string()})),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.rest.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

fn is_end_of_initial(event: &Value) -> bool {
    event["object"]["metadata"]["annotations"].get("k8s.io/initial-events-end").is_some()
}
