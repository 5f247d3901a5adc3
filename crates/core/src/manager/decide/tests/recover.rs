//! Tests of the rule in `recover`.
