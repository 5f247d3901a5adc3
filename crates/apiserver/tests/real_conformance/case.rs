//! What a case is: a story of requests, told in YAML, with the differences that are known.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::reference;

/// A story: one request after the other, in a namespace of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What is told, as a sentence.
    pub(crate) name: String,
    /// The same story for each of these, with `${word}` in its place.
    #[serde(default)]
    each: Vec<BTreeMap<String, Value>>,
    pub(crate) steps: Vec<Step>,
    /// Where the servers are known to differ, and why.
    #[serde(default)]
    pub(crate) differs: Vec<Difference>,
    /// The file that it is in.
    #[serde(skip)]
    pub(crate) topic: String,
}

/// One request, or the events of a watch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// `METHOD target`: a request. A target is a path, or a resource of the namespace of the case.
    #[serde(default, rename = "do")]
    pub(crate) request: Option<String>,
    /// A target: opens a watch; `as` names it.
    #[serde(default)]
    pub(crate) watch: Option<String>,
    /// The name of a watch: reads its events.
    #[serde(default)]
    pub(crate) collect: Option<String>,
    /// Which events are read: so many, to the `end` of the watch, or up to a `bookmark`.
    #[serde(default)]
    pub(crate) events: Option<Value>,
    /// How later steps call the answer.
    #[serde(default, rename = "as")]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The content type: `json`, `yaml`, `patch`, `merge`, `strategic`, `apply`, or in full.
    #[serde(default, rename = "type")]
    pub(crate) content: Option<String>,
    /// What is sent, as JSON.
    #[serde(default)]
    pub(crate) body: Option<Value>,
    /// Merged into the body before it is sent, as a merge patch.
    #[serde(default)]
    pub(crate) merge: Option<Value>,
    /// What is sent, as it stands.
    #[serde(default)]
    pub(crate) raw: Option<String>,
    /// What is sent, a byte for each character.
    #[serde(default)]
    pub(crate) latin1: Option<String>,
    /// Asked again until the answer is so.
    #[serde(default)]
    pub(crate) until: Option<Until>,
    /// Compare these parts of the answer only, by JSON pointer; `[]` for the code alone.
    #[serde(default)]
    pub(crate) only: Option<Vec<String>>,
    /// Do not compare these parts, by JSON pointer; `*` is any one word.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
}

/// What an answer has to be before the story goes on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Until {
    #[serde(default)]
    pub(crate) code: Option<u16>,
    #[serde(default)]
    pub(crate) at: Option<String>,
    #[serde(default)]
    pub(crate) is: Value,
}

/// A difference that is known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    /// In the answer to which step, counted from 1.
    pub(crate) step: usize,
    /// Where in the answer, by JSON pointer; "" is all of it.
    pub(crate) at: String,
    /// The status code of our answer: said where all of it differs, for then nothing else is looked at.
    #[serde(default)]
    pub(crate) ours: Option<u16>,
    /// Why it is so.
    pub(crate) reason: String,
}

impl Case {
    /// The namespace that is its own.
    pub(crate) fn namespace(&self) -> String {
        let name = format!("{} {}", self.topic, self.name);
        let mut words: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        words.truncate(40);
        // The sum tells apart what begins alike.
        let sum = name.bytes().fold(5381_u32, |sum, byte| sum.wrapping_mul(33) ^ u32::from(byte));
        format!("{}-{sum:x}", words.trim_matches('-'))
    }

    /// One case for each of `each`.
    fn spread(self) -> Vec<Self> {
        if self.each.is_empty() {
            return vec![self];
        }
        let fill = |words: &BTreeMap<String, Value>| Self {
            name: self.name_with(words),
            steps: self.steps.iter().map(|step| step.filled(words)).collect(),
            each: Vec::new(),
            ..self.clone()
        };
        self.each.iter().map(fill).collect()
    }
}

impl Case {
    /// The name with the words in it; where it has no place for them, after it.
    fn name_with(&self, words: &BTreeMap<String, Value>) -> String {
        let name = reference::fill_text(&self.name, words);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let words: Vec<_> = words.values().map(text).collect();
        if name == self.name { format!("{name}: {}", words.join(", ")) } else { name }
    }
}

impl Step {
    fn filled(&self, words: &BTreeMap<String, Value>) -> Self {
        let text = |text: &Option<String>| text.as_ref().map(|text| reference::fill_text(text, words));
        let value = |value: &Option<Value>| value.as_ref().map(|value| reference::fill(value, words));
        let headers = self.headers.iter().map(|(k, v)| (k.clone(), reference::fill_text(v, words)));
        Self {
            request: text(&self.request),
            watch: text(&self.watch),
            content: text(&self.content),
            body: value(&self.body),
            merge: value(&self.merge),
            raw: text(&self.raw),
            headers: headers.collect(),
            ..self.clone()
        }
    }
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/real_conformance/cases")
}

/// The topics that there are files of.
pub(crate) fn topics() -> Vec<String> {
    let files = std::fs::read_dir(directory()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut topics: Vec<_> = names.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned)).collect();
    topics.sort();
    topics
}

/// The cases of a topic. `MUSTER_CASE` chooses those whose topic and name hold such words.
pub(crate) fn read(topic: &str) -> Vec<Case> {
    let path = directory().join(format!("{topic}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<Case> =
        serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("{topic}.yaml: {error}"));
    let wanted = std::env::var("MUSTER_CASE").unwrap_or_default();
    let mut cases: Vec<_> = cases.into_iter().flat_map(Case::spread).collect();
    for case in &mut cases {
        topic.clone_into(&mut case.topic);
    }
    cases.retain(|case| format!("{topic}: {}", case.name).contains(&wanted));
    cases
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    topics().iter().flat_map(|topic| read(topic)).collect()
}

/// What is done once on every server, before all cases.
pub(crate) fn setup() -> Case {
    let text = std::fs::read_to_string(directory().with_file_name("setup.yaml")).unwrap();
    serde_yaml_ng::from_str(&text).unwrap_or_else(|error| panic!("setup.yaml: {error}"))
}
