//! The definitions of the built-in kinds as text: a few of them are needed at a time, and all of them, with their words for
//! people, would take several times the memory as values.

use std::sync::LazyLock;
use std::thread;

use serde_json::{Map, Value};

/// Named JSON, one after the other.
pub(super) struct Texts {
    all: String,
    /// Where each name begins and its text begins and ends, in the order of the names.
    places: Vec<[usize; 3]>,
}

impl Texts {
    fn of(values: Map<String, Value>) -> Self {
        let mut values: Vec<(String, Value)> = values.into_iter().collect();
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
        let (mut all, mut places) = (String::new(), Vec::with_capacity(values.len()));
        for (name, value) in values {
            let begin = all.len();
            all.push_str(&name);
            let text = all.len();
            all.push_str(&value.to_string());
            places.push([begin, text, all.len()]);
        }
        all.shrink_to_fit();
        Self { all, places }
    }

    /// Made by a thread of its own: memory that a thread took and gave back stays with it, and goes when it ends. This takes
    /// much, and for a moment only.
    pub(super) fn lazily(make: fn() -> Map<String, Value>) -> Self {
        let aside = thread::Builder::new().name("definitions".to_owned()).spawn(move || Self::of(make()));
        aside.ok().and_then(|aside| aside.join().ok()).unwrap_or_else(|| Self::of(make()))
    }

    fn name(&self, [begin, text, _]: [usize; 3]) -> &str {
        &self.all[begin..text]
    }

    fn value(&self, [_, text, end]: [usize; 3]) -> Value {
        // What was written here is JSON.
        serde_json::from_str(&self.all[text..end]).unwrap_or_default()
    }

    /// The value of this name.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let place = self.places.binary_search_by(|place| self.name(*place).cmp(name)).ok()?;
        self.places.get(place).map(|place| self.value(*place))
    }

    /// All of them.
    pub(super) fn all(&self) -> Map<String, Value> {
        self.places.iter().map(|place| (self.name(*place).to_owned(), self.value(*place))).collect()
    }
}

/// Texts that are made when they are first needed.
pub(super) type LazyTexts = LazyLock<Texts>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_put_in_comes_out() {
        let values = json!({"b": {"x": ["é", 1]}, "a": null, "ab": "\"", "": 1.5});
        let texts = Texts::lazily(|| {
            json!({"b": {"x": ["é", 1]}, "a": null, "ab": "\"", "": 1.5}).as_object().cloned().unwrap()
        });
        assert_eq!(Value::Object(texts.all()), values);
        for (name, value) in values.as_object().unwrap() {
            assert_eq!(texts.get(name).as_ref(), Some(value));
        }
        assert_eq!((texts.get("c"), texts.get("aa")), (None, None));
    }
}
