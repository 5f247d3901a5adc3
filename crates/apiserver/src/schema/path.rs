//! The path of a field, as Kubernetes prints it: `spec.pools[3].labels[app]`.

use std::fmt;

/// A path; the root, which has no name, prints as `<nil>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Option<String>);

impl Path {
    /// The root.
    pub fn root() -> Self {
        Self(None)
    }

    /// A path that is given as text.
    pub fn new(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }

    /// A field of this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(Some(self.0.as_ref().map_or_else(|| name.to_owned(), |path| format!("{path}.{name}"))))
    }

    /// An entry of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(Some(format!("{}[{key}]", self.0.as_deref().unwrap_or_default())))
    }

    /// An item of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("<nil>"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_kubernetes_prints_them() {
        let path = Path::root().child("spec").child("pools").index(3).key("app");
        assert_eq!(path.to_string(), "spec.pools[3][app]");
        assert_eq!(Path::root().to_string(), "<nil>");
        assert_eq!(Path::root().key("a").child("b").to_string(), "[a].b");
    }
}
