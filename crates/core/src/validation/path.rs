//! The path of a field, written as Kubernetes writes it.

use std::fmt;

/// The path of a field: `spec.pools[2].threshold.minNodes`, `spec.engine.parameters[max_connections]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// A path of one field, or the empty path of the object itself.
    pub fn root(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Whether it is the path of the object itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// A field of the object at this path.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        if self.is_root() { Self::root(name) } else { Self(format!("{}.{name}", self.0)) }
    }

    /// An item of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// A value of the map at this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
