//! Following the path of a selectable field in a schema.

use serde_json::Value;

use super::internal::given;

/// The parts of a path, and the schema it leads to; or why it leads nowhere.
pub(super) fn follow<'a>(path: &str, schema: &'a Value) -> Result<(Vec<String>, &'a Value), String> {
    let mut schema = schema;
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (token, after) = token(rest);
        match token {
            "[" => return Err("array notation is not allowed".to_owned()),
            "." => {}
            other => return Err(format!("expected [ or . but got: {other}")),
        }
        if after.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        let (name, after) = self::token(after);
        schema = step(schema, name).ok_or("does not refer to a valid field")?;
        found.push(name.to_owned());
        rest = after;
    }
    Ok((found, schema))
}

fn step<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match (given(schema, "properties"), given(schema, "additionalProperties")) {
        (Some(properties), _) => properties.get(name),
        (None, additional) => additional,
    }
}

/// The next delimiter, quoted text or name, and what follows.
fn token(text: &str) -> (&str, &str) {
    let quoted = |text: &str| {
        let mut before = '\'';
        text.char_indices().skip(1).find_map(|(index, c)| {
            let is_end = c == '\'' && before != '\\';
            before = c;
            is_end.then_some(index + 1)
        })
    };
    let end = match text.chars().next() {
        Some('\'') => quoted(text).unwrap_or(text.len()),
        Some('.' | '[' | ']') => 1,
        _ => text.find(['.', '[', ']']).unwrap_or(text.len()),
    };
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_a_field_or_says_why_not() {
        let schema = json!({"properties": {"spec": {"properties": {"a": {"type": "string"}}}}});
        assert_eq!(
            follow(".spec.a", &schema),
            Ok((vec!["spec".into(), "a".into()], &json!({"type": "string"})))
        );
        let wrong = |path: &str| follow(path, &schema).unwrap_err();
        assert_eq!(wrong("spec"), "expected [ or . but got: spec");
        assert_eq!(wrong(".spec."), "unexpected end of JSON path");
        assert_eq!(wrong(".spec['a']"), "array notation is not allowed");
        assert_eq!(wrong(".x"), "does not refer to a valid field");
    }
}
