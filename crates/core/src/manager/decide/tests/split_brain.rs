//! Tests of the rule in `split_brain`.
