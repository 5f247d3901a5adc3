//! Takes out of an output what must differ between two servers.

use std::sync::LazyLock;

use regex::Regex;

/// Each with what stands in its place; in this order.
const MASKS: [(&str, &str); 12] = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?Z| [+-]\d{4})?", "TIME"),
    (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r#"(resourceVersion"?: ?)"?\d+"?"#, "${1}VERSION"),
    (r"(Resource Version: +)\d+", "${1}VERSION"),
    (r"https://127\.0\.0\.1:\d+", "ADDRESS"),
    (r"/tmp/(LIVE|MERGED|kubectl-edit)-\d+", "/tmp/$1"),
    (r"kubectl-edit-\d+", "kubectl-edit"),
    (r"<invalid>", "AGE"),
    (r"\b(\d+[smhd])+\b", "AGE"),
    // The width of a column follows what stands in it.
    (r" {2,}", "  "),
    (r"\bmuster:admin\b", "admin"),
];

/// The output without them.
pub(crate) fn mask(output: &[u8]) -> String {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> =
        LazyLock::new(|| MASKS.map(|(pattern, instead)| (Regex::new(pattern).unwrap(), instead)).to_vec());
    let text = String::from_utf8_lossy(output).into_owned();
    COMPILED.iter().fold(text, |text, (pattern, instead)| pattern.replace_all(&text, *instead).into_owned())
}

#[test]
fn what_must_differ_is_masked_and_nothing_else() {
    let text = "a  5m3s   uid: 0b5f5c5e-1c2d-4e5f-8a9b-0c1d2e3f4a5b\n\"resourceVersion\": \"12\" 2026-11-16T00:00:00Z 3 s";
    assert_eq!(mask(text.as_bytes()), "a  AGE  uid: UID\n\"resourceVersion\": VERSION TIME 3 s");
}
