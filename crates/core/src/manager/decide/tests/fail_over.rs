//! Tests of the rule in `fail_over`.
