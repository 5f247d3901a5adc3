//! The paths of the API: which resource, which object of it, which part of that.

/// The parts of a resource that have a path of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePath {
    /// The API group; the core group is "".
    pub group: String,
    /// The version.
    pub version: String,
    /// The namespace; none: all of them, or a resource of the whole cluster.
    pub namespace: Option<String>,
    /// The plural name of the resource.
    pub resource: String,
    /// The object; none: the collection.
    pub name: Option<String>,
    /// For example `status` or `scale`.
    pub subresource: Option<String>,
    /// Whether it goes on below that, where nothing is; custom resources do not mind.
    pub deeper: bool,
    /// Whether it is one of the old paths of watches, `/api/v1/watch/…`.
    pub watch: bool,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`: the groups.
    Groups,
    /// `/apis/GROUP`: one group.
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`: the resources.
    Resources {
        /// The API group.
        group: String,
        /// The version.
        version: String,
    },
    /// A resource.
    Resource(ResourcePath),
    /// Below a version, but to no resource, object or part: the group.
    Nowhere(String),
    /// Anything else: `/version`, `/readyz`, `/openapi/…`.
    Other(String),
}

impl Path {
    /// Understands a path. As on kube-apiserver, escapes are resolved first: an escaped slash is a slash.
    pub fn parse(path: &str) -> Option<Self> {
        let decoded = decode(path)?;
        let segments: Vec<&str> = decoded.strip_prefix('/')?.trim_end_matches('/').split('/').collect();
        Some(match segments.as_slice() {
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => Self::Resources { group: String::new(), version: (*version).to_owned() },
            ["apis", group, version] => {
                Self::Resources { group: (*group).to_owned(), version: (*version).to_owned() }
            }
            ["api", version, "watch", rest @ ..] if !rest.is_empty() => Self::watch("", version, rest),
            ["apis", group, version, "watch", rest @ ..] if !rest.is_empty() => {
                Self::watch(group, version, rest)
            }
            ["api", version, rest @ ..] => Self::below("", version, rest),
            ["apis", group, version, rest @ ..] => Self::below(group, version, rest),
            _ => Self::Other(path.to_owned()),
        })
    }
}

impl Path {
    fn below(group: &str, version: &str, rest: &[&str]) -> Self {
        resource(group, version, rest).map_or_else(|| Self::Nowhere(group.to_owned()), Self::Resource)
    }

    fn watch(group: &str, version: &str, rest: &[&str]) -> Self {
        let found = resource(group, version, rest).filter(|found| found.subresource.is_none());
        found.map_or_else(
            || Self::Nowhere(group.to_owned()),
            |found| Self::Resource(ResourcePath { watch: true, ..found }),
        )
    }
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Option<ResourcePath> {
    // A namespace is a resource too: `namespaces/x` is it, `namespaces/x/status` a part of it, `namespaces/x/pods`
    // what it contains.
    let own = |part: &str| matches!(part, "status" | "finalize");
    let (namespace, rest) = match rest {
        ["namespaces", name, part] if own(part) && group.is_empty() => (None, vec!["namespaces", name, part]),
        // No namespace is all of them.
        ["namespaces", "", rest @ ..] => (None, rest.to_vec()),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
            (Some((*namespace).to_owned()), rest.to_vec())
        }
        rest => (None, rest.to_vec()),
    };
    if rest.contains(&"") {
        return None;
    }
    let mut parts = rest.into_iter().map(str::to_owned);
    let resource = parts.next()?;
    let (name, subresource) = (parts.next(), parts.next());
    Some(ResourcePath {
        deeper: parts.next().is_some(),
        watch: false,
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        resource,
        name,
        subresource,
    })
}

/// Whether every percent sign of a path begins an escape.
pub fn is_escaped_well(path: &str) -> bool {
    path.split('%').skip(1).all(|rest| {
        let mut digits = rest.chars().take(2);
        let mut digit = || digits.next().is_some_and(|digit| digit.is_ascii_hexdigit());
        digit() && digit()
    })
}

/// Resolves percent escapes; none for what is not UTF-8 or not an escape.
pub(super) fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit =
                    |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                bytes.push(digit(high)? * 16 + digit(low)?);
                rest = tail;
            }
            (b'%', _) => return None,
            (byte, tail) => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Namespace, resource, name and part, "-" for what is not there.
    fn parsed(path: &str) -> Option<[String; 4]> {
        let Path::Resource(found) = Path::parse(path)? else { return None };
        if found.deeper {
            return None;
        }
        let text = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        Some([text(found.namespace), found.resource, text(found.name), text(found.subresource)])
    }

    fn is(path: &str, expected: [&str; 4]) {
        assert_eq!(parsed(path), Some(expected.map(str::to_owned)), "{path}");
    }

    #[test]
    fn collections_objects_and_parts_of_them() {
        is("/apis/g/v1/widgets", ["-", "widgets", "-", "-"]);
        is("/apis/g/v1/namespaces/ns/widgets/a", ["ns", "widgets", "a", "-"]);
        is("/apis/g/v1/namespaces/ns/widgets/a/status", ["ns", "widgets", "a", "status"]);
        is("/api/v1/nodes/n", ["-", "nodes", "n", "-"]);
        assert_eq!(parsed("/apis/g/v1/widgets/a/b/c"), None);
    }

    #[test]
    fn a_namespace_is_a_resource_and_a_place() {
        is("/api/v1/namespaces", ["-", "namespaces", "-", "-"]);
        is("/api/v1/namespaces/ns", ["-", "namespaces", "ns", "-"]);
        is("/api/v1/namespaces/ns/status", ["-", "namespaces", "ns", "status"]);
        is("/api/v1/namespaces/ns/pods", ["ns", "pods", "-", "-"]);
    }

    #[test]
    fn old_paths_of_watches() {
        let watched = |path: &str| match Path::parse(path) {
            Some(Path::Resource(found)) => found.watch,
            _ => false,
        };
        is("/api/v1/watch/namespaces/ns/pods/a", ["ns", "pods", "a", "-"]);
        assert!(watched("/api/v1/watch/pods") && watched("/apis/g/v1/watch/namespaces/ns/widgets"));
        assert!(!watched("/api/v1/pods") && !watched("/api/v1/watch/namespaces/ns/pods/a/status"));
    }

    #[test]
    fn discovery_and_the_rest() {
        assert_eq!(Path::parse("/api"), Some(Path::CoreVersions));
        assert_eq!(Path::parse("/apis/"), Some(Path::Groups));
        assert_eq!(Path::parse("/apis/g"), Some(Path::Group("g".into())));
        assert_eq!(
            Path::parse("/api/v1"),
            Some(Path::Resources { group: String::new(), version: "v1".into() })
        );
        assert_eq!(Path::parse("/readyz"), Some(Path::Other("/readyz".into())));
    }

    #[test]
    fn escapes_are_resolved_before_a_path_is_split() {
        is("/apis/g/v1/widgets/a%2Fb", ["-", "widgets", "a", "b"]);
        for bad in
            ["/apis/g/v1/widgets/%", "/apis/g/v1/widgets/%2", "/apis/g/v1/widgets/%zz", "/apis/%ff/v1/x"]
        {
            assert_eq!(Path::parse(bad), None, "{bad}");
            assert_eq!(is_escaped_well(bad), bad.contains("%ff"), "{bad}");
        }
    }
}
