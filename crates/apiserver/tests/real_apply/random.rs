//! Choices out of a seed, so that what fails can be run again.

use serde_json::{Map, Value, json};

/// A generator of choices (splitmix64).
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn of<'c, T>(&mut self, all: &'c [T]) -> &'c T {
        &all[self.below(all.len())]
    }

    /// A value for a schema: few different ones, so that they meet again. Each property is there once in `sparse`.
    pub(crate) fn value(&mut self, schema: &Value, sparse: usize) -> Value {
        if self.once_in(200) {
            return self.of(&[json!(7), json!(["a", "a"]), json!({"u": true}), json!(null)]).clone();
        }
        match schema["type"].as_str().unwrap_or_default() {
            "string" => json!(*self.of(&["a", "b", "<c>"])),
            "integer" => json!(self.below(3)),
            "boolean" => json!(self.once_in(2)),
            "array" => self.list(schema),
            "object" if schema["x-kubernetes-preserve-unknown-fields"] == true => {
                json!({"p": self.anything(1)})
            }
            "object" => self.object(schema, sparse),
            _ if schema["x-kubernetes-int-or-string"] == true => {
                self.of(&[json!(1), json!("1"), json!("x")]).clone()
            }
            _ => self.anything(2),
        }
    }

    fn object(&mut self, schema: &Value, sparse: usize) -> Value {
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            if required || self.once_in(sparse) {
                object.insert(name.clone(), self.value(property, sparse));
            }
        }
        if schema["additionalProperties"].is_object() {
            for key in ["x", "y", "z"] {
                if self.once_in(2) {
                    object.insert(key.into(), self.value(&schema["additionalProperties"], sparse));
                }
            }
        }
        Value::Object(object)
    }

    /// Items without repetition, because what is applied may not repeat, nor what is stored.
    fn list(&mut self, schema: &Value) -> Value {
        let mut items: Vec<Value> = Vec::new();
        let keys: Vec<_> = schema["x-kubernetes-list-map-keys"].as_array().cloned().unwrap_or_default();
        let identity = |item: &Value| -> Vec<Value> {
            let key = |key: &Value| item.get(key.as_str().unwrap()).cloned().unwrap_or_else(|| json!("TCP"));
            if keys.is_empty() { vec![item.clone()] } else { keys.iter().map(key).collect() }
        };
        for _ in 0..self.below(4) {
            let item = self.value(&schema["items"], 2);
            if items.iter().all(|other| identity(other) != identity(&item)) {
                items.push(item);
            }
        }
        Value::Array(items)
    }

    /// Whatever: here the types are what the values are.
    fn anything(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => json!(self.below(2)),
            1 => json!("a"),
            2 => json!([]),
            3 => json!([{"a": self.below(2)}]),
            _ => {
                let mut object = Map::new();
                for key in ["p", "q"] {
                    if self.once_in(2) {
                        object.insert(key.into(), self.anything(depth - 1));
                    }
                }
                Value::Object(object)
            }
        }
    }
}
