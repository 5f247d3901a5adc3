//! The parts of a quantity as it is written, and what Kubernetes says of a text that is none.

/// How many digits a number can have that Kubernetes holds as a number of the machine.
const SHORT: i32 = 18;
/// The same for numbers with a binary suffix, whose size counts too.
const SHORT_BINARY: i32 = 15;

/// Which family of units a quantity was written in; it is printed in the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `10Gi`
    Binary,
    /// `10G`
    #[default]
    Decimal,
    /// `10e9`
    Exponent,
}

/// Why a text is no quantity, in the words of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// It does not look like one.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Form,
    /// It has no number.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// What follows the number is not a unit.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// A quantity as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    pub(crate) negative: bool,
    /// The digits before the point, without leading zeros.
    pub(crate) whole: &'a str,
    pub(crate) fraction: &'a str,
    pub(crate) form: Form,
    /// Of two or of ten, as the form says.
    pub(crate) power: i32,
}

impl<'a> Written<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, Wrong> {
        if text.is_empty() {
            return Err(Wrong::Form);
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, rest) = digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        if !has_form(suffix) {
            return Err(Wrong::Form);
        }
        let (form, power) = unit(suffix).ok_or(Wrong::Suffix)?;
        let negative = text.starts_with('-');
        let written = Self { negative, whole: whole.trim_start_matches('0'), fraction, form, power };
        // A unit alone is none of it: Kubernetes takes it for zero, where it does not have to look closely.
        if whole.is_empty() && fraction.is_empty() && !written.is_short() {
            return Err(Wrong::Number);
        }
        Ok(written)
    }

    /// Whether Kubernetes holds it as a number of the machine.
    pub(crate) fn is_short(&self) -> bool {
        let length = i32::try_from(self.digits().len()).unwrap_or(i32::MAX);
        match self.form {
            Form::Binary => length + self.power * 3 / 10 < SHORT_BINARY,
            Form::Decimal | Form::Exponent => length <= SHORT,
        }
    }

    /// All its digits, at least one before the point.
    pub(crate) fn digits(&self) -> String {
        format!("{}{}", if self.whole.is_empty() { "0" } else { self.whole }, self.fraction)
    }
}

/// The digits that a text begins with, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn has_form(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    rest.bytes().all(|c| c.is_ascii_digit())
}

/// What a suffix stands for.
fn unit(suffix: &str) -> Option<(Form, i32)> {
    let place =
        |known: &[&str]| known.iter().position(|one| *one == suffix).and_then(|at| i32::try_from(at).ok());
    if let Some(place) = place(&crate::DECIMAL) {
        return Some((Form::Decimal, place * 3 + crate::NANO));
    }
    if let Some(place) = place(&crate::BINARY) {
        return Some((Form::Binary, place * 10));
    }
    suffix.strip_prefix(['e', 'E'])?.parse().ok().map(|exponent| (Form::Exponent, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_told_from_other_texts() {
        for text in ["1", "-1.5Gi", "+.5", "1.", "100m", "1e3", "2E-3", "1E", "Ki", "-"] {
            assert!(Written::read(text).is_ok(), "{text}");
        }
        for text in ["", "x", "1Gi ", "1GI", "1.2.3", " 1"] {
            assert_eq!(Written::read(text), Err(Wrong::Form), "{text}");
        }
        for text in ["1iK", "1e", "1e+", "1Ki5", "1ee5"] {
            assert_eq!(Written::read(text), Err(Wrong::Suffix), "{text}");
        }
        assert_eq!(Written::read("Pi"), Err(Wrong::Number));
    }
}
