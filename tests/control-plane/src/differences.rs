//! Where two documents differ, for a person who reads a failure.

use serde_json::Value;

/// The places where two values differ, with what stands there. What one lacks is null there.
pub fn differences(real: &Value, ours: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", real, ours, &mut found);
    found
}

fn compare(at: &str, real: &Value, ours: &Value, found: &mut Vec<String>) {
    match (real, ours) {
        (Value::Object(one), Value::Object(other)) => {
            let mut names: Vec<_> = one.keys().chain(other.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                compare(&format!("{at}/{name}"), &real[name], &ours[name], found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (number, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{at}/{number}"), one, other, found);
            }
        }
        _ if real == ours => {}
        _ => found.push(format!("{at}:\n    real {real}\n    ours {ours}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_place_is_named_once() {
        let real = json!({"a": 1, "b": [1, {"c": 2}], "d": [1]});
        assert!(differences(&real, &real).is_empty());
        let found = differences(&real, &json!({"b": [1, {"c": 3}], "d": [1, 2]}));
        assert_eq!(
            found,
            [
                "/a:\n    real 1\n    ours null",
                "/b/1/c:\n    real 2\n    ours 3",
                "/d:\n    real [1]\n    ours [1,2]",
            ]
        );
    }
}
