//! Tests of election.
