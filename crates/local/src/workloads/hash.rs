//! Short names for what an object says: the same content gives the same name.

use serde_json::Value;

/// Letters and digits that make no words and are not mistaken for each other, as Kubernetes uses them in names.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// FNV-1a, 32 bits.
const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// The short name of a content; `collisions` says how often it was found to be taken by another content.
pub(crate) fn name(content: &Value, collisions: i32) -> String {
    let mut hash = OFFSET;
    feed(&mut hash, content);
    if collisions > 0 {
        eat(&mut hash, &collisions.to_le_bytes());
    }
    let letter = |digit: char| LETTERS[digit as usize % LETTERS.len()] as char;
    hash.to_string().chars().map(letter).collect()
}

fn eat(hash: &mut u32, bytes: &[u8]) {
    for byte in bytes {
        *hash = (*hash ^ u32::from(*byte)).wrapping_mul(PRIME);
    }
}

/// The order of fields does not matter.
fn feed(hash: &mut u32, value: &Value) {
    match value {
        Value::Object(fields) => {
            eat(hash, b"{");
            let mut names: Vec<_> = fields.keys().collect();
            names.sort_unstable();
            for name in names {
                eat(hash, name.as_bytes());
                eat(hash, b":");
                feed(hash, &fields[name]);
            }
            eat(hash, b"}");
        }
        Value::Array(items) => {
            eat(hash, b"[");
            for item in items {
                feed(hash, item);
            }
            eat(hash, b"]");
        }
        plain => eat(hash, format!("{plain},").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_content_has_the_same_name_and_another_has_another() {
        let one = name(&json!({"a": 1, "b": [1, 2]}), 0);
        assert_eq!(one, name(&json!({"b": [1, 2], "a": 1}), 0));
        assert_ne!(one, name(&json!({"b": [12], "a": 1}), 0));
        assert_ne!(one, name(&json!({"a": 1, "b": [1, 2]}), 1));
        assert!(one.len() <= 10 && one.bytes().all(|byte| LETTERS.contains(&byte)), "{one}");
    }
}
