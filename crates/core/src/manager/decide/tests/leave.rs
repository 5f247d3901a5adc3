//! Tests of the rule in `leave`.
