//! Taking one of many: by chance, first where clients seldom ask for a certain one.

use std::collections::BTreeSet;

/// A number of a range that is not taken: by chance from `dynamic` on, and below that only when there is no other.
pub(super) fn take(first: u32, dynamic: u32, last: u32, taken: &BTreeSet<u32>, random: u64) -> Option<u32> {
    let upper = last - dynamic + 1;
    let start = u32::try_from(random % u64::from(upper)).unwrap_or(0);
    let from_upper = (0..upper).map(|step| dynamic + (start + step) % upper);
    from_upper.chain(first..dynamic).find(|number| !taken.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_found_wherever_it_is() {
        let none = BTreeSet::new();
        assert_eq!(take(1, 3, 5, &none, 0), Some(3));
        assert_eq!(take(1, 3, 5, &none, 5), Some(5));
        assert_eq!(take(1, 3, 5, &BTreeSet::from([3, 4, 5]), 7), Some(1));
        assert_eq!(take(1, 3, 5, &(1..=5).collect(), 7), None);
    }
}
