//! Tests of the assembly.
