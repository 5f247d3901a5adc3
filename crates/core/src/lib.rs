//! The pure decisions of Muster: observe, decide, status. No client, no clock, no randomness.
