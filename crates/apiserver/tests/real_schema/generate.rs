//! Random choices, the same in every run.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value};

use crate::probes::Probe;

/// Random values of a strategy.
fn samples<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Specs with a few probes each, and random values for them.
pub(crate) fn specs(probes: &[Probe], count: usize) -> Vec<Value> {
    let choice = (0..probes.len(), any::<prop::sample::Index>());
    let choices = samples(prop::collection::vec(choice, 1..6), count);
    let spec = |choices: &Vec<(usize, prop::sample::Index)>| {
        let fields = choices.iter().map(|(probe, value)| {
            let probe = &probes[*probe];
            (probe.name.to_owned(), value.get(probe.values.as_array().unwrap()).clone())
        });
        Value::Object(fields.collect::<Map<_, _>>())
    };
    choices.iter().map(spec).collect()
}
