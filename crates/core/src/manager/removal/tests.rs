//! Tests of removal.
