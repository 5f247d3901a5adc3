//! A set of fields: what somebody owns of an object.

mod element;
mod json;

pub use element::{Path, PathElement, path_text};

use std::collections::BTreeMap;

/// A set of fields of an object. An owned field does not imply its children, nor the reverse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    // No node is kept that is neither a member nor leads to one.
    nodes: BTreeMap<PathElement, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    children: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl FieldSet {
    /// The set with no fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these fields, each given by the names on its path.
    pub fn of_names(paths: &[&[&str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            let path: Path = path.iter().map(|name| PathElement::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Whether no field is in it.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a field. The object as a whole is nobody's, so an empty path adds nothing.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        let node = self.nodes.entry(first.clone()).or_default();
        if rest.is_empty() {
            node.member = true;
        } else {
            node.children.insert(rest);
        }
    }

    /// Whether exactly this field is in it.
    pub fn has(&self, path: &[PathElement]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        self.nodes
            .get(first)
            .is_some_and(|node| if rest.is_empty() { node.member } else { node.children.has(rest) })
    }

    /// Whether the field that this step leads to is in it.
    pub(crate) fn has_member(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// What is below this step, if anything is.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&Self> {
        self.nodes.get(element).map(|node| &node.children).filter(|children| !children.is_empty())
    }

    /// Every step at the root, whether it is a member, and what is below it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&PathElement, bool, &Self)> {
        self.nodes.iter().map(|(element, node)| (element, node.member, &node.children))
    }

    /// Puts a step at the root, or nothing if it would lead nowhere.
    pub(crate) fn put(&mut self, element: PathElement, member: bool, children: Self) {
        let node = Node { member, children };
        if !node.is_empty() {
            self.nodes.insert(element, node);
        }
    }

    /// The fields of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        let mut all = self.clone();
        for (element, node) in &other.nodes {
            let mine = all.nodes.entry(element.clone()).or_default();
            mine.member |= node.member;
            if !node.children.is_empty() {
                mine.children = mine.children.union(&node.children);
            }
        }
        all
    }

    /// The fields of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::new();
        for (element, node) in &self.nodes {
            if let Some(theirs) = other.nodes.get(element) {
                let children = node.children.intersection(&theirs.children);
                both.put(element.clone(), node.member && theirs.member, children);
            }
        }
        both
    }

    /// The fields that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = Self::new();
        for (element, node) in &self.nodes {
            match other.nodes.get(element) {
                None => rest.put(element.clone(), node.member, node.children.clone()),
                Some(theirs) => {
                    let children = node.children.difference(&theirs.children);
                    rest.put(element.clone(), node.member && !theirs.member, children);
                }
            }
        }
        rest
    }

    /// The fields that are neither in the other nor below one of its fields.
    #[must_use]
    pub fn without_trees(&self, other: &Self) -> Self {
        let mut rest = Self::new();
        for (element, node) in &self.nodes {
            match other.nodes.get(element) {
                None => rest.put(element.clone(), node.member, node.children.clone()),
                Some(theirs) if theirs.member => {}
                Some(theirs) => {
                    let children = node.children.without_trees(&theirs.children);
                    rest.put(element.clone(), node.member, children);
                }
            }
        }
        rest
    }

    /// Every field: at each level first the fields that end there, then what lies deeper.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect(&mut Path::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Path, paths: &mut Vec<Path>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            let mut path = prefix.clone();
            path.push(element.clone());
            paths.push(path);
        }
        for (element, node) in &self.nodes {
            prefix.push(element.clone());
            node.children.collect(prefix, paths);
            prefix.pop();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
