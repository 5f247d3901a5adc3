//! What is a quantity, and what is said of a text that is none.

const WRONG_FORM: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER: &str = "unable to parse numeric part of quantity";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";

const SUFFIXES: [&str; 16] =
    ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E"];

/// Says what is wrong with a text, if it is no quantity.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = unsigned.split_at(digits(unsigned));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => rest.split_at(digits(rest)),
    };
    let letters = suffix.find(|c: char| !"eEinumkKMGTP".contains(c)).unwrap_or(suffix.len());
    let (letters, exponent) = suffix.split_at(letters);
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if text.is_empty() || !exponent_digits.chars().all(|c| c.is_ascii_digit()) {
        return Err(WRONG_FORM);
    }
    let is_exponent = matches!(letters, "e" | "E") && !exponent_digits.is_empty();
    let is_suffix = exponent.is_empty() && SUFFIXES.contains(&letters);
    if !is_exponent && !is_suffix {
        return Err(WRONG_SUFFIX);
    }
    if whole.is_empty() && fraction.is_empty() { Err(WRONG_NUMBER) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_told_from_other_texts() {
        for text in ["1", "-1.5Gi", "+.5", "1.", "100m", "1e3", "2E-3", "1E"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in ["", "x", "1Gi ", "1GI", "1.2.3", " 1"] {
            assert_eq!(check(text), Err(WRONG_FORM), "{text}");
        }
        assert_eq!(check("1iK"), Err(WRONG_SUFFIX));
        assert_eq!(check("Ki"), Err(WRONG_NUMBER));
    }
}
