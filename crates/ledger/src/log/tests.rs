//! What a log is after crashes, and what it refuses.

use super::*;

/// A directory of its own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("muster-ledger-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.0.join(NAME)).unwrap()
    }

    fn put(&self, bytes: &[u8]) {
        std::fs::write(self.0.join(NAME), bytes).unwrap();
    }

    fn sequence(&self) -> Result<u64, LogError> {
        Self::reach(Log::position_in(&self.0))
    }

    fn reach(position: Result<Option<Position>, LogError>) -> Result<u64, LogError> {
        position.map(|position| position.unwrap().sequence)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A log of three frames: entries 1 to 2, 3, 4.
fn written(place: &Place) -> Log {
    let mut log = Log::create(&place.0, History::fresh()).unwrap();
    log.append(&["one", "two"]).unwrap();
    log.append(&["three"]).unwrap();
    log.append(&["four"]).unwrap();
    log
}

#[test]
fn nothing_is_not_an_empty_log() {
    let place = Place::new("nothing");
    assert!(Log::position_in(&place.0).unwrap().is_none());
    Log::create(&place.0, History::fresh()).unwrap();
    assert_eq!(place.sequence().unwrap(), 0);
    assert!(Log::create(&place.0, History::fresh()).is_err(), "a log is never begun over another");
}

#[test]
fn entries_are_there_after_opening_again() {
    let place = Place::new("again");
    let log = written(&place);
    let again = Log::open(&place.0).unwrap();
    assert_eq!(again.position(), log.position());
    let third = again.after(2).unwrap().unwrap();
    assert_eq!((third.first, third.entries().next().unwrap()), (3, &b"three"[..]));
    assert_eq!(again.after(1).unwrap().unwrap().first, 1, "the frame that holds the second");
    assert!(again.after(4).unwrap().is_none());
}

#[test]
fn a_last_frame_torn_at_any_byte_is_cut_off() {
    let place = Place::new("torn");
    written(&place);
    let whole = place.bytes();
    let last = whole.len() - HEADER - 4 - "four".len();
    for length in last..whole.len() {
        place.put(&whole[..length]);
        assert_eq!(place.sequence().unwrap(), 3, "cut at {length}");
        assert_eq!(place.bytes().len(), length, "to ask changes nothing");
        let mut log = Log::open(&place.0).unwrap();
        log.append(&["another"]).unwrap();
        assert_eq!(place.sequence().unwrap(), 4);
    }
    // A crash may leave the length and lose what was written.
    let mut zeros = whole.clone();
    zeros[last..].fill(0);
    place.put(&zeros);
    assert_eq!(place.sequence().unwrap(), 3);
}

#[test]
fn damage_before_a_good_frame_is_never_taken_for_a_torn_one() {
    let place = Place::new("damage");
    written(&place);
    let whole = place.bytes();
    let last = whole.len() - HEADER - 4 - "four".len();
    for at in 0..last {
        let mut bytes = whole.clone();
        for by in [0x01, 0x10] {
            bytes[at] = whole[at] ^ by;
            place.put(&bytes);
            assert!(matches!(place.sequence(), Err(LogError::Damaged { .. })), "byte {at} by {by}");
        }
    }
}

#[test]
fn a_torn_frame_in_which_a_client_wrote_a_frame_is_cut_off() {
    let place = Place::new("words");
    let mut log = written(&place);
    let start = place.bytes().len();
    let (old, last) = (log.after(2).unwrap().unwrap(), log.position());
    // One of this log, one that could be of another, and one that would follow were the torn one not there.
    let words = [old, Frame::new(90, [7; 32], &["x"]), Frame::new(6, last.digest, &["y"])]
        .map(|frame| frame.encode());
    let after = HEADER + words.iter().map(|word| Frame::weight(word)).sum::<usize>();
    log.append(&[words.concat(), vec![b'z'; 600]]).unwrap();
    let whole = place.bytes();
    for length in start + HEADER..whole.len() {
        place.put(&whole[..length]);
        assert_eq!(place.sequence().unwrap(), 4, "cut at {length}");
    }
    // The length is on disk, and what was written at the end is not.
    let mut zeros = whole.clone();
    zeros[start + after..].fill(0);
    for length in [whole.len() - 1, whole.len()] {
        place.put(&zeros[..length]);
        assert_eq!(place.sequence().unwrap(), 4);
    }
    assert_eq!(Log::open(&place.0).unwrap().position(), last);
    assert_eq!(place.bytes().len(), start);
}

#[test]
fn only_the_next_frame_is_taken() {
    let (one, other) = (Place::new("one"), Place::new("other"));
    let log = written(&one);
    let mut copy = Log::create(&other.0, log.position().history).unwrap();
    let frames: Vec<Frame> = [0, 2, 3].map(|after| log.after(after).unwrap().unwrap()).into();
    assert!(matches!(copy.take(&frames[1]), Err(LogError::Gap { first: 3, last: 0 })));
    for frame in &frames {
        copy.take(frame).unwrap();
        assert!(log.has(&copy.position()));
    }
    assert_eq!(one.bytes(), other.bytes());
    copy.append(&["alone"]).unwrap();
    assert!(!log.has(&copy.position()));
}

#[test]
fn logs_that_parted_do_not_have_each_other() {
    let (one, other) = (Place::new("part-one"), Place::new("part-other"));
    let log = written(&one);
    let mut copy = Log::create(&other.0, log.position().history).unwrap();
    copy.append(&["one", "2"]).unwrap();
    assert!(!log.has(&copy.position()), "the same length, other entries");
    let foreign = Position { history: History::fresh(), ..log.position() };
    assert!(!log.has(&foreign));
}
