//! Tests of the rule in `upkeep`.
