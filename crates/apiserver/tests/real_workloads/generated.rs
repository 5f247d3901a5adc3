//! Pods with any of many optional fields: the defaults of both sides are the same.
