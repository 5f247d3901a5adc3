//! A write that changes nothing but times is no write.

use serde_json::Value;

use super::entries::listed;

/// Gives the new object the times of the old one's owners if nothing else differs, so that writing it is a no-op.
/// To be called last, with everything but `managedFields` as it would be stored.
pub fn keep_times_of_equal(old: &Value, new: &mut Value) {
    let (Some(before), Some(after)) = (listed(old), listed(new)) else { return };
    let same_owners = before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| equal_without(before, after, "time"));
    if !same_owners || before == after || !equal_but_owners(old, new) {
        return;
    }
    new["metadata"]["managedFields"] = Value::Array(before.clone());
}

fn equal_but_owners(old: &Value, new: &Value) -> bool {
    equal_without(old, new, "metadata") && equal_without(&old["metadata"], &new["metadata"], "managedFields")
}

/// Whether two objects are equal, one of their fields not counted.
fn equal_without(one: &Value, other: &Value, left_out: &str) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return one == other };
    let counts = |field: &(&String, &Value)| field.0 != left_out;
    one.iter().filter(counts).eq(other.iter().filter(counts))
}
