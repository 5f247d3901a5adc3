//! Watches over HTTP: events as lines of JSON, for as long as the client listens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Server;
use super::answer::{Answer, Content};
use super::body;
use super::call::Call;
use super::faults::{ConnectionLost, EventFault, Faults, Seen};
use super::list::{number, parse_version, selection};
use super::options::invalid_options;
use super::shown::Shown;
use crate::error::{ApiError, Reason};
use crate::metrics::{Going, Guard, Metrics};
use crate::registry::Resource;
use crate::schema::{FieldError, Path};
use crate::store::{Document, Revision};
use crate::watch::{DEFAULT_WATCH, Event, EventKind, Start, Watch, WatchOptions};

impl Server {
    /// `watch`: what happens to the objects of a collection. `past`: a revision to begin with instead of the present.
    pub(super) fn watch(
        &self,
        call: &Call,
        seen: Seen,
        past: Option<Revision>,
        shown: &Shown,
    ) -> Result<Answer, ApiError> {
        let options = watch_options(call, self.store().revision(), past)?;
        let watch = Watch::new(self.store(), options)?;
        let events = Events {
            watch,
            resource: call.resource.clone(),
            seen,
            faults: self.faults().clone(),
            shown: shown.clone(),
            _counted: self.0.metrics.begin(Going::Watching),
            metrics: self.0.metrics.clone(),
            over: false,
        };
        let lines = futures::stream::unfold(events, |mut events| async move {
            let line = events.next().await?;
            Some((line, events))
        });
        Ok(Answer::ok(Content::Events(body::stream(lines))))
    }
}

fn watch_options(call: &Call, present: Revision, past: Option<Revision>) -> Result<WatchOptions, ApiError> {
    let bookmarks = call.query.flag("allowWatchBookmarks");
    let lasts = number(call, "timeoutSeconds")?.filter(|seconds| *seconds > 0).map(Duration::from_secs);
    Ok(WatchOptions {
        scope: call.scope(),
        selection: selection(call)?,
        from: start(call, present, past)?,
        since: call.resource.kind.is_custom().then_some(call.resource.since),
        bookmarks,
        lasts: lasts.unwrap_or(DEFAULT_WATCH),
        type_meta: (call.resource.api_version(), call.resource.kind_name.clone()),
    })
}

/// Where a watch starts. Without a version, or from "0", with what is there.
fn start(call: &Call, present: Revision, past: Option<Revision>) -> Result<Start, ApiError> {
    let matching = call.query.get("resourceVersionMatch");
    let path = Path::new("resourceVersionMatch");
    let initial = call.query.switch("sendInitialEvents");
    let mut errors = Vec::new();
    if initial.is_some() && matching != Some("NotOlderThan") {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(&path, why));
    }
    if initial.is_none() && matching.is_some() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(&path, why));
    }
    if let Some(word) = matching.filter(|word| *word != "NotOlderThan") {
        errors.push(FieldError::not_supported(&path, word, &["NotOlderThan".to_owned()]));
    }
    if call.query.get("continue").is_some() {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        errors.push(FieldError::forbidden(&path, why));
    }
    if !errors.is_empty() {
        return Err(invalid_options("ListOptions", &errors));
    }
    let version = parse_version(call.query.get("resourceVersion"))
        .map_err(|why| ApiError::new(Reason::Unknown, why))?;
    if initial == Some(false) && version.is_none() {
        return Ok(Start::After(past.unwrap_or(present)));
    }
    if initial == Some(true) {
        return Ok(Start::Everything { marked: call.query.flag("allowWatchBookmarks"), past });
    }
    Ok(match version {
        None | Some(0) => Start::Everything { marked: false, past },
        Some(revision) => Start::After(revision),
    })
}

/// The events of one watch on their way to the client.
struct Events {
    watch: Watch,
    resource: Arc<Resource>,
    seen: Seen,
    faults: Arc<dyn Faults>,
    shown: Shown,
    metrics: Metrics,
    _counted: Guard,
    over: bool,
}

impl Events {
    /// An event as a line of JSON.
    fn line(&mut self, event: &Event) -> Bytes {
        self.metrics.sent(1);
        let object = match event.kind {
            EventKind::Error => event.object.text().clone(),
            EventKind::Bookmark => self.shown.bookmark(&self.resource, &event.object),
            _ => self.shown.event(&self.resource, &event.object, event.revision),
        };
        let mut line = format!(r#"{{"type":"{}","object":"#, event.kind.as_str()).into_bytes();
        line.extend_from_slice(&object);
        line.extend_from_slice(b"}\n");
        line.into()
    }

    /// The next line.
    async fn next(&mut self) -> Option<Result<Bytes, ConnectionLost>> {
        if self.over {
            return None;
        }
        loop {
            let event = self.watch.next().await?;
            match self.faults.event(&self.seen, &event) {
                EventFault::None => return Some(Ok(self.line(&event))),
                EventFault::Drop => {}
                EventFault::Delay(time) => {
                    tokio::time::sleep(time).await;
                    return Some(Ok(self.line(&event)));
                }
                EventFault::End => return None,
                EventFault::Lost => {
                    self.over = true;
                    return Some(Err(ConnectionLost));
                }
                EventFault::Expire => {
                    self.over = true;
                    return Some(Ok(self.line(&expired())));
                }
            }
        }
    }
}

fn expired() -> Event {
    let status = ApiError::expired("too old resource version").to_status();
    Event { kind: EventKind::Error, object: Document::of(&status), revision: 0 }
}
