//! Whole documents, for programs: JSON and YAML.

use serde::Serialize;

use crate::access::Output;
use crate::error::Failure;

/// The document in the form that was asked for; none where a person is to read.
pub fn document(value: &impl Serialize, output: Output) -> Result<Option<String>, Failure> {
    let failed = |why: String| Failure::Call { doing: "write the result".to_owned(), why };
    match output {
        Output::Json => {
            let text = serde_json::to_string_pretty(value).map_err(|error| failed(error.to_string()))?;
            Ok(Some(text + "\n"))
        }
        Output::Yaml => serde_yaml_ng::to_string(value).map(Some).map_err(|error| failed(error.to_string())),
        Output::Text | Output::Wide => Ok(None),
    }
}
