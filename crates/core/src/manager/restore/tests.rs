//! Tests of restore.
