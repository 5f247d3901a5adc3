//! Tests of what is known.
