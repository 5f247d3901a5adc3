//! Quantities in the one form in which the server prints them: `1000m` is `1`, `1024Ki` is `1Mi`.

use serde_json::Value;

use super::scalars::Wrong;

const FORM: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// The finest that is kept: a billionth; and among resources a thousandth.
const FINEST: i32 = -9;
const FINEST_OF_RESOURCES: i32 = -3;
/// How many digits a number can have that the server keeps as it was written.
const SHORT: i32 = 18;
/// The same for numbers with a binary suffix, whose size counts too.
const SHORT_BINARY: i32 = 15;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

/// The quantity as it is printed.
pub(super) fn canonical(value: &Value) -> Result<Value, Wrong> {
    read(value, FINEST)
}

/// The same for an amount of a resource, which is rounded up to thousandths.
pub(super) fn canonical_resource(value: &Value) -> Result<Value, Wrong> {
    read(value, FINEST_OF_RESOURCES)
}

fn read(value: &Value, finest: i32) -> Result<Value, Wrong> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(Wrong::Said(FORM.to_owned())),
    };
    parse(&text, finest).map(Value::from).map_err(|error| Wrong::Said(error.to_owned()))
}

fn parse(text: &str, finest: i32) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err(FORM);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(end);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
        None => ("", rest),
    };
    if !has_form(suffix) {
        return Err(FORM);
    }
    let (form, exponent) = interpret(suffix).ok_or(SUFFIX)?;
    let number = Number {
        negative: text.starts_with('-'),
        whole: whole.trim_start_matches('0'),
        fraction,
        form,
        exponent,
        finest,
    };
    if whole.is_empty() && fraction.is_empty() && !number.is_short() {
        return Err(NUMBER);
    }
    if number.is_kept() { Ok(text.to_owned()) } else { Ok(number.print()) }
}

fn has_form(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    rest.bytes().all(|c| c.is_ascii_digit())
}

fn interpret(suffix: &str) -> Option<(Form, i32)> {
    let decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    if let Some(index) = decimal.iter().position(|known| *known == suffix) {
        return i32::try_from(index).ok().map(|index| (Form::Decimal, index * 3 - 9));
    }
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(index) = binary.iter().position(|known| *known == suffix) {
        return i32::try_from(index + 1).ok().map(|index| (Form::Binary, index * 10));
    }
    suffix.strip_prefix(['e', 'E'])?.parse().ok().map(|exponent| (Form::Exponent, exponent))
}

struct Number<'a> {
    negative: bool,
    /// Without leading zeros.
    whole: &'a str,
    fraction: &'a str,
    form: Form,
    exponent: i32,
    /// The power of ten below which nothing is kept.
    finest: i32,
}

impl Number<'_> {
    /// Whether the server keeps what was written: it takes short numbers for canonical by a few signs only.
    fn is_kept(&self) -> bool {
        let digits = self.digits();
        if self.form == Form::Binary {
            let last_bits = digits.parse::<u64>().unwrap_or(0) & 7;
            return self.fraction.is_empty() && self.is_short() && last_bits != 0;
        }
        self.is_short()
            && self.scale() >= self.finest
            && self.scale() % 3 == 0
            && !digits.ends_with("000")
            && !digits.starts_with('0')
    }

    /// Whether the server keeps it as a number of the machine.
    fn is_short(&self) -> bool {
        let length = i32::try_from(self.digits().len()).unwrap_or(i32::MAX);
        match self.form {
            Form::Binary => length + self.exponent * 3 / 10 < SHORT_BINARY,
            _ => length <= SHORT,
        }
    }

    fn digits(&self) -> String {
        format!("{}{}", if self.whole.is_empty() { "0" } else { self.whole }, self.fraction)
    }

    /// The power of ten that the digits, taken as a whole number, are multiplied by.
    fn scale(&self) -> i32 {
        let exponent = if self.form == Form::Binary { 0 } else { self.exponent };
        exponent.saturating_sub(i32::try_from(self.fraction.len()).unwrap_or(i32::MAX))
    }

    fn print(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let Ok(digits) = format!("0{}{}", self.whole, self.fraction).parse::<i128>() else {
            return format!("{sign}{}", i64::MAX);
        };
        if digits == 0 {
            return "0".to_owned();
        }
        let factor = if self.form == Form::Binary { 1_i128 << self.exponent.clamp(0, 60) } else { 1 };
        let (mut number, mut exponent) = rounded(digits.saturating_mul(factor), self.scale(), self.finest);
        if self.form == Form::Binary {
            let most = i128::from(i64::MAX);
            number = number.min(most.saturating_mul(10_i128.pow(exponent.unsigned_abs())));
        }
        while number % 10 == 0 {
            number /= 10;
            exponent += 1;
        }
        if self.form == Form::Binary && exponent >= 0 {
            let whole = number * 10_i128.pow(exponent.unsigned_abs());
            if whole >= 1024 {
                return format!("{sign}{}", in_binary(whole));
            }
        }
        while exponent.rem_euclid(3) != 0 {
            number = number.saturating_mul(10);
            exponent -= 1;
        }
        let suffix = match (self.form, exponent) {
            (_, 0) => String::new(),
            (Form::Exponent, exponent) => format!("e{exponent}"),
            (_, exponent) => decimal_suffix(exponent).to_owned(),
        };
        format!("{sign}{number}{suffix}")
    }
}

/// Rounds up what is finer than is kept.
fn rounded(digits: i128, scale: i32, finest: i32) -> (i128, i32) {
    if scale >= finest {
        return (digits, scale);
    }
    let divisor = 10_i128.checked_pow((finest - scale).unsigned_abs()).unwrap_or(i128::MAX);
    (digits / divisor + i128::from(digits % divisor != 0), finest)
}

fn in_binary(mut number: i128) -> String {
    let mut steps = 0;
    while number % 1024 == 0 && steps < 6 {
        number /= 1024;
        steps += 1;
    }
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(steps).copied().unwrap_or_default();
    format!("{number}{suffix}")
}

fn decimal_suffix(exponent: i32) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_one_form() {
        for (text, printed) in [
            ("1000m", "1"),
            ("1024Ki", "1Mi"),
            ("1.5", "1500m"),
            ("1.5Gi", "1536Mi"),
            ("0.5", "500m"),
            ("0", "0"),
            ("00", "0"),
            ("0Gi", "0"),
            ("1e3", "1e3"),
            ("1E3", "1E3"),
            ("1000e3", "1e6"),
            ("100m", "100m"),
            ("+5", "+5"),
            ("2048", "2048"),
            ("1000", "1k"),
            ("0.1n", "1n"),
            ("-1000m", "-1"),
            ("512Mi", "512Mi"),
            ("1023Ki", "1023Ki"),
            ("8Ki", "8Ki"),
            ("0.5Ki", "512"),
            ("9Ei", "9223372036854775807"),
            ("", "error"),
            ("x", "error"),
            ("1x", "error"),
            ("1Kim", "error"),
            ("1 Gi", "error"),
            (".5", "500m"),
            ("1e50", "100e48"),
            ("1.500", "1.500"),
            ("1234567.891Mi", "1294538260873216m"),
            ("10Pi", "10Pi"),
            ("100Pi", "100Pi"),
            ("0.001Ki", "1024m"),
            ("0.00001Ki", "10240u"),
            ("1.", "1."),
        ] {
            let found = parse(text, FINEST).unwrap_or_else(|_| "error".to_owned());
            assert_eq!(found, printed, "{text}");
        }
        assert_eq!(parse("1.5m", FINEST_OF_RESOURCES).unwrap(), "2m");
    }
}
