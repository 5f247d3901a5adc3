//! `muster-agent`: the parent process of the application in every member, and the member's memory (DESIGN, sections 6 and 9).
//!
//! One command in a straight line: [`server`] takes it from the operator, [`memory`] says whether it is obeyed and writes it down, [`run`] does
//! it through the [`engine`]'s actions and the [`process`]es they are, and what became of it is in every report from then on.
//!
//! The agent starts nothing by itself, and says `unknown` where it does not know.

pub mod engine;
pub mod install;
mod log;
pub mod memory;
pub mod process;
pub mod program;
pub mod run;
pub mod server;
pub mod settings;

use muster_core::manager::report::Instance;
use ring::rand::{SecureRandom, SystemRandom};

/// A name that was never given: a random uuid.
pub fn fresh_name() -> String {
    let mut bytes = random::<16>();
    // As RFC 9562 marks random ones.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// The nonce of a run.
pub fn fresh_instance() -> Instance {
    Instance(u64::from_be_bytes(random()))
}

/// Random bytes. The kernel's source does not fail once the machine is up; without it a name would be guessed, so there is none.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        log::say!("there is no source of randomness");
        std::process::abort();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_uuids_and_never_the_same() {
        let (one, other) = (fresh_name(), fresh_name());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert_ne!(fresh_instance(), fresh_instance());
    }
}
