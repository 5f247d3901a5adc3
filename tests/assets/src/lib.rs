//! Where the real Kubernetes binaries that the tests run against are found.
