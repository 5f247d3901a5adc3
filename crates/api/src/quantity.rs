//! Quantities that parse, compare and print exactly as Kubernetes does. Two things differ on purpose: an exponent has at most
//! two digits (see [`QUANTITY_PATTERN`](crate::limits::QUANTITY_PATTERN)), and a decimal above the exa range keeps its
//! suffix (`1000E`), which Kubernetes' own printer drops.

use std::fmt;
use std::str::FromStr;

use muster_quantity::{Quantity as Amount, Wrong};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// The longest text that is parsed; longer than the schema admits, because a canonical form can be longer than
/// what was written.
const TEXT_MAX: usize = 64;
/// The most digits of an exponent.
const EXPONENT_DIGITS: usize = 2;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseQuantityError {
    /// It has no digits, or something else where digits are expected.
    #[error("{0:?} is not a number with an optional unit, such as 10Gi, 500m or 1e3")]
    Number(String),
    /// What follows the number is not a unit.
    #[error("{1:?} in {0:?} is not a unit: use Ki Mi Gi Ti Pi Ei, n u m k M G T P E, or e and an exponent")]
    Suffix(String, String),
    /// It is longer than any quantity needs to be.
    #[error("a quantity of more than {TEXT_MAX} characters")]
    TooLong,
}

/// An amount: `10Gi`, `500m`, `1e3`, `7`. Equal amounts are equal, however they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(Amount);

impl Quantity {
    /// A whole number of bytes, printed in binary units.
    pub fn from_bytes(bytes: i64) -> Self {
        Self(Amount::from_bytes(bytes))
    }

    /// The amount as a whole number, rounded away from zero, held within what an `i64` can carry.
    pub fn bytes(&self) -> i64 {
        self.0.bytes()
    }

    /// Whether the amount is above zero.
    pub fn is_positive(&self) -> bool {
        self.0.sign().is_gt()
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.0.sign().is_eq()
    }
}

impl FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > TEXT_MAX {
            return Err(ParseQuantityError::TooLong);
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        // Kubernetes takes a unit alone for zero.
        if !number.contains(|c: char| c.is_ascii_digit()) {
            return Err(ParseQuantityError::Number(text.to_owned()));
        }
        let wrong_suffix = || ParseQuantityError::Suffix(text.to_owned(), suffix.to_owned());
        let exponent = suffix.trim_start_matches(|c: char| !c.is_ascii_digit());
        if exponent.len() > EXPONENT_DIGITS {
            return Err(wrong_suffix());
        }
        match text.parse() {
            Ok(amount) => Ok(Self(amount)),
            Err(Wrong::Suffix) => Err(wrong_suffix()),
            Err(_) if number.matches('.').count() < 2 => Err(wrong_suffix()),
            Err(_) => Err(ParseQuantityError::Number(text.to_owned())),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntOrString)
    }
}

/// Reads a quantity from the integer or the string that a manifest holds.
struct IntOrString;

impl serde::de::Visitor<'_> for IntOrString {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity: an integer, or a string such as 10Gi")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Quantity, E> {
        Ok(Quantity(Amount::from_number(number)))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Quantity, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.parse().map_err(E::custom)
    }
}
