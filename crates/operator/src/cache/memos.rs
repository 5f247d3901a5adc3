//! What comparing a wanted object with a live one gave, for as long as both are the same: most passes change nothing.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use muster_core::build::config::MemberConfig;
use serde_json::Value;

use crate::child::{Kind, Placement};
use crate::key::Name;

/// The results of comparisons, by object.
#[derive(Default)]
pub struct Memos(Mutex<HashMap<(Kind, Name), Memo>>);

struct Memo {
    uid: Option<String>,
    version: Option<String>,
    wanted: u64,
    placement: Placement,
}

impl Memos {
    /// What was found when this live object was last compared with this wanted one, else what is found now.
    pub fn recall(
        &self,
        (kind, name): (Kind, &Name),
        live: &ObjectMeta,
        wanted: &Value,
        compare: impl FnOnce() -> Placement,
    ) -> Placement {
        let wanted = digest(wanted);
        let (uid, version) = (live.uid.clone(), live.resource_version.clone());
        let key = (kind, name.clone());
        let known = |memo: &&Memo| memo.wanted == wanted && memo.uid == uid && memo.version == version;
        if let Some(memo) = self.all().get(&key).filter(known) {
            return memo.placement.clone();
        }
        let placement = compare();
        self.all().insert(key, Memo { uid, version, wanted, placement: placement.clone() });
        placement
    }

    /// There is no such object.
    pub fn forget(&self, kind: Kind, name: &Name) {
        self.all().remove(&(kind, name.clone()));
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(Kind, Name), Memo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The configurations of members, read once for all who run with them.
#[derive(Default)]
pub struct Configs(Mutex<BTreeMap<Name, Config>>);

struct Config {
    version: Option<String>,
    read: Result<Arc<MemberConfig>, String>,
}

impl Configs {
    /// What this ConfigMap says; in words, why it cannot be read.
    pub fn read(&self, name: &Name, found: &ConfigMap) -> Result<Arc<MemberConfig>, String> {
        let version = found.metadata.resource_version.clone();
        let mut all = self.all();
        if let Some(known) = all.get(name).filter(|known| known.version == version) {
            return known.read.clone();
        }
        let read = MemberConfig::read(found).map(Arc::new).map_err(|error| error.to_string());
        all.insert(name.clone(), Config { version, read: read.clone() });
        read
    }

    /// There is no such ConfigMap.
    pub fn forget(&self, name: &Name) {
        self.all().remove(name);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Name, Config>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(value, &mut hasher);
    hasher.finish()
}

/// Each kind of value begins with a number of its own, and each list and map with its length, so that no two values give the
/// same sequence.
fn add(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(value) => (1_u8, value).hash(hasher),
        Value::Number(number) => (2_u8, number).hash(hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                add(item, hasher);
            }
        }
        Value::Object(fields) => {
            (5_u8, fields.len()).hash(hasher);
            for (key, value) in fields {
                key.hash(hasher);
                add(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_differ_have_different_digests() {
        let values = [
            json!(null),
            json!(0),
            json!("0"),
            json!(false),
            json!([]),
            json!({}),
            json!([0]),
            json!({"a": 0}),
            json!([[], 0]),
        ];
        for (at, value) in values.iter().enumerate() {
            assert!(values.iter().skip(at + 1).all(|other| digest(other) != digest(value)), "{value}");
        }
        assert_eq!(digest(&json!({"a": 1, "b": 2})), digest(&json!({"b": 2, "a": 1})));
    }

    #[test]
    fn what_is_the_same_is_compared_once() {
        let memos = Memos::default();
        let live = |version: &str| ObjectMeta {
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        };
        let name = Name::new("ns", "a");
        let of = (Kind::Service, &name);
        let never = || -> Placement { unreachable!("it is known") };
        assert_eq!(memos.recall(of, &live("1"), &json!({"a": 1}), || Placement::Leaving), Placement::Leaving);
        assert_eq!(memos.recall(of, &live("1"), &json!({"a": 1}), never), Placement::Leaving);
        assert_eq!(memos.recall(of, &live("2"), &json!({"a": 1}), || Placement::Missing), Placement::Missing);
        assert_eq!(memos.recall(of, &live("2"), &json!({"a": 2}), || Placement::Leaving), Placement::Leaving);
    }
}
