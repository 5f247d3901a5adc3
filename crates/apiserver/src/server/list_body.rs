//! The body of a list: put together as it is sent, so that ten thousand objects are not copied into one text first.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec::IntoIter;

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

use super::faults::ConnectionLost;

/// How much is put together at once: a few records of TLS.
const PIECE_BYTES: usize = 64 << 10;
/// What follows the last object.
const TAIL: &[u8] = b"]}";

/// A list on its way out.
pub(super) struct ListBody {
    head: Bytes,
    items: IntoIter<Bytes>,
    next: Part,
    /// What had no room in the last piece.
    waiting: Option<Bytes>,
    /// The bytes that are still to come.
    left: usize,
}

/// What a list is made of.
enum Part {
    Head,
    Item,
    Comma,
    Tail,
    Nothing,
}

impl ListBody {
    /// The list that begins with this, up to its first object, and has these.
    pub(super) fn new(head: Bytes, items: Vec<Bytes>) -> Self {
        let commas = items.len().saturating_sub(1);
        let left = head.len() + items.iter().map(Bytes::len).sum::<usize>() + commas + TAIL.len();
        Self { head, items: items.into_iter(), next: Part::Head, waiting: None, left }
    }

    fn next_part(&mut self) -> Option<Bytes> {
        let (part, next) = match self.next {
            Part::Head => (std::mem::take(&mut self.head), Part::Item),
            Part::Item => match self.items.next() {
                Some(item) => (item, if self.items.len() > 0 { Part::Comma } else { Part::Tail }),
                None => (Bytes::from_static(TAIL), Part::Nothing),
            },
            Part::Comma => (Bytes::from_static(b","), Part::Item),
            Part::Tail => (Bytes::from_static(TAIL), Part::Nothing),
            Part::Nothing => return None,
        };
        self.next = next;
        Some(part)
    }

    /// As many parts as one piece has room for; a larger one by itself, uncopied.
    fn next_piece(&mut self) -> Option<Bytes> {
        let mut piece = BytesMut::new();
        while let Some(part) = self.waiting.take().or_else(|| self.next_part()) {
            if part.len() > PIECE_BYTES && piece.is_empty() {
                self.left -= part.len();
                return Some(part);
            }
            if piece.len() + part.len() > PIECE_BYTES {
                self.waiting = Some(part);
                break;
            }
            if piece.is_empty() {
                piece.reserve(self.left.min(PIECE_BYTES));
            }
            piece.put_slice(&part);
        }
        self.left -= piece.len();
        (!piece.is_empty()).then(|| piece.freeze())
    }
}

impl Body for ListBody {
    type Data = Bytes;
    type Error = ConnectionLost;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionLost>>> {
        Poll::Ready(self.next_piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list in one, and how many pieces it came in.
    fn sent(items: &[&str]) -> (String, usize) {
        let items = items.iter().map(|item| Bytes::from((*item).to_owned())).collect();
        let mut body = ListBody::new(Bytes::from_static(b"{\"items\":["), items);
        let promised = body.left;
        let pieces: Vec<Bytes> = std::iter::from_fn(|| body.next_piece()).collect();
        assert!(pieces.iter().all(|piece| !piece.is_empty()));
        let whole = pieces.concat();
        assert_eq!(whole.len(), promised);
        assert!(body.is_end_stream());
        (String::from_utf8(whole).unwrap(), pieces.len())
    }

    #[test]
    fn a_list_is_whole_whatever_its_pieces() {
        assert_eq!(sent(&[]), ("{\"items\":[]}".to_owned(), 1));
        assert_eq!(sent(&["1"]), ("{\"items\":[1]}".to_owned(), 1));
        assert_eq!(sent(&["1", "2", "3"]), ("{\"items\":[1,2,3]}".to_owned(), 1));
        for length in [PIECE_BYTES / 3, PIECE_BYTES - 11, PIECE_BYTES, PIECE_BYTES + 1] {
            let large = "9".repeat(length);
            for items in [vec![large.as_str()], vec![&large, "2"], vec!["1", &large, &large, &large, "4"]] {
                let (text, pieces) = sent(&items);
                assert_eq!(text, format!("{{\"items\":[{}]}}", items.join(",")));
                assert!(pieces <= 1 + 2 * items.len(), "{pieces} pieces");
            }
        }
    }
}
