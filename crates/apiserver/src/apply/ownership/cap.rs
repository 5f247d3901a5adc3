//! No more than ten who own fields by updates: the oldest are merged.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::entries::{Managed, ManagedEntry, Operation};

/// How many entries of updates an object keeps; the server's number.
const MAX_UPDATERS: usize = 10;
/// The name under which the oldest are kept together.
const OLDEST: &str = "ancient-changes";

/// Merges the oldest entries of updates, one bucket for each version, until few enough are left.
pub(super) fn cap_updaters(managed: &mut Managed) {
    let updaters = managed.iter().filter(|(_, entry)| entry.operation == Operation::Update);
    let mut updaters: Vec<_> = updaters
        .map(|(identity, entry)| (entry.time.map_or(0, Timestamp::as_second), identity.clone()))
        .collect();
    let mut excess = updaters.len().saturating_sub(MAX_UPDATERS);
    updaters.sort();
    let mut first_of: BTreeMap<String, String> = BTreeMap::new();
    for (_, identity) in updaters {
        if excess == 0 {
            return;
        }
        let Some(entry) = managed.get(&identity).cloned() else { continue };
        let Some(first) = first_of.get(&entry.api_version) else {
            first_of.insert(entry.api_version, identity);
            continue;
        };
        let bucket = bucket_for(&entry);
        let key = bucket.identity();
        if !managed.contains_key(&key)
            && let Some(oldest) = managed.remove(first)
        {
            managed.insert(key.clone(), ManagedEntry { fields: oldest.fields, ..bucket });
        }
        managed.remove(&identity);
        if let Some(bucket) = managed.get_mut(&key) {
            bucket.fields = bucket.fields.union(&entry.fields);
            bucket.time = entry.time;
        }
        excess -= 1;
    }
}

fn bucket_for(entry: &ManagedEntry) -> ManagedEntry {
    ManagedEntry {
        manager: OLDEST.into(),
        operation: Operation::Update,
        api_version: entry.api_version.clone(),
        subresource: String::new(),
        time: None,
        fields: super::FieldSet::new(),
    }
}
