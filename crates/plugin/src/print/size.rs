//! Amounts of storage as people read them: `98.2Gi`, where the status has every byte.

use muster_api::Quantity;

const UNITS: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Three digits at most and the largest unit that fits, rounded down: nobody is told of more than there is.
pub fn size(amount: &Quantity) -> String {
    let bytes = amount.bytes();
    let power = (bytes.unsigned_abs().max(1).ilog2() / 10) as usize;
    let tenths = (u128::from(bytes.unsigned_abs()) * 10) >> (10 * power);
    let sign = if bytes < 0 { "-" } else { "" };
    let (whole, tenth, unit) = (tenths / 10, tenths % 10, UNITS[power]);
    if whole >= 100 || tenth == 0 {
        format!("{sign}{whole}{unit}")
    } else {
        format!("{sign}{whole}.{tenth}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_short_and_never_too_much() {
        for (written, shown) in [
            ("0", "0"),
            ("1023", "1023"),
            ("1024", "1Ki"),
            ("9Gi", "9Gi"),
            ("105515737860", "98.2Gi"),
            ("792636252Ki", "755Gi"),
            ("1048575", "1023Ki"),
            ("8Ei", "7.9Ei"),
            ("500m", "1"),
        ] {
            assert_eq!(size(&written.parse().unwrap()), shown, "{written}");
        }
    }
}
