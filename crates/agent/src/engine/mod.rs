//! The engine: the actions by which the software is driven, what they are told, and what they say.

pub mod action;
pub mod environment;
pub mod words;

use std::io;
use std::path::Path;

use muster_api::engine::{AcknowledgedCopies, Actions, Topology};
use muster_core::manager::roster::Copies;
use serde::Deserialize;

/// The file in the configuration's directory.
const FILE: &str = "engine.json";

/// Of what the operator resolved for this member, what the agent needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// The commands that drive the software.
    pub actions: Actions,
    /// How the members stand to each other.
    pub topology: Topology,
}

impl Engine {
    /// Reads it from this directory.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let path = directory.join(FILE);
        let named = |error: String| io::Error::other(format!("{}: {error}", path.display()));
        let text = std::fs::read(&path).map_err(|error| named(error.to_string()))?;
        serde_json::from_slice(&text).map_err(|error| named(error.to_string()))
    }

    /// How many members hold a write when its client has the answer.
    pub fn copies(&self) -> Copies {
        match self.topology.acknowledged_copies {
            AcknowledgedCopies::Count(count) => Copies::Fixed(usize::try_from(count).unwrap_or(1).max(1)),
            AcknowledgedCopies::Majority => Copies::Majority,
        }
    }
}
