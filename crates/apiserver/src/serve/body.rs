//! Reads the body of a request, up to its bound.

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use super::limits::{MAX_BODY_BYTES, MAX_DISCARDED_BYTES};
use crate::error::{ApiError, Reason};

/// The whole body; an error if it is too large or breaks off.
pub(super) async fn read<B>(mut body: B) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let mut whole = BytesMut::new();
    // What a client says of the length is not trusted with memory.
    let (mut first, mut taken) = (None, 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("cannot read the body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        taken += data.len();
        if taken > MAX_DISCARDED_BYTES {
            break;
        }
        if taken > MAX_BODY_BYTES {
            whole = BytesMut::new();
        } else if taken == data.len() {
            // Most bodies come in one piece, which need not be copied.
            first = Some(data);
        } else {
            whole.extend_from_slice(&first.take().unwrap_or_default());
            whole.extend_from_slice(&data);
        }
    }
    if taken > MAX_BODY_BYTES {
        let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
        return Err(ApiError::new(Reason::RequestEntityTooLarge, message));
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;
    use std::convert::Infallible;

    async fn read_pieces(pieces: &[usize]) -> Result<Bytes, ApiError> {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|size| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'a'; *size]))))
            .collect();
        read(StreamBody::new(stream::iter(pieces))).await
    }

    #[tokio::test]
    async fn a_body_is_whole_whatever_its_pieces() {
        for pieces in [&[][..], &[0], &[5], &[0, 5], &[2, 3], &[1, 0, 4], &[MAX_BODY_BYTES]] {
            let expected: usize = pieces.iter().sum();
            assert_eq!(read_pieces(pieces).await.unwrap().len(), expected, "{pieces:?}");
        }
    }

    #[tokio::test]
    async fn a_body_over_the_bound_is_refused_as_kube_apiserver_does() {
        for pieces in [&[MAX_BODY_BYTES + 1][..], &[MAX_BODY_BYTES, 1], &[1, MAX_BODY_BYTES], &[1; 1]] {
            let answer = read_pieces(pieces).await;
            if pieces.len() == 1 && pieces[0] == 1 {
                assert!(answer.is_ok());
                continue;
            }
            let error = answer.unwrap_err();
            assert_eq!(error.message, "Request entity too large: limit is 3145728");
            assert_eq!(error.reason, Reason::RequestEntityTooLarge);
        }
    }
}
