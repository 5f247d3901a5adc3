//! Tests of the rule in `unanswered`.
