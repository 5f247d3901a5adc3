//! What the operator does with Secrets that are not its own: it hashes them, and makes up accounts.

mod account;
mod hash;

pub use account::account;
pub use hash::{HASH_KEY_BYTES, HashKey, secrets_hash};
