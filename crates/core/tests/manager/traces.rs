//! The traces of SAFETY, each by its name.
