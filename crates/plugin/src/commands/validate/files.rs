//! Reading manifests: files, directories, standard input; one or more documents in each, and Lists.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::Failure;

/// The largest file that is read: far above what an API server takes.
const FILE_MAX: u64 = 16 << 20;
/// Most documents in one run.
const DOCUMENTS_MAX: usize = 10_000;

/// One manifest, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// The file, and which document of it where there are several.
    pub(crate) source: String,
    /// What it says.
    pub(crate) value: Value,
}

impl Document {
    /// A field of its metadata or its kind, if it is a text.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.value.pointer(pointer).and_then(Value::as_str)
    }
}

/// Reads all of them.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for path in paths {
        for file in files(path)? {
            let name = if file.as_os_str() == "-" {
                "standard input".to_owned()
            } else {
                file.display().to_string()
            };
            let wrong = |why: String| Failure::File { file: name.clone(), why };
            let text = text_of(&file).map_err(|error| wrong(error.to_string()))?;
            documents.extend(parse(&name, &text).map_err(wrong)?);
        }
    }
    if documents.is_empty() {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::File { file: names.join(", "), why: "there is no manifest in it".to_owned() });
    }
    if documents.len() > DOCUMENTS_MAX {
        return Err(Failure::Usage(format!("{} manifests are more than {DOCUMENTS_MAX}", documents.len())));
    }
    Ok(documents)
}

/// The file itself, or the manifests of a directory, in order.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let wrong =
        |error: std::io::Error| Failure::File { file: path.display().to_string(), why: error.to_string() };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(wrong)? {
        let file = entry.map_err(wrong)?.path();
        let extension = file.extension().and_then(|extension| extension.to_str());
        if file.is_file() && matches!(extension, Some("yaml" | "yml" | "json")) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn text_of(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(FILE_MAX + 1).read_to_string(&mut text)?
    } else {
        std::fs::File::open(path)?.take(FILE_MAX + 1).read_to_string(&mut text)?
    };
    if u64::try_from(read).unwrap_or(u64::MAX) > FILE_MAX {
        return Err(std::io::Error::other(format!("it is larger than {FILE_MAX} bytes")));
    }
    Ok(text)
}

/// The documents of a text; JSON is YAML, too.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Document>, String> {
    let mut values = Vec::new();
    for document in serde_yaml_ng::Deserializer::from_str(text) {
        match Value::deserialize(document).map_err(|error| error.to_string())? {
            Value::Null => {}
            Value::Object(mut fields) if fields.get("kind").and_then(Value::as_str) == Some("List") => {
                if let Some(Value::Array(items)) = fields.remove("items") {
                    values.extend(items);
                }
            }
            value @ Value::Object(_) => values.push(value),
            _ => return Err("it holds something that is not an object".to_owned()),
        }
    }
    let several = values.len() > 1;
    let named = values.into_iter().enumerate().map(|(at, value)| {
        let source = if several { format!("{name} ({})", at + 1) } else { name.to_owned() };
        Document { source, value }
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_lists_and_json_are_read() {
        let text = "---\nkind: A\n---\n# nothing\n---\nkind: List\nitems: [{kind: B}, {kind: C}]\n";
        let found = parse("f", text).unwrap();
        let kinds: Vec<_> = found.iter().map(|document| document.text("/kind").unwrap()).collect();
        assert_eq!(kinds, ["A", "B", "C"]);
        assert_eq!(found[1].source, "f (2)");
        assert_eq!(parse("f", r#"{"kind": "A", "spec": {"n": 1}}"#).unwrap()[0].value["spec"]["n"], 1);
        assert_eq!(parse("f", "").unwrap(), []);
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        assert!(parse("f", "just words").is_err());
        assert!(parse("f", "a: [").is_err());
        assert!(read(&["/does/not/exist.yaml".into()]).is_err());
    }
}
