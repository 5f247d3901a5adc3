//! What happens to an object from its creation to its end, whatever its kind: pure functions from what is stored and
//! what was sent to what is to be stored.

mod create;
mod delete;
pub mod metadata;
mod update;

pub use self::create::{CreateError, Creation, create};
pub use self::delete::{Deletion, Ending, Policy, Precondition, delete, ends};
pub use self::update::{Part, UpdateError, Updated, settle, update};

use jiff::Timestamp;

/// What a resource needs to be known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a resource")]
pub struct Traits {
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether `status` has a path of its own, and is then not written with the rest.
    pub status: bool,
    /// Whether `metadata.generation` counts the changes of what is wanted.
    pub generation: bool,
    /// Whether a write to `status` changes metadata too, as it does for built-in kinds.
    pub status_writes_metadata: bool,
    /// Whether a new object comes with its status, as nodes do.
    pub first_status: bool,
}

/// Where new things come from: names, uids and times. Given by the caller, so that a test can repeat itself.
pub trait Source {
    /// A new uid.
    fn uid(&mut self) -> String;
    /// Five characters that make a generated name unique.
    fn suffix(&mut self) -> String;
    /// The present time.
    fn now(&mut self) -> Timestamp;
    /// A random number, for what is allocated by chance.
    fn random(&mut self) -> u64;
}

#[cfg(test)]
pub(crate) mod testing {
    //! A source that counts.

    use jiff::Timestamp;

    use super::Source;

    #[derive(Default)]
    pub(crate) struct Counting(u32);

    impl Source for Counting {
        fn uid(&mut self) -> String {
            self.0 += 1;
            format!("uid-{}", self.0)
        }

        fn suffix(&mut self) -> String {
            self.0 += 1;
            format!("{:05}", self.0)
        }

        fn now(&mut self) -> Timestamp {
            "2026-01-01T00:00:00Z".parse().unwrap()
        }

        fn random(&mut self) -> u64 {
            self.0 += 1;
            self.0.into()
        }
    }
}
