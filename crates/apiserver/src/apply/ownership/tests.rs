//! Placeholder for tests of ownership.
