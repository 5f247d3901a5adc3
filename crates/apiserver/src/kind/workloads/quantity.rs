//! Quantities: `1500m`, `2Gi`, `1e3`: read, compared, and printed in the one way the server prints each.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// Nothing is finer than a billionth.
const NANOS_IN_ONE: i128 = 1_000_000_000;
const NANOS_IN_A_MILLI: i128 = 1_000_000;
/// The server holds nothing larger.
const LARGEST: i128 = (1 << 63) - 1;
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// How a quantity was written, and is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

/// An amount of something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    nanos: i128,
    form: Form,
}

impl Quantity {
    /// Reads a text or a number.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let numeric = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (numeric, suffix) = unsigned.split_at(numeric);
        let (whole, fraction) = numeric.split_once('.').unwrap_or((numeric, ""));
        if whole.len() + fraction.len() == 0 {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let decimals = i32::try_from(fraction.len()).ok()?;
        let (scaled, form) = scale(digits, decimals, suffix)?;
        let nanos = scaled.min(LARGEST * NANOS_IN_ONE);
        Some(Self { nanos: if negative { -nanos } else { nanos }, form })
    }

    /// Rounded up to a thousandth, which is the finest that resources are counted in.
    pub(crate) fn in_millis(self) -> Self {
        let rest = self.nanos.rem_euclid(NANOS_IN_A_MILLI);
        let up = if rest == 0 { 0 } else { NANOS_IN_A_MILLI - rest };
        Self { nanos: self.nanos + up, form: self.form }
    }

    /// Whether it is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        self.nanos % NANOS_IN_ONE == 0
    }

    /// How it compares with nothing.
    pub(crate) fn sign(self) -> Ordering {
        self.nanos.cmp(&0)
    }

    /// Both together, printed as the first was.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos + other.nanos, form: self.form }
    }
}

/// The digits times what the suffix stands for, in billionths, rounded up.
fn scale(digits: i128, decimals: i32, suffix: &str) -> Option<(i128, Form)> {
    if let Some(power) = BINARY.iter().skip(1).position(|known| *known == suffix) {
        let factor = 1_i128 << (10 * (power + 1));
        return Some((times_ten(digits.saturating_mul(factor), 9 - decimals), Form::Binary));
    }
    if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some((times_ten(digits, 9 + power - decimals), Form::Decimal));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    Some((times_ten(digits, exponent.saturating_add(9 - decimals)), Form::Exponent))
}

fn times_ten(digits: i128, power: i32) -> i128 {
    let factor = 10_i128.saturating_pow(power.unsigned_abs().min(38));
    if power >= 0 { digits.saturating_mul(factor) } else { (digits + factor - 1) / factor }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = self.form == Form::Binary && self.is_whole() && self.nanos.abs() >= 1024 * NANOS_IN_ONE;
        if binary {
            let mut amount = self.nanos / NANOS_IN_ONE;
            let mut power = 0;
            while amount % 1024 == 0 && power + 1 < BINARY.len() {
                amount /= 1024;
                power += 1;
            }
            return write!(f, "{amount}{}", BINARY[power]);
        }
        if self.nanos == 0 {
            return write!(f, "0");
        }
        let mut amount = self.nanos;
        let mut power = 0;
        while amount % 1000 == 0 && power + 1 < DECIMAL.len() {
            amount /= 1000;
            power += 1;
        }
        let (suffix, exponent) = DECIMAL[power];
        match (self.form, exponent) {
            (Form::Exponent, 0) => write!(f, "{amount}"),
            (Form::Exponent, _) => write!(f, "{amount}e{exponent}"),
            _ => write!(f, "{amount}{suffix}"),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
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
        self.nanos.cmp(&other.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_printed_in_one_way() {
        let cases = [
            ("1", "1"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1500", "1500"),
            ("2000", "2k"),
            ("1Gi", "1Gi"),
            ("1024Mi", "1Gi"),
            ("512Ki", "512Ki"),
            ("1.5Gi", "1536Mi"),
            ("0", "0"),
            ("1e3", "1e3"),
            ("1e0", "1"),
            ("-1", "-1"),
            ("100Ki", "100Ki"),
            ("1023", "1023"),
            ("0.5Ki", "512"),
            ("1E", "1E"),
            ("12e-1", "1200e-3"),
        ];
        for (text, printed) in cases {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), printed, "{text}");
        }
        for text in ["", "x", "1x", "Gi", ".", "1e"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn they_compare_whatever_their_form() {
        let of = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(of("1Gi"), of("1073741824"));
        assert!(of("1G") < of("1Gi"));
        assert!(of("100m") < of("1"));
        assert_eq!(of("1.0001").in_millis().to_string(), "1001m");
        assert_eq!(of("1n").in_millis().to_string(), "1m");
        assert_eq!(of("-1").sign(), Ordering::Less);
        assert!(!of("1500m").is_whole());
        assert_eq!(of("1Gi").plus(of("1Gi")).to_string(), "2Gi");
    }
}
