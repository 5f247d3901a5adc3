//! How copies are counted.

use super::*;
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
