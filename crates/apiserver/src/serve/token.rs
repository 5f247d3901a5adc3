//! The bearer token: who has it may do everything, so it is long, random, and compared without telling how much of a
//! guess was right.

use std::hint::black_box;
use std::path::Path;

use rand::TryRngCore;
use rand::rngs::OsRng;

use super::files::{self, FileError};

/// Random bytes in a token: 256 bits, more than can be guessed.
const BYTES: usize = 32;
/// The length of a token as text.
const LENGTH: usize = 2 * BYTES;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The machine gives no random numbers.
    #[error("cannot get random numbers: {0}")]
    Random(#[from] rand::rand_core::OsError),
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file holds something else.
    #[error("{0} does not hold a token: remove it, and a new one is made")]
    Malformed(String),
}

/// A secret word that stands for the administrator.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// A new one.
    pub(super) fn random() -> Result<Self, TokenError> {
        let mut halves = [[0; BYTES / 2]; 2];
        OsRng.try_fill_bytes(halves.as_flattened_mut())?;
        let [first, second] = halves.map(u128::from_be_bytes);
        Ok(Self(format!("{first:032x}{second:032x}")))
    }

    /// The one in this file, made if there is none.
    pub(super) fn kept_in(path: &Path) -> Result<Self, TokenError> {
        if let Some(content) = files::read(path)? {
            let word = content.trim_end();
            let good = word.len() == LENGTH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            return if good {
                Ok(Self(word.to_owned()))
            } else {
                Err(TokenError::Malformed(path.display().to_string()))
            };
        }
        let token = Self::random()?;
        files::write_private(path, &format!("{}\n", token.0))?;
        Ok(token)
    }

    /// The word itself, for a kubeconfig.
    pub(super) fn word(&self) -> &str {
        &self.0
    }

    /// Whether this is the word. It takes the same time wherever a wrong word of the right length differs.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        let own = self.0.as_bytes();
        if own.len() != word.len() {
            return false;
        }
        let differing = own.iter().zip(word).fold(0, |seen, (a, b)| black_box(seen | (a ^ b)));
        black_box(differing) == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::scratch::Scratch;

    #[test]
    fn only_the_word_itself_is_right() {
        let token = Token::random().unwrap();
        assert!(token.is(token.word().as_bytes()));
        let mut wrong = token.word().as_bytes().to_vec();
        wrong[LENGTH - 1] ^= 1;
        assert!(!token.is(&wrong) && !token.is(b"") && !token.is(&token.word().as_bytes()[1..]));
        assert_ne!(token.word(), Token::random().unwrap().word());
    }

    #[test]
    fn a_kept_token_stays_and_a_damaged_one_is_not_used() {
        let scratch = Scratch::new();
        let path = scratch.path().join("token");
        let token = Token::kept_in(&path).unwrap();
        assert_eq!(Token::kept_in(&path).unwrap().word(), token.word());
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(Token::kept_in(&path), Err(TokenError::Malformed(_))));
    }

    #[test]
    fn a_token_is_not_shown_by_accident() {
        assert_eq!(format!("{:?}", Token::random().unwrap()), "Token(secret)");
    }
}
