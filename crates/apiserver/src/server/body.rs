//! The bodies of answers, and how much of a request's body is read.

use bytes::Bytes;
use futures::Stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};

use super::faults::ConnectionLost;
use crate::error::{ApiError, Reason};

/// The body of an answer: all at once, or the events of a watch as they come.
pub type Body = UnsyncBoxBody<Bytes, ConnectionLost>;

/// The largest body of a request that is read, as on kube-apiserver.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// A body of another form.
pub(super) fn of(body: impl http_body::Body<Data = Bytes, Error = ConnectionLost> + Send + 'static) -> Body {
    body.boxed_unsync()
}

/// A body that is there.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body that comes bit by bit.
pub(super) fn stream(parts: impl Stream<Item = Result<Bytes, ConnectionLost>> + Send + 'static) -> Body {
    use futures::StreamExt;
    StreamBody::new(parts.map(|part| part.map(http_body::Frame::data))).boxed_unsync()
}

/// The whole body of a request.
pub(super) async fn read<B>(body: B) -> Result<Bytes, ApiError>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
            Err(ApiError::new(Reason::RequestEntityTooLarge, message))
        }
        Err(error) => Err(ApiError::bad_request(format!("the body of the request cannot be read: {error}"))),
    }
}
