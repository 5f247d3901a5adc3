//! What must differ between two servers gets a name that does not: uids, versions, times, addresses, random endings.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

static REST: LazyLock<[(Regex, &'static str); 4]> = LazyLock::new(|| {
    [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>"),
        (r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (r"\b10\.0\.0\.\d{1,3}\b", "<cluster address>"),
        (r"\b10\.200\.\d{1,3}\.\d{1,3}\b", "<pod address>"),
    ]
    .map(|(pattern, name)| (Regex::new(pattern).unwrap(), name))
});

/// Lists whose order is chance: that of times, or of addresses.
const IN_ANY_ORDER: [&str; 6] =
    ["managedFields", "endpoints", "addresses", "notReadyAddresses", "ownerReferences", "conditions"];

/// What is there, or owned, if a controller came by between two changes: that it did is chance.
fn is_chance(name: &str) -> bool {
    name.ends_with("endpoints.kubernetes.io/last-change-trigger-time") || name == "f:numberMisscheduled"
}

fn says_nothing(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.keys().all(|name| name == "."))
}

/// The objects of these lists, in an order of their own.
pub(crate) fn normal(lists: &[Value]) -> Value {
    let mut names = Names::default();
    let objects: Vec<&Value> =
        lists.iter().flat_map(|list| list["items"].as_array().into_iter().flatten()).collect();
    for object in &objects {
        names.learn(object);
    }
    let mut kinds: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for list in lists {
        let of_kind = kinds.entry(list["kind"].as_str().unwrap_or_default().to_owned()).or_default();
        of_kind.extend(list["items"].as_array().into_iter().flatten().map(|object| names.rename("", object)));
        of_kind.sort_by_key(ToString::to_string);
    }
    kinds.into_iter().map(|(kind, objects)| (kind, Value::Array(objects))).collect::<Map<_, _>>().into()
}

/// What is said in place of what: uids of known objects, and names that end at random.
#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    fn learn(&mut self, object: &Value) {
        let metadata = &object["metadata"];
        let text = |field: &str| metadata[field].as_str();
        let (Some(name), Some(uid)) = (text("name"), text("uid")) else { return };
        let plain = match text("generateName") {
            Some(start) if name.starts_with(start) => {
                let plain = format!("{start}<random>");
                self.0.push((name.to_owned(), plain.clone()));
                plain
            }
            _ => name.to_owned(),
        };
        self.0.push((uid.to_owned(), format!("<uid of {plain}>")));
    }

    fn rename(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(_) if key == "resourceVersion" => "<version>".into(),
            // How many changes the controllers make of one is chance.
            Value::Object(fields) if fields.contains_key("addressType") => {
                let mut slice = self.fields(fields);
                slice["metadata"]["generation"] = Value::Null;
                slice
            }
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => {
                let mut items: Vec<_> = items.iter().map(|item| self.rename(key, item)).collect();
                if IN_ANY_ORDER.contains(&key) {
                    items.sort_by_key(ToString::to_string);
                }
                items.into()
            }
            Value::Object(fields) => self.fields(fields),
            other => other.clone(),
        }
    }

    fn fields(&self, fields: &Map<String, Value>) -> Value {
        let kept = fields.iter().filter(|(name, _)| !is_chance(name));
        let renamed = kept.map(|(name, value)| (self.text(name), self.rename(name, value)));
        let said = renamed.filter(|(name, value)| !(name.ends_with("annotations") && says_nothing(value)));
        Value::Object(said.collect())
    }

    fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (known, name) in &self.0 {
            text = text.replace(known, name);
        }
        for (pattern, name) in REST.iter() {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        text
    }
}
