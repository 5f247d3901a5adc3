//! Quantities that parse, compare and print exactly as Kubernetes does, in exact decimal arithmetic.
//!
//! As there: values are rounded away from zero at a billionth, and a binary form is capped at 2^63 − 1. Two things
//! differ on purpose: an exponent has at most two digits (see [`QUANTITY_PATTERN`](crate::limits::QUANTITY_PATTERN)),
//! and a decimal above the exa range keeps its suffix (`1000E`), which Kubernetes' own printer drops.

mod decimal;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// The longest text that is parsed; longer than the schema admits, because a canonical form can be longer than
/// what was written.
const TEXT_MAX: usize = 64;
/// The power of ten of the smallest amount.
const NANO: i32 = -9;
/// The power of ten of the largest decimal suffix.
const EXA: i32 = 18;

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

/// Which family of units a quantity was written in; it is printed in the same.
#[derive(Clone, Copy, Debug, Default)]
enum Format {
    /// `10Gi`
    Binary,
    /// `10G`
    #[default]
    Decimal,
    /// `10e9`
    Exponent,
}

/// An amount: `10Gi`, `500m`, `1e3`, `7`. Equal amounts are equal, however they were written.
#[derive(Clone, Debug, Default)]
pub struct Quantity {
    value: Decimal,
    format: Format,
}

impl Quantity {
    /// A whole number of bytes, printed in binary units.
    pub fn from_bytes(bytes: i64) -> Self {
        Self { value: Decimal::from(bytes), format: Format::Binary }
    }

    /// The amount as a whole number, rounded away from zero, held within what an `i64` can carry.
    pub fn bytes(&self) -> i64 {
        self.value.clone().round_up(0).to_i64_saturating()
    }

    /// Whether the amount is above zero.
    pub fn is_positive(&self) -> bool {
        self.value > Decimal::default()
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.value == Decimal::default()
    }

    /// The number and the power of 1024 when the canonical form is binary: a whole number of at least 1024.
    fn binary_parts(&self) -> Option<(i64, usize)> {
        let whole = self.value.as_i64()?;
        if !matches!(self.format, Format::Binary) || whole.unsigned_abs() < 1024 {
            return None;
        }
        let mut number = whole;
        let mut power = 0;
        while number % 1024 == 0 {
            number /= 1024;
            power += 1;
        }
        Some((number, power))
    }
}

/// The unit of a suffix: a power of two or of ten.
fn unit(text: &str, suffix: &str) -> Result<(Format, i32), ParseQuantityError> {
    let wrong = || ParseQuantityError::Suffix(text.to_owned(), suffix.to_owned());
    Ok(match suffix {
        "" => (Format::Decimal, 0),
        "n" => (Format::Decimal, NANO),
        "u" => (Format::Decimal, -6),
        "m" => (Format::Decimal, -3),
        "k" => (Format::Decimal, 3),
        "M" => (Format::Decimal, 6),
        "G" => (Format::Decimal, 9),
        "T" => (Format::Decimal, 12),
        "P" => (Format::Decimal, 15),
        "E" => (Format::Decimal, EXA),
        "Ki" => (Format::Binary, 10),
        "Mi" => (Format::Binary, 20),
        "Gi" => (Format::Binary, 30),
        "Ti" => (Format::Binary, 40),
        "Pi" => (Format::Binary, 50),
        "Ei" => (Format::Binary, 60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E']).ok_or_else(wrong)?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !matches!(digits.len(), 1 | 2) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong());
            }
            (Format::Exponent, exponent.parse().map_err(|_| wrong())?)
        }
    })
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
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return Err(ParseQuantityError::Number(text.to_owned()));
        }
        let (format, power) = unit(text, suffix)?;
        let magnitude = Decimal::from_digits(whole, fraction);
        let magnitude = match format {
            Format::Binary => magnitude.times_two_to_the(power).round_up(NANO).min(Decimal::from(i64::MAX)),
            Format::Decimal | Format::Exponent => magnitude.times_ten_to_the(power).round_up(NANO),
        };
        let value = if text.starts_with('-') { -magnitude } else { magnitude };
        Ok(Self { value, format })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
        if let Some((number, power)) = self.binary_parts() {
            return f.pad(&format!("{number}{}", BINARY.get(power).copied().unwrap_or_default()));
        }
        let thousands = self.value.exponent().div_euclid(3) * 3;
        let text = if matches!(self.format, Format::Exponent) {
            let number = self.value.to_whole_string(thousands);
            if thousands == 0 { number } else { format!("{number}e{thousands}") }
        } else {
            let power = thousands.clamp(NANO, EXA);
            let suffix = usize::try_from((power - NANO) / 3).ok().and_then(|index| DECIMAL.get(index));
            format!("{}{}", self.value.to_whole_string(power), suffix.copied().unwrap_or_default())
        };
        f.pad(&text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl std::hash::Hash for Quantity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
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
        Ok(Quantity { value: Decimal::from(number), format: Format::Decimal })
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Quantity, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.parse().map_err(E::custom)
    }
}
