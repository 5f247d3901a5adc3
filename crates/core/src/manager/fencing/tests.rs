//! Tests of fencing.
