//! Fields with rules of every kind, and values for them.

use serde_json::{Value, json};

use crate::probes::Probe;

/// Every probe with a rule.
pub(crate) fn all() -> Vec<Probe> {
    [texts(), numbers(), formatted(), lists(), objects(), special(), refusals()]
        .into_iter()
        .flatten()
        .collect()
}

fn ruled(name: &'static str, mut schema: Value, rules: &[&str], values: Value) -> Probe {
    schema["x-kubernetes-validations"] = rules.iter().map(|rule| json!({"rule": rule})).collect();
    Probe { name, schema, values }
}

fn probe(name: &'static str, schema: Value, values: Value) -> Probe {
    Probe { name, schema, values }
}

fn texts() -> Vec<Probe> {
    let text = json!({"type": "string", "maxLength": 64});
    let texts = json!([
        "",
        "a",
        "abc",
        "Hello World",
        "a,b,c",
        "1Gi",
        "10.0.0.1",
        "http://a.b:80/c?d=e",
        "1.2.3",
        "é日本"
    ]);
    vec![
        ruled(
            "text",
            text.clone(),
            &[
                "self.size() > 1",
                "self.startsWith('a')",
                "self.matches('^[a-z]+$')",
                "self.contains('b') || self == 'a'",
                "self.lowerAscii() == self",
                "self.upperAscii() != 'ABC'",
                "self.split(',').size() == 1",
                "self.indexOf('l') < 3",
                "self.replace('a', 'b').endsWith('c')",
                "self.trim() == self",
                "self in ['a', 'abc']",
                "self < 'b'",
            ],
            texts.clone(),
        ),
        ruled(
            "libraries",
            text.clone(),
            &[
                "isQuantity(self)",
                "isIP(self)",
                "isURL(self)",
                "isSemver(self)",
                "self.find('[0-9]+') == ''",
                "self.findAll('[a-z]').size() < 2",
                "!isQuantity(self) || quantity(self).isGreaterThan(quantity('1Mi'))",
                "!isIP(self) || ip(self).family() == 6",
                "!isURL(self) || url(self).getHostname() == 'a.b'",
                "!format.dns1123Label().validate(self).hasValue()",
                "self.substring(1).size() >= 0",
            ],
            texts,
        ),
    ]
}

fn numbers() -> Vec<Probe> {
    vec![
        ruled(
            "integer",
            json!({"type": "integer"}),
            &[
                "self > 3",
                "self % 2 == 0",
                "10 / self > 2",
                "self + 1 < 5",
                "-self < 0",
                "self in [1, 2, 3]",
                "double(self) > 1.5",
                "string(self) == '4'",
                "type(self) == int",
                "self == 3 ? true : self != 5",
                "self * 2 <= 8 && self - 1 >= 0",
            ],
            json!([0, 1, 3, 4, 5, -2, 9_223_372_036_854_775_807_i64]),
        ),
        ruled(
            "number",
            json!({"type": "number"}),
            &["self > 1.0", "self == 2.0", "int(self) == 2", "type(self) == double"],
            json!([0, 1.5, 2, 2.5]),
        ),
        ruled(
            "boolean",
            json!({"type": "boolean"}),
            &["self", "!self || self == true", "self != false"],
            json!([true, false]),
        ),
    ]
}

fn formatted() -> Vec<Probe> {
    let formatted = |format: &str| json!({"type": "string", "format": format, "maxLength": 64});
    vec![
        ruled(
            "time",
            formatted("date-time"),
            &[
                "self > timestamp('2024-01-01T00:00:00Z')",
                "self.getFullYear() == 2024",
                "self.getHours() == 22",
                "self + duration('1h') < timestamp('2024-06-01T00:00:00Z')",
            ],
            json!(["2024-03-01T00:00:00Z", "2023-01-01T00:00:00Z", "2024-12-01T00:00:00.5+02:00"]),
        ),
        ruled(
            "duration",
            formatted("duration"),
            &["self > duration('1m')", "self.getSeconds() == 90", "self < duration('1h')"],
            json!(["90s", "1s", "2h", "3 days"]),
        ),
        ruled(
            "date",
            formatted("date"),
            &["self > timestamp('2024-01-01T00:00:00Z')"],
            json!(["2024-03-01", "2023-01-01"]),
        ),
        ruled("bytes", formatted("byte"), &["self.size() == 2", "self == b'ab'"], json!(["YWI=", "YWJj"])),
        ruled(
            "intOrString",
            json!({"x-kubernetes-int-or-string": true, "maxLength": 9}),
            &["type(self) == int ? self < 100 : self.endsWith('%')", "string(self).size() < 3"],
            json!([1, 100, "5%", "x"]),
        ),
        ruled(
            "nullable",
            json!({"type": "string", "nullable": true, "maxLength": 9}),
            &["self == 'x'"],
            json!([null, "x", "y"]),
        ),
    ]
}

fn lists() -> Vec<Probe> {
    let item = json!({"type": "object", "required": ["k"], "properties": {
        "k": {"type": "string", "maxLength": 9}, "v": {"type": "integer"}, "o": {"type": "string", "maxLength": 9, "nullable": true},
    }});
    let list = json!({"type": "array", "maxItems": 9, "items": {"type": "integer"}});
    vec![
        ruled(
            "list",
            list,
            &[
                "self.size() > 1",
                "self.all(x, x > 0)",
                "self.exists(x, x == 3)",
                "self.exists_one(x, x == 2)",
                "self.map(x, x * 2).sum() < 20",
                "self.filter(x, x > 1).size() == 2",
                "self[0] == 1",
                "2 in self",
                "self.isSorted()",
                "self.max() < 9",
                "self.indexOf(3) == 2",
                "self == [1, 2, 3]",
                "self + [4] == [1, 2, 3, 4]",
                "sets.contains(self, [1])",
                "self.all(x, self.exists(y, y == x))",
            ],
            json!([[], [1], [1, 2, 3], [3, 2, 1], [0, 9], [2, 2, 2]]),
        ),
        ruled(
            "keyed",
            json!({
                "type": "array", "maxItems": 9, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item,
            }),
            &[
                "self.exists(i, i.k == 'a')",
                "self.all(i, !has(i.v) || i.v > 1)",
                "self.filter(i, has(i.o)).size() == 0",
                "self.map(i, i.k) == ['a', 'b']",
            ],
            json!([[], [{"k": "a"}, {"k": "b", "v": 2}], [{"k": "b", "v": 1, "o": "x"}], [{"k": "a", "o": null}]]),
        ),
    ]
}

fn objects() -> Vec<Probe> {
    vec![
        ruled(
            "map",
            json!({"type": "object", "maxProperties": 9, "additionalProperties": {"type": "string", "maxLength": 9}}),
            &[
                "self.size() == 1",
                "'a' in self",
                "self.all(k, k.size() == 1)",
                "!('a' in self) || self['a'] == 'x'",
                "self.exists(k, self[k] == 'y')",
                "has(self.a)",
                "self.?a.orValue('z') == 'z'",
                "self.a == 'x'",
            ],
            json!([{}, {"a": "x"}, {"b": "y"}, {"a.b/c": "x", "long": "y"}]),
        ),
        ruled(
            "object",
            json!({"type": "object", "properties": {
                "a": {"type": "string", "maxLength": 9}, "b-c": {"type": "integer"}, "namespace": {"type": "string", "maxLength": 9}, "d__e": {"type": "boolean"},
                "o": {"type": "object", "properties": {"x": {"type": "integer"}}},
            }}),
            &[
                "has(self.a)",
                "!has(self.b__dash__c) || self.b__dash__c > 1",
                "!has(self.__namespace__) || self.__namespace__ == 'n'",
                "!has(self.d__underscores__e) || self.d__underscores__e",
                "has(self.o) && has(self.o.x)",
                "self.o.x == 1",
                "has(self.a) != has(self.o)",
                "self.?o.?x.orValue(5) == 5",
                "self.?a.hasValue()",
            ],
            json!([{}, {"a": "x"}, {"b-c": 1, "namespace": "n", "d__e": false}, {"o": {}}, {"a": "x", "o": {"x": 1}}, {"o": {"x": 9}}]),
        ),
    ]
}

fn special() -> Vec<Probe> {
    vec![
        ruled(
            "preserved",
            json!({
                "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "integer"}},
            }),
            &["has(self.a)", "!has(self.a) || self.a > 1"],
            json!([{}, {"a": 1}, {"a": 2, "x": {"y": 1}}]),
        ),
        ruled(
            "embedded",
            json!({
                "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
            }),
            &[
                "self.kind == 'Pod'",
                "has(self.metadata) && self.metadata.name.startsWith('a')",
                "self.apiVersion == 'v1'",
            ],
            json!([
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "abc"}}, {"apiVersion": "v2", "kind": "X", "metadata": {}},
                {"apiVersion": "v1", "kind": "Pod"},
            ]),
        ),
        probe(
            "items",
            json!({"type": "array", "maxItems": 9, "items": {"type": "object", "properties": {
                "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 5"}]},
                "m": {"type": "object", "maxProperties": 9, "additionalProperties": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self != ''"}]}},
            }}}),
            json!([[{"n": 1}, {"n": 9}], [{"m": {"k.x": "", "l": "a"}}]]),
        ),
    ]
}

fn refusals() -> Vec<Probe> {
    let with = |rule: Value| {
        json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "m": {"type": "object", "maxProperties": 9, "additionalProperties": {"type": "string", "maxLength": 9}},
    }, "x-kubernetes-validations": [rule]})
    };
    let values = json!([{"a": 1}, {"a": 9}, {}]);
    vec![
        probe(
            "message",
            with(json!({"rule": "has(self.a) && self.a < 5", "message": " too much "})),
            values.clone(),
        ),
        probe(
            "expression",
            with(
                json!({"rule": "self.a < 5", "message": "m", "messageExpression": "self.a > 8 ? 'much' : 'more'"}),
            ),
            values.clone(),
        ),
        probe(
            "brokenExpression",
            with(json!({"rule": "self.a < 5", "message": "m", "messageExpression": "string(self.a / 0)"})),
            values.clone(),
        ),
        probe(
            "emptyExpression",
            with(json!({"rule": "self.a < 5", "messageExpression": "' '"})),
            values.clone(),
        ),
        probe(
            "forbidden",
            with(json!({"rule": "self.a < 5", "reason": "FieldValueForbidden", "fieldPath": ".a"})),
            values.clone(),
        ),
        probe(
            "requiredReason",
            with(json!({"rule": "has(self.m)", "reason": "FieldValueRequired", "fieldPath": ".m['x.y']"})),
            values.clone(),
        ),
        probe(
            "duplicate",
            with(json!({"rule": "self.a < 5", "reason": "FieldValueDuplicate"})),
            values.clone(),
        ),
        probe(
            "invalidReason",
            with(json!({"rule": "self.a < 5", "reason": "FieldValueInvalid", "message": "x"})),
            values,
        ),
        probe(
            "scalarDuplicate",
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self < 5", "reason": "FieldValueDuplicate"}]}),
            json!([1, 9]),
        ),
        probe(
            "blocked",
            json!({"type": "string", "maxLength": 2, "enum": ["a", "abc"], "x-kubernetes-validations": [{"rule": "self == 'a'"}]}),
            json!(["a", "abc", "z", 1]),
        ),
        probe(
            "optional",
            json!({"type": "string", "maxLength": 9, "x-kubernetes-validations": [
                {"rule": "oldSelf.hasValue() || self == 'first'", "optionalOldSelf": true}, {"rule": "self == oldSelf"},
            ]}),
            json!(["first", "other"]),
        ),
    ]
}
