//! Quantities, `10Gi`, `500m`, `1e3`, that parse, compare and print exactly as Kubernetes does, in exact decimal arithmetic.
//!
//! As there: values are rounded away from zero at a billionth, and a binary form is capped at 2^63 − 1.

mod canonical;
mod decimal;
mod written;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use self::canonical::canonical;
use self::decimal::Decimal;
use self::written::Written;
pub use self::written::{Form, Wrong};

/// The power of ten of the smallest amount.
pub const NANO: i32 = -9;
/// The power of ten of the smallest amount of a resource.
pub const MILLI: i32 = -3;
/// The power of ten of the largest decimal suffix.
const EXA: i32 = 18;
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// An amount: `10Gi`, `500m`, `1e3`, `7`. Equal amounts are equal, however they were written.
#[derive(Clone, Debug, Default)]
pub struct Quantity {
    value: Decimal,
    form: Form,
}

impl Quantity {
    /// A whole number, printed in decimal units.
    pub fn from_number(number: i64) -> Self {
        Self { value: Decimal::from(number), form: Form::Decimal }
    }

    /// A whole number of bytes, printed in binary units.
    pub fn from_bytes(bytes: i64) -> Self {
        Self { value: Decimal::from(bytes), form: Form::Binary }
    }

    /// The amount as a whole number, rounded away from zero, held within what an `i64` can carry.
    pub fn bytes(&self) -> i64 {
        self.value.clone().round_up(0).to_i64_saturating()
    }

    /// How it compares with nothing.
    pub fn sign(&self) -> Ordering {
        self.value.cmp(&Decimal::default())
    }

    /// Whether it is a whole number.
    pub fn is_whole(&self) -> bool {
        self.value.exponent() >= 0
    }

    /// Rounded away from zero to a multiple of this power of ten.
    #[must_use]
    pub fn rounded_up(self, power: i32) -> Self {
        Self { value: self.value.round_up(power), form: self.form }
    }

    /// Both together, printed as the first was; held within what an `i64` can carry.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { value: self.value.plus_saturating(&other.value), form: self.form }
    }

    /// As Kubernetes itself prints it: as here, but a decimal above the exa range loses its unit there.
    pub fn as_kubernetes_prints(&self) -> String {
        self.binary().unwrap_or_else(|| match self.thousands() {
            power if power > EXA && self.form != Form::Exponent => self.value.to_whole_string(power),
            power => self.decimal(power),
        })
    }

    /// Its binary form, if it is printed so: a whole number of at least 1024.
    fn binary(&self) -> Option<String> {
        let whole = self.value.as_i64()?;
        if self.form != Form::Binary || whole.unsigned_abs() < 1024 {
            return None;
        }
        let (mut number, mut power) = (whole, 0);
        while number % 1024 == 0 {
            number /= 1024;
            power += 1;
        }
        Some(format!("{number}{}", BINARY.get(power).copied().unwrap_or_default()))
    }

    /// The largest power of a thousand that leaves a whole number.
    fn thousands(&self) -> i32 {
        self.value.exponent().div_euclid(3) * 3
    }

    fn decimal(&self, power: i32) -> String {
        if self.form == Form::Exponent {
            let number = self.value.to_whole_string(power);
            return if power == 0 { number } else { format!("{number}e{power}") };
        }
        let power = power.clamp(NANO, EXA);
        let suffix = usize::try_from((power - NANO) / 3).ok().and_then(|index| DECIMAL.get(index));
        format!("{}{}", self.value.to_whole_string(power), suffix.copied().unwrap_or_default())
    }
}

impl From<&Written<'_>> for Quantity {
    fn from(written: &Written<'_>) -> Self {
        let magnitude = Decimal::from_digits(written.whole, written.fraction);
        let magnitude = match written.form {
            Form::Binary => {
                magnitude.times_two_to_the(written.power).round_up(NANO).min(Decimal::from(i64::MAX))
            }
            Form::Decimal | Form::Exponent => magnitude.times_ten_to_the(written.power).round_up(NANO),
        };
        let value = if written.negative { -magnitude } else { magnitude };
        Self { value, form: written.form }
    }
}

impl FromStr for Quantity {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Self, Wrong> {
        Written::read(text).map(|written| Self::from(&written))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.binary().unwrap_or_else(|| self.decimal(self.thousands())))
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
