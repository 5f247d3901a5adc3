//! `status.recovery` and `status.lastRequest`: what an on-call person needs when replication is not restored by
//! itself.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::schema;
use crate::tolerant;

/// How recovery stands, while it is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    /// `FailingOver`, `Recovering`, `SplitBrain`, `Blocked` or `NoSeed`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub state: String,
    /// The members that recovery has to hear from or know to be stopped: the newest roster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub expected: Vec<String>,
    /// What each member that reported holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tolerant::items")]
    #[schemars(length(max = limits::MAX_MEMBERS))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["member".into()]))]
    pub reported: Vec<RecoveryReport>,
    /// The members that neither reported nor are known to be stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::MAX_MEMBERS), inner(length(max = limits::STATUS_NAME_MAX)))]
    pub missing: Vec<String>,
    /// The member that is to seed or to be promoted, or that is being tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::STATUS_NAME_MAX))]
    pub seed: Option<String>,
    /// What recovery waits for: `MemberMissing`, `DataMissing`, `RestoreReplicas`, `HistoryDiffers`, `EqualTerms`,
    /// `MemberDisabled`, `SeedUnconfirmed` or `AllEmpty`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WORD_MAX))]
    pub blocked_by: Option<String>,
    /// The command that would unblock it, and what that would cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::MESSAGE_MAX))]
    pub unblock: Option<String>,
    /// Stands for all of the above. A request quotes it, so that it acts only on what the person saw.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::DIGEST_MAX))]
    pub digest: String,
}

/// What one member holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryReport {
    /// The name of the member.
    #[schemars(length(min = 1, max = limits::STATUS_NAME_MAX))]
    pub member: String,
    /// Which history its data belongs to; data of different histories cannot be joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::POSITION_MAX))]
    pub history: Option<String>,
    /// The term of its data, `<epoch>.<n>`: which seeding or promotion its last write belongs to. `+<id>` behind it:
    /// the member of that number became primary without a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::TERM_MAX), regex(pattern = limits::TERM_PATTERN))]
    pub term: Option<String>,
    /// The sequence number of its last write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sequence: Option<i64>,
    /// Its position in the engine's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::POSITION_MAX))]
    pub position: Option<String>,
    /// Whether it holds no data at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<bool>,
}

/// The last request of a person, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastRequest {
    /// The id that the request carried.
    #[serde(default)]
    #[schemars(length(max = limits::REQUEST_ID_MAX))]
    pub id: String,
    /// What was asked for: `recover`, `switchover`, `fence`, `forget` or `rejoin`.
    #[serde(default)]
    #[schemars(length(max = limits::WORD_MAX))]
    pub action: String,
    /// What came of it: `Accepted`, `Refused`, `Done` or `Failed`.
    #[serde(default)]
    #[schemars(length(max = limits::WORD_MAX))]
    pub result: String,
    /// Why, for a person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::MESSAGE_MAX))]
    pub message: String,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tolerant::value")]
    #[schemars(schema_with = "schema::time")]
    pub time: Option<Time>,
}
