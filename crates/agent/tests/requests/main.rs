//! Whatever is asked of an agent, it answers, in the form that it must have, and goes on.

#![cfg(test)]

mod harness;

use std::path::Path;

use muster_protocol::{Epoch, Outcome};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// How many requests are tried; the fuzz target goes on from there.
const CASES: u32 = 1500;

#[test]
fn whatever_is_asked_is_answered() {
    let place = harness::Place::new(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = runtime.block_on(harness::agent(&place, env!("CARGO_BIN_EXE_muster-agent").into()));
    let mut runner = TestRunner::new(ProptestConfig { cases: CASES, ..ProptestConfig::default() });
    // A few changes at most: with many there is nothing left of a message that is right.
    let inputs =
        (vec(any::<u8>(), 5), 0..4_usize, vec(any::<u8>(), 200)).prop_map(|(head, changes, rest)| {
            [&head, &rest[..if head[0] % 4 < 2 { 200 } else { changes * 4 }]].concat()
        });
    runner
        .run(&inputs, |input| {
            runtime.block_on(harness::play(&agent, &input));
            Ok(())
        })
        .unwrap();
    // It goes on: a new epoch is taken, and what is older is refused.
    let instruction = serde_json::from_slice(&harness::valid(0, u64::MAX)).unwrap();
    let line = runtime.block_on(agent.take_epoch(Epoch { epoch: u64::MAX, round: 9 })).unwrap();
    assert_eq!((line.report.round, line.report.epoch), (9, u64::MAX));
    assert!(
        matches!(runtime.block_on(agent.command(instruction)), Ok(Outcome::Refused(_))),
        "its epoch is old by now"
    );
}
