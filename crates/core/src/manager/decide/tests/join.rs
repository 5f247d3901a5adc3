//! Tests of the rule in `join`.
