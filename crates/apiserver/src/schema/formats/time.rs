//! Formats of dates, times and durations.

use jiff::civil::Date;
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn is_date(text: &str) -> bool {
    date(text).is_some()
}

fn date(text: &str) -> Option<Date> {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if form != "0000-00-00" {
        return None;
    }
    let part = |range| text.get(range).and_then(|part: &str| part.parse::<i16>().ok());
    let small = |range| part(range).and_then(|part| i8::try_from(part).ok());
    Date::new(part(0..4)?, small(5..7)?, small(8..10)?).ok()
}

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.([0-9]+))?(z|[+-][0-9]{2}:[0-9]{2})$";
    Regex::new(pattern).ok()
});

pub(super) fn is_date_time(text: &str) -> bool {
    rfc3339(text).is_some()
}

/// A time as RFC 3339 writes it, for a reader stricter than the server.
pub(crate) fn rfc3339(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let date = parts.next().filter(|date| is_date(date))?;
    let time = TIME.as_ref()?.captures(parts.next()?)?;
    let part = |index: usize| time.get(index).map_or("", |part| part.as_str());
    let fits = part(1) <= "23" && part(2) <= "59" && part(3) <= "59";
    let fraction =
        Some(part(4)).filter(|part| !part.is_empty()).map_or(String::new(), |part| format!(".{part}"));
    let zone = part(5).to_uppercase();
    fits.then(|| format!("{date}T{}:{}:{}{fraction}{zone}", part(1), part(2), part(3)))
}

/// Units with the names that stand for them; of the last, the beginning suffices.
const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

/// The length of a duration: as Go writes it, or in words such as `3 days`.
pub(crate) fn nanoseconds(text: &str) -> Option<i64> {
    go_duration(text).or_else(|| in_words(text))
}

fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: f64 = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(end)?;
        if number.matches('.').count() > 1 || !number.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 6e10,
            "h" => 3.6e12,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    whole(if negative { -total } else { total })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // within bounds, and of whole nanoseconds
fn whole(nanoseconds: f64) -> Option<i64> {
    (nanoseconds.abs() < i64::MAX as f64).then_some(nanoseconds as i64)
}

static WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)").ok());

fn in_words(text: &str) -> Option<i64> {
    let mut total = None;
    for found in WORDS.as_ref()?.captures_iter(text) {
        let number: i64 = found.get(1)?.as_str().parse().ok()?;
        let unit = found.get(2)?.as_str().to_lowercase();
        for (names, factor) in UNITS {
            let last = names.last().is_some_and(|last| unit.starts_with(last));
            if last || names.contains(&unit.as_str()) {
                total = Some(number.wrapping_mul(factor).wrapping_add(total.unwrap_or_default()));
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        assert!(is_date("2024-02-29") && !is_date("2023-02-29") && !is_date("2024-2-9"));
        assert!(is_date_time("2024-01-01t00:00:00.123z") && is_date_time("2024-01-01T23:59:59+01:00"));
        assert!(!is_date_time("2024-01-01T24:00:00Z") && !is_date_time("2024-01-01"));
        assert_eq!(rfc3339("2024-01-01t00:00:00,5z").unwrap(), "2024-01-01T00:00:00.5Z");
    }

    #[test]
    fn durations() {
        for (text, length) in [
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("0", Some(0)),
            ("3 days", Some(259_200_000_000_000)),
            ("2 weeks", Some(1_209_600_000_000_000)),
            ("", None),
            ("5", None),
            ("abc", None),
        ] {
            assert_eq!(nanoseconds(text), length, "{text}");
        }
    }
}
