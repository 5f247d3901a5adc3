//! Tests of the rule in `park`.
