//! `fieldPath`: the field that a rule blames, as a path that its schema knows.

use super::super::node::Node;
use super::super::path::Path;

/// The path in the server's notation; nothing if it does not lead to a field.
pub(crate) fn normalize(text: &str, node: &Node) -> Option<String> {
    let mut path = Path::root();
    let mut node = Some(node);
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = step(rest)?;
        let here = node?;
        if here.properties.is_empty() {
            here.additional.as_ref()?;
            path = path.key(&name);
            node = here.additional_schema();
        } else {
            path = path.child(&name);
            node = Some(here.properties.get(&name)?);
        }
        rest = after;
    }
    Some(path.to_string())
}

/// One step, `.name` or `['name']`, and what follows.
fn step(text: &str) -> Option<(String, &str)> {
    if let Some(after) = text.strip_prefix('.') {
        let end = after.find(['.', '[', ']']).unwrap_or(after.len());
        let (name, after) = after.split_at_checked(end)?;
        return (!name.is_empty()).then(|| (name.to_owned(), after));
    }
    let inside = text.strip_prefix("['")?;
    let mut name = String::new();
    let mut chars = inside.char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '\'' => return Some((name, inside.get(index + 1..)?.strip_prefix(']')?)),
            '\\' => name.push(match chars.next()?.1 {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                c @ ('\'' | '\\') => c,
                _ => return None,
            }),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_followed_in_the_schema() {
        let schema = json!({"properties": {
            "a": {"properties": {"b-c": {}}}, "m": {"additionalProperties": {"properties": {"d": {}}}},
        }});
        let node = Node::read(&schema, &Path::root()).unwrap();
        for (text, path) in [
            (".a", Some("a")),
            (".a['b-c']", Some("a.b-c")),
            (".m['x.y'].d", Some("m[x.y].d")),
            (".m.k", Some("m[k]")),
            (".x", None),
            ("a", None),
            (".a.", None),
            (".a['b", None),
        ] {
            assert_eq!(normalize(text, &node).as_deref(), path, "{text}");
        }
    }
}
