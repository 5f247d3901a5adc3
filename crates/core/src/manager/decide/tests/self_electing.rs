//! Tests of the rule in `self_electing`.
