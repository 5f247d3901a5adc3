//! What a process says: passed on, and its last lines kept for whoever asks why it failed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use muster_protocol::MAX_FAILURE_BYTES;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How much is read at once.
const PIECE: usize = 8 * 1024;

/// The last that was said, within a bound.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn push(&self, piece: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(piece);
        let excess = kept.len().saturating_sub(MAX_FAILURE_BYTES);
        kept.drain(..excess);
    }

    /// As text, from the first whole line where something was cut off.
    pub fn text(&self) -> String {
        let kept: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let whole = match text.split_once('\n') {
            Some((_, rest)) if kept.len() == MAX_FAILURE_BYTES && !rest.is_empty() => rest,
            _ => &text,
        };
        whole.trim_end().to_owned()
    }
}

/// Reads to the end: passes on, and keeps the last. What cannot be passed on is still read, so that nobody waits for it.
pub async fn forward(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, tail: Tail) {
    let mut piece = vec![0; PIECE];
    let mut listens = true;
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let said = piece.get(..length).unwrap_or_default();
        tail.push(said);
        if listens {
            listens = to.write_all(said).await.is_ok() && to.flush().await.is_ok();
        }
    }
}

/// Reads to the end and keeps the beginning; true if that was all.
pub async fn collect(mut from: impl AsyncRead + Unpin, kept: Arc<Mutex<Collected>>, tail: Tail) {
    let mut piece = vec![0; PIECE];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let said = piece.get(..length).unwrap_or_default();
        tail.push(said);
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }
}

/// The most that an action may answer: a status with a long message, or 64 devices.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The answer of an action.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// What it said, up to the bound.
    pub text: Vec<u8>,
    /// Whether it said more.
    pub cut: bool,
}

impl Collected {
    fn push(&mut self, piece: &[u8]) {
        let room = MAX_ANSWER_BYTES.saturating_sub(self.text.len());
        let taken = piece.get(..room.min(piece.len())).unwrap_or_default();
        self.text.extend_from_slice(taken);
        self.cut |= taken.len() < piece.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_whole_lines_are_kept_and_everything_is_passed_on() {
        let lines: Vec<String> = (0..500).map(|n| format!("line {n}")).collect();
        let said = lines.join("\n");
        let (tail, mut passed) = (Tail::default(), Vec::new());
        forward(said.as_bytes(), &mut passed, tail.clone()).await;
        assert_eq!(passed, said.as_bytes());
        let text = tail.text();
        assert!(
            text.len() <= MAX_FAILURE_BYTES && text.starts_with("line ") && text.ends_with("line 499"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn an_answer_is_bounded() {
        let kept = Arc::new(Mutex::new(Collected::default()));
        let said = vec![b'x'; MAX_ANSWER_BYTES + 1];
        collect(said.as_slice(), Arc::clone(&kept), Tail::default()).await;
        let kept = kept.lock().unwrap();
        assert!(kept.cut && kept.text.len() == MAX_ANSWER_BYTES);
    }
}
