//! The kinds of `muster.dev/v1alpha1` and every name a user sees.
