//! The language itself: expressions that hold, that do not, and that have no value.

use serde_json::{Value, json};

use crate::server::{Differences, Server, compiled, definition, object_of, our_answer, path_of};

/// Expressions about an object with a count, a ratio, a text, a list, and a list of objects with and without a value.
const EXPRESSIONS: [&str; 100] = [
    "self.n > 2.5",
    "self.n == 3.0",
    "self.n < 4u",
    "self.d >= 1",
    "self.d == 1.5",
    "3.0 == 3",
    "2u < 3",
    "1.5 > 1u",
    "self.n in [1, 2, 3]",
    "self.n / 2 == 1",
    "self.n % 2 == 1",
    "-self.n == -3",
    "self.n - 4 < 0",
    "self.n * 2 == 6",
    "self.n / 0 == 1",
    "self.n % 0 == 1",
    "9223372036854775807 + self.n > 0",
    "self.d / 0.0 > 1.0",
    "int(self.d) == 1",
    "double(self.n) == 3.0",
    "uint(self.n) == 3u",
    "string(self.n) == '3'",
    "string(self.d) == '1.5'",
    "string(true) == 'true'",
    "int('12') == 12",
    "double('1.5') == 1.5",
    "int('x') == 1",
    "bool('true')",
    "self.t + 'x' == 'Abcx'",
    "self.t.size() == 3",
    "size(self.t) == 3",
    "self.t < 'B'",
    "self.t[0] == 'A'",
    "self.t == \"Abc\"",
    "self.t == 'A\\u0062c'",
    "self.t == r'Abc'",
    "self.t.contains('b')",
    "self.t.matches('b')",
    "self.t.matches('^b')",
    "self.t.charAt(1) == 'b'",
    "self.t.charAt(9) == 'b'",
    "self.t.substring(0, 2) == 'Ab'",
    "self.t.indexOf('c') == 2",
    "self.t.lastIndexOf('z') == -1",
    "self.t.replace('b', 'x') == 'Axc'",
    "self.t.split('b') == ['A', 'c']",
    "self.t.split('b', 1) == ['Abc']",
    "['a', 'b'].join('-') == 'a-b'",
    "self.t.lowerAscii() == 'abc'",
    "'%s-%d'.format([self.t, self.n]) == 'Abc-3'",
    "' a '.trim() == 'a'",
    "self.l.size() == 3",
    "self.l[1] == 2",
    "self.l[5] == 2",
    "self.l[-1] == 2",
    "self.l + [4] == [1, 2, 3, 4]",
    "self.l == [1, 2, 3]",
    "self.l != [3, 2, 1]",
    "self.l.sum() == 6",
    "self.l.max() == 3",
    "self.l.min() == 1",
    "self.l.isSorted()",
    "self.l.indexOf(2) == 1",
    "self.l.all(x, x > 0)",
    "self.l.exists(x, x > 2)",
    "self.l.exists_one(x, x > 2)",
    "self.l.map(x, x * 2) == [2, 4, 6]",
    "self.l.map(x, x > 1, x) == [2, 3]",
    "self.l.filter(x, x > 1) == [2, 3]",
    "self.l.slice(0, 2) == [1, 2]",
    "self.l.reverse() == [3, 2, 1]",
    "self.l.distinct().size() == 3",
    "[3, 1, 2].sort() == [1, 2, 3]",
    "[[1], [2]].flatten() == [1, 2]",
    "lists.range(3) == [0, 1, 2]",
    "sets.contains(self.l, [2])",
    "sets.equivalent(self.l, [3, 2, 1])",
    "sets.intersects(self.l, [9])",
    "{'a': 1}['a'] == 1",
    "{'a': 1}.b == 1",
    "'a' in {'a': 1}",
    "{'a': 1}.size() == 1",
    "self.o.exists(i, i.v == 2)",
    "self.o.all(i, i.v == 9)",
    "self.o.exists(i, i.v == 9)",
    "self.o.all(i, i.v > 0)",
    "self.o.filter(i, has(i.v)).size() == 1",
    "self.missing > 1 || self.n == 3",
    "self.n == 3 || self.missing > 1",
    "self.missing > 1 && self.n == 9",
    "self.missing > 1 || self.other > 1",
    "self.missing > 1 ? true : false",
    "self.n == 3 ? true : self.missing > 1",
    "self.?missing.orValue(7) == 7",
    "self.?n.orValue(7) == 3",
    "optional.of(self.n).value() == 3",
    "optional.none().hasValue()",
    "self.n == null",
    "type(self.l) == list",
    "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
];
const MORE: [&str; 40] = [
    "duration('90s').getMinutes() == 1",
    "duration('1h') > duration('59m')",
    "duration('x') > duration('1s')",
    "timestamp('2024-03-05T10:20:30Z').getMonth() == 2",
    "timestamp('2024-03-05T10:20:30Z').getDayOfMonth() == 4",
    "timestamp('2024-03-05T10:20:30Z').getDayOfWeek() == 2",
    "timestamp('2024-03-05T10:20:30+02:00').getHours() == 8",
    "quantity('1Gi').asInteger() == 1073741824",
    "quantity('1.5').isInteger()",
    "quantity('1k').compareTo(quantity('1000')) == 0",
    "quantity('1').add(quantity('2')).isGreaterThan(quantity('2'))",
    "quantity('1').sub(1).sign() == 0",
    "isQuantity('1 Gi')",
    "quantity('500m').asApproximateFloat() == 0.5",
    "url('https://a.b:8/c?d=e').getPort() == '8'",
    "url('https://a.b/c').getScheme() == 'https'",
    "url('https://a.b/c?d=e&d=f').getQuery()['d'] == ['e', 'f']",
    "isURL('../a')",
    "ip('10.0.0.1').family() == 4",
    "ip('::1').isLoopback()",
    "ip.isCanonical('::1')",
    "isIP('1.2.3')",
    "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
    "cidr('10.0.0.0/8').prefixLength() == 8",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "isCIDR('10.0.0.0')",
    "semver('1.2.3').isLessThan(semver('1.10.0'))",
    "isSemver('1.2')",
    "semver('1.2.3').minor() == 2",
    "format.dns1123Label().validate('a_b').hasValue()",
    "!format.dns1123Label().validate('ab').hasValue()",
    "'a1b22'.find('[0-9]+') == '1'",
    "'a1b22'.findAll('[0-9]+') == ['1', '22']",
    "'a1b22'.findAll('[0-9]+', 1) == ['1']",
    "self.l.all(x, self.l.exists(y, y == x))",
    "self.o.map(i, has(i.v) ? i.v : 0).sum() == 2",
    "b'abc'.size() == 3",
    "string(b'abc') == 'abc'",
    "self.t.startsWith('A') && self.t.endsWith('c')",
    "!(self.n in [4]) && !(self.n > 3)",
];

fn schema(rules: &[&str]) -> Value {
    let rules: Vec<_> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {
            "n": {"type": "integer"}, "d": {"type": "number"}, "t": {"type": "string", "maxLength": 9},
            "missing": {"type": "integer"}, "other": {"type": "integer"},
            "l": {"type": "array", "maxItems": 9, "items": {"type": "integer"}},
            "o": {"type": "array", "maxItems": 9, "items": {"type": "object", "properties": {"v": {"type": "integer"}}}},
        },
        "x-kubernetes-validations": rules,
    }}})
}

#[test]
fn real_expressions_have_the_same_values() {
    let server = Server::new();
    let all: Vec<_> = EXPRESSIONS.iter().chain(&MORE).copied().collect();
    // What the server does not compile is compared elsewhere; here values are.
    let compiles = |rule: &&str| server.try_definition(&definition("Expression", &schema(&[rule]))).is_ok();
    let (usable, refused): (Vec<_>, Vec<_>) = all.iter().copied().partition(compiles);
    println!("refused: {refused:#?}");
    assert!(refused.len() < 10, "{refused:#?}");
    let mut differences = Differences::default();
    let spec = json!({"n": 3, "d": 1.5, "t": "Abc", "l": [1, 2, 3], "o": [{}, {"v": 2}]});
    let definition = definition("Expression", &schema(&usable));
    server.install(&definition);
    let object = object_of(&definition, &spec);
    let theirs = server.create(&path_of(&definition), &object, true);
    for rule in &usable {
        let schema = compiled(&crate::server::definition("Expression", &schema(&[rule])));
        let ours = our_answer(&schema, &object, None);
        differences.compare(&json!(rule), &ours, &only(rule, &object, &theirs));
    }
    differences.assert_none(120);
}

/// The part of an answer that is about one rule.
fn only(
    rule: &str,
    object: &Value,
    answer: &Result<Value, crate::server::Refusal>,
) -> Result<Value, crate::server::Refusal> {
    let Err(crate::server::Refusal::Causes(causes)) = answer else { return answer.clone() };
    let about: std::collections::BTreeSet<_> = causes
        .iter()
        .filter(|(_, _, message)| message.ends_with(&format!("rule: {rule}")))
        .cloned()
        .collect();
    if about.is_empty() { Ok(object.clone()) } else { Err(crate::server::Refusal::Causes(about)) }
}
