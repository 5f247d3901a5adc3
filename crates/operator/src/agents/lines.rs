//! The lines of a stream, however they were cut into pieces on their way.

use bytes::{Buf, BytesMut};
use http_body_util::BodyExt;
use muster_protocol::{Line, MAX_MESSAGE_BYTES};

use super::call::CallError;
use super::dial::Body;

/// What a stream says at a time.
pub(super) enum Said {
    /// Something, new or not.
    Line(Box<Line>),
    /// An empty line: all is as the line before said.
    Nothing,
}

/// Reads lines from a body.
pub(super) struct Lines {
    body: Body,
    rest: BytesMut,
    /// How much of the rest is known to hold no end of a line.
    searched: usize,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, rest: BytesMut::new(), searched: 0 }
    }

    /// The next line; none when the stream ends.
    pub(super) async fn next(&mut self) -> Result<Option<Said>, CallError> {
        loop {
            if let Some(said) = self.cut()? {
                return Ok(Some(said));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(CallError::Broken(error.to_string())),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.rest.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    fn cut(&mut self) -> Result<Option<Said>, CallError> {
        if let Some(end) = self.rest[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.rest.split_to(self.searched + end);
            self.rest.advance(1);
            self.searched = 0;
            if line.len() > MAX_MESSAGE_BYTES {
                return Err(CallError::TooLarge);
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(Said::Nothing));
            }
            let line = serde_json::from_slice(&line);
            return line
                .map(|line| Some(Said::Line(Box::new(line))))
                .map_err(|error| CallError::Malformed(error.to_string()));
        }
        self.searched = self.rest.len();
        if self.searched > MAX_MESSAGE_BYTES { Err(CallError::TooLarge) } else { Ok(None) }
    }
}
