//! How the members of a cluster with this engine stand to each other.

use std::borrow::Cow;

use kube::KubeSchema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;

/// How the members stand to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Topology {
    /// The fewest members that make sense. A cluster may have fewer only when it is parked.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = limits::MAX_MEMBERS))]
    pub min_members: i32,
    /// How many members serve writes unless the cluster says otherwise: `One` (default) or `All`.
    #[serde(default)]
    pub default_primaries: DefaultPrimaries,
    /// The most members that may serve writes; without it all of them may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::MAX_MEMBERS))]
    pub max_primaries: Option<i32>,
    /// How many members surely hold a write on disk when the client has its answer: a number, or `Majority`. It
    /// decides how many copies recovery has to read, so a number that is too high loses data.
    pub acknowledged_copies: AcknowledgedCopies,
    /// Who elects the primary: Muster (`Manager`, default), or the software by itself (`Engine`).
    #[serde(default)]
    pub election: Election,
}

fn one() -> i32 {
    1
}

/// How many members serve writes unless the cluster says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DefaultPrimaries {
    /// One member.
    #[default]
    One,
    /// Every member.
    All,
}

/// Who elects the primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Election {
    /// Muster promotes and demotes.
    #[default]
    Manager,
    /// The software elects by itself; Muster starts all members at once.
    Engine,
}

/// How many members surely hold a write on disk when the client has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcknowledgedCopies {
    /// This many, the primary included; at least 1.
    Count(i32),
    /// More than half of the voters.
    Majority,
}

/// The text of [`AcknowledgedCopies::Majority`].
const MAJORITY: &str = "Majority";

impl Serialize for AcknowledgedCopies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_i32(*count),
            Self::Majority => serializer.serialize_str(MAJORITY),
        }
    }
}

impl<'de> Deserialize<'de> for AcknowledgedCopies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CopiesVisitor)
    }
}

/// Reads a count or `Majority`.
struct CopiesVisitor;

impl serde::de::Visitor<'_> for CopiesVisitor {
    type Value = AcknowledgedCopies;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of at least 1, or Majority")
    }

    fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<AcknowledgedCopies, E> {
        match i32::try_from(count) {
            Ok(count) if count >= 1 => Ok(AcknowledgedCopies::Count(count)),
            _ => Err(E::invalid_value(serde::de::Unexpected::Unsigned(count), &self)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AcknowledgedCopies, E> {
        match text {
            MAJORITY => Ok(AcknowledgedCopies::Majority),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

impl JsonSchema for AcknowledgedCopies {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AcknowledgedCopies".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "maxLength": MAJORITY.len(),
            "x-kubernetes-validations": [crate::rules::ACKNOWLEDGED_COPIES.to_value()],
        })
    }
}
