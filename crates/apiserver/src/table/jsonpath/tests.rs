//! Paths and what they lead to.

use serde_json::json;

use super::*;

fn found(path: &str) -> Option<String> {
    let object = json!({
        "metadata": {"annotations": {"example.org/a.b": "dotted"}},
        "spec": {"list": [{"n": 1, "name": "one"}, {"n": 2, "name": "two]"}], "null": null, "numbers": [1, 2, 3]},
    });
    Path::parse(path).unwrap().first(&object).map(text)
}

#[test]
fn fields_indices_and_slices() {
    assert_eq!(found(".spec.list[0].name").as_deref(), Some("one"));
    assert_eq!(found(".spec.list[-1].n").as_deref(), Some("2"));
    assert_eq!(found(".spec.numbers[1:].").as_deref(), Some("2"));
    assert_eq!(found(".spec.numbers[*]").as_deref(), Some("1"));
    assert_eq!(found(".spec['numbers']").as_deref(), Some("[1,2,3]"));
    assert_eq!(found(r".metadata.annotations.example\.org/a\.b").as_deref(), Some("dotted"));
    assert_eq!(found("..name").as_deref(), Some("one"));
    assert_eq!(found(".spec.null").as_deref(), Some("<no value>"));
}

#[test]
fn what_is_missing_leads_nowhere() {
    for path in [".spec.nope", ".spec.nope.deeper[0]", ".spec.list[7]", ".spec.null.a", ".spec.list.name"] {
        assert_eq!(found(path), None, "{path}");
    }
}

#[test]
fn filters_compare_and_ask_for_presence() {
    assert_eq!(found(r#".spec.list[?(@.name=="two]")].n"#).as_deref(), Some("2"));
    assert_eq!(found(".spec.list[?(@.n>1)].n").as_deref(), Some("2"));
    assert_eq!(found(".spec.list[?(@.n != 1)].n").as_deref(), Some("2"));
    assert_eq!(found(".spec.list[?(@.name)].n").as_deref(), Some("1"));
    assert_eq!(found(".spec.list[?(@.nope=='x')].n"), None);
}

#[test]
fn what_is_no_path_is_not_read() {
    for bad in ["[", ".a[", ".a[x", ".a[1:2:0]", ".a[?(@.b==)]"] {
        assert_eq!(Path::parse(bad), None, "{bad}");
    }
}
