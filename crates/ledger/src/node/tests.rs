//! How copies are counted, and what clients are told when the disk fails.

use super::*;
use crate::frame::MAX_BODY;
use crate::log::History;

fn state(
    name: &str,
    voters: &[&str],
    copies: usize,
    followers: &[(&str, u64)],
) -> (State, std::path::PathBuf) {
    let directory = std::env::temp_dir().join(format!("muster-ledger-node-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&directory));
    std::fs::create_dir_all(&directory).unwrap();
    let mut log = Log::create(&directory, History::fresh()).unwrap();
    log.append(&["one", "two", "three"]).unwrap();
    let voters = voters.iter().map(|voter| (*voter).to_owned()).collect();
    let follower = |(name, sequence): &(&str, u64)| {
        ((*name).to_owned(), Follower { connection: 1, sequence: *sequence })
    };
    let state = State {
        log: Some(log),
        role: Role::Primary,
        term: String::new(),
        electorate: Electorate { voters, copies },
        turn: 1,
        waiting: VecDeque::new(),
        doubtful: 0,
        followers: followers.iter().map(follower).collect(),
        connections: 0,
        hands_over: false,
        primary: Heard::default(),
        failed: None,
    };
    (state, directory)
}

#[test]
fn only_copies_of_voters_count() {
    // Voters, copies wanted, how far the followers are, how far all is acknowledged.
    type Case = (&'static [&'static str], usize, &'static [(&'static str, u64)], u64);
    let cases: [Case; 8] = [
        (&["a"], 1, &[], 3),
        (&["a", "b", "c"], 2, &[], 0),
        (&["a", "b", "c"], 2, &[("b", 2)], 2),
        (&["a", "b", "c"], 2, &[("b", 1), ("c", 3)], 3),
        (&["a", "b", "c"], 3, &[("b", 1), ("c", 3)], 1),
        // It joined, and is no voter yet.
        (&["a", "b"], 2, &[("c", 3)], 0),
        // The primary itself is none: its own copy does not count.
        (&["b", "c"], 1, &[("b", 2)], 2),
        (&[], 0, &[("b", 3)], 0),
    ];
    for (at, (voters, copies, followers, acknowledged)) in cases.into_iter().enumerate() {
        let (state, directory) = state(&format!("{at}"), voters, copies, followers);
        assert_eq!(state.acknowledged("a"), acknowledged, "case {at}");
        drop(std::fs::remove_dir_all(directory));
    }
}

/// A primary whose disk takes nothing.
fn broken(name: &str) -> Node {
    let (mut state, data) = state(name, &["a"], 1, &[]);
    state.log = Log::look(&data).unwrap();
    let told = Surroundings {
        volume: "a".to_owned(),
        data,
        address: "127.0.0.1:0".to_owned(),
        primaries: Vec::new(),
        term: String::new(),
        electorate: state.electorate.clone(),
        append_timeout: Duration::from_secs(60),
    };
    Node { told, state: Mutex::new(state), changed: Condvar::new() }
}

/// What each of two clients is told when the disk fails, the second of whom came after an entry of this size.
fn told_when_the_disk_fails(node: &Node, between: usize) -> [AppendError; 2] {
    let until_waiting = |count: usize| {
        let few = |state: &mut State| state.waiting.len() < count;
        drop(node.changed.wait_timeout_while(node.lock(), Duration::from_secs(60), few).unwrap());
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| node.append(b"first".to_vec()));
        until_waiting(1);
        node.lock().waiting.push_back(vec![0; between]);
        let second = scope.spawn(|| node.append(b"second".to_vec()));
        until_waiting(3);
        node.commit();
        [first, second].map(|client| client.join().unwrap().unwrap_err())
    })
}

#[test]
fn an_entry_that_was_being_written_when_the_disk_failed_may_be_there() {
    let node = broken("doubt");
    let told = told_when_the_disk_fails(&node, 1);
    assert_eq!(told, [AppendError::Unknown(4), AppendError::Unknown(6)]);
    assert_eq!(node.lock().sequence(), 3);
    assert!(matches!(node.append(b"third".to_vec()), Err(AppendError::Refused(_))), "it takes nothing more");
    drop(std::fs::remove_dir_all(&node.told.data));
}

#[test]
fn an_entry_that_no_frame_held_yet_when_the_disk_failed_is_nowhere() {
    let node = broken("nowhere");
    let [first, second] = told_when_the_disk_fails(&node, MAX_BODY);
    assert_eq!(first, AppendError::Unknown(4));
    assert!(matches!(second, AppendError::Refused(_)), "{second:?}");
    drop(std::fs::remove_dir_all(&node.told.data));
}
