//! Tests of the rule in `form`.
