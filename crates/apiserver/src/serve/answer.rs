//! The body of an answer on its way out: it holds its turn until the client has read it, and a watch ends when the
//! server stops.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use super::activity::Sending;
use crate::error::ApiError;

/// What hyper takes for an error of a body.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// Done when the server stops.
type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is handed to HTTP at once. HTTP/2 takes whatever it is given into memory and lets go of the body; so it gets
/// little, and the body, with its turn, lasts until the client has read nearly all.
const PIECE_BYTES: usize = 64 * 1024;

/// What is sent: of the service, or our own few words.
enum Content<B> {
    Service(Pin<Box<B>>),
    Own(Option<Bytes>),
}

/// The body of an answer.
pub(super) struct Answer<B> {
    content: Content<B>,
    /// What the service has given and HTTP has not taken yet.
    rest: Bytes,
    /// Of a watch only.
    stop: Option<Stop>,
    /// Given back when the body is gone.
    _turn: Option<OwnedSemaphorePermit>,
    /// Tells the connection that this answer is still being read.
    _sending: Option<Sending>,
}

impl<B> Answer<B> {
    /// What the service answers.
    pub(super) fn of_service(body: B, turn: OwnedSemaphorePermit, sending: Sending) -> Self {
        let content = Content::Service(Box::pin(body));
        Self { content, rest: Bytes::new(), stop: None, _turn: Some(turn), _sending: Some(sending) }
    }

    /// The same, ending when the server stops.
    pub(super) fn until(self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { stop: Some(Box::pin(stop)), ..self }
    }

    /// An error as a `Status`.
    pub(super) fn refusal(error: &ApiError) -> Response<Self> {
        let text = Bytes::from(format!("{}\n", error.to_status()));
        let content = Content::Own(Some(text));
        let mut response =
            Response::new(Self { content, rest: Bytes::new(), stop: None, _turn: None, _sending: None });
        *response.status_mut() =
            StatusCode::from_u16(error.reason.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        if let Some(seconds) = error.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(stop) = &mut self.stop
            && stop.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(None);
        }
        if self.rest.is_empty() {
            let frame = match &mut self.content {
                Content::Own(text) => text.take().map(|text| Ok(Frame::data(text))),
                Content::Service(body) => ready!(body.as_mut().poll_frame(context)),
            };
            match frame.transpose().map_err(Into::into)?.map(Frame::into_data) {
                Some(Ok(data)) => self.rest = data,
                Some(Err(other)) => return Poll::Ready(Some(Ok(other))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
            && match &self.content {
                Content::Own(text) => text.is_none(),
                Content::Service(body) => body.is_end_stream(),
            }
    }

    fn size_hint(&self) -> SizeHint {
        let content = match &self.content {
            // A watch that may be ended has no length.
            _ if self.stop.is_some() => return SizeHint::default(),
            Content::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Content::Service(body) => body.size_hint(),
        };
        // HTTP asks before it takes anything; later, what it has not taken yet is to come too.
        let rest = self.rest.len() as u64;
        let mut whole = SizeHint::new();
        whole.set_lower(content.lower() + rest);
        if let Some(upper) = content.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}
