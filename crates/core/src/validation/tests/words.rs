//! How violations are told.

use super::*;

#[test]
fn as_many_violations_as_fit_are_told() {
    let report = |number: usize, length: usize| Report {
        violations: vec![Violation { path: "p".into(), message: "m".repeat(length) }; number],
        unreadable: Vec::new(),
    };
    assert_eq!(report(2, 1).finding().message, "p: m; p: m");
    let many = report(5000, 100).finding().message;
    assert!(many.chars().count() <= MESSAGE_LIMIT);
    let told = many.matches("p: ").count();
    assert!(many.ends_with(&format!(" and {} more", 5000 - told)), "{}", &many[many.len() - 40..]);
    assert!(told >= MESSAGE_LIMIT / 106, "{told}");
    let exact = report(2, (MESSAGE_LIMIT - 8) / 2).finding().message;
    assert_eq!(exact.chars().count(), MESSAGE_LIMIT, "the last one needs no room for 'and N more'");
    let huge = report(1, 2 * MESSAGE_LIMIT).finding().message;
    assert_eq!(huge.chars().count(), MESSAGE_LIMIT);
}

#[test]
fn paths_are_written_as_kubernetes_writes_them() {
    let path = Path::root("").field("spec").field("pools").index(2).field("threshold");
    assert_eq!(path.to_string(), "spec.pools[2].threshold");
    assert_eq!(Path::root("spec").key("a.b").to_string(), "spec[a.b]");
}
