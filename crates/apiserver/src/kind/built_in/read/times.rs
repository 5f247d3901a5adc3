//! Times: read as RFC 3339 has them, written in UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde_json::Value;

use super::scalars::Wrong;

/// How Go writes the two forms.
const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
const MICROSECONDS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// A time of day to the second; parts of it are read and dropped.
pub(super) fn seconds(value: &Value) -> Result<Value, Wrong> {
    let text = text(value)?;
    let time = parse(text).ok_or_else(|| wrong(text, SECONDS))?;
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// A time of day with exactly six digits after the second.
pub(super) fn microseconds(value: &Value) -> Result<Value, Wrong> {
    let text = text(value)?;
    let digits = text.get(20..26).filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()));
    let is_end = text.get(26..).is_some_and(|zone| zone.starts_with(['Z', '+', '-']));
    let time =
        digits.filter(|_| is_end).and_then(|_| parse(text)).ok_or_else(|| wrong(text, MICROSECONDS))?;
    Ok(time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into())
}

fn text(value: &Value) -> Result<&str, Wrong> {
    value.as_str().ok_or_else(|| Wrong::type_of(value, "string"))
}

fn wrong(text: &str, layout: &str) -> Wrong {
    if let Some(extra) = extra(text, layout) {
        return Wrong::Said(format!("parsing time {text:?}: extra text: {extra:?}"));
    }
    let part = if layout == MICROSECONDS && parse(text).is_some() {
        let has_all = text.bytes().skip(20).take(6).filter(u8::is_ascii_digit).count() == 6;
        if has_all { (&text[26..], "Z07:00") } else { (&text[19..], ".000000") }
    } else {
        first_wrong(text)
    };
    Wrong::Said(format!("parsing time {text:?} as {layout:?}: cannot parse {:?} as {:?}", part.0, part.1))
}

/// What follows a time that would be fine without it.
fn extra<'a>(text: &'a str, layout: &str) -> Option<&'a str> {
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let fraction = if digits == 0 { 0 } else { digits + 1 };
    if layout == MICROSECONDS && digits != 6 {
        return None;
    }
    let zone = rest.get(fraction..)?;
    let length = if zone.starts_with('Z') { 1 } else { 6 };
    let (time, extra) = text.split_at_checked(19 + fraction + length)?;
    (!extra.is_empty() && parse(time).is_some()).then_some(extra)
}

/// What is left where a text stops to be a time, and what was expected there.
fn first_wrong(text: &str) -> (&str, &'static str) {
    const PARTS: [(usize, &str); 11] = [
        (4, "2006"),
        (1, "-"),
        (2, "01"),
        (1, "-"),
        (2, "02"),
        (1, "T"),
        (2, "15"),
        (1, ":"),
        (2, "04"),
        (1, ":"),
        (2, "05"),
    ];
    let mut rest = text;
    for (length, part) in PARTS {
        let is_number = part.starts_with(|c: char| c.is_ascii_digit());
        match rest.split_at_checked(length) {
            Some((found, after))
                if found == part || is_number && found.bytes().all(|c| c.is_ascii_digit()) =>
            {
                rest = after;
            }
            _ => return (rest, part),
        }
    }
    (rest, "Z07:00")
}

/// `2006-01-02T15:04:05`, perhaps with a fraction, and a zone.
fn parse(text: &str) -> Option<Timestamp> {
    let (time, zone) = text.split_at_checked(19)?;
    if time.as_bytes().get(10) != Some(&b'T') || !text.is_ascii() {
        return None;
    }
    let whole: DateTime = time.parse().ok()?;
    let fraction = zone.strip_prefix(['.', ',']);
    let digits = fraction.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    if fraction.is_some() && digits == 0 {
        return None;
    }
    let zone = fraction.map_or(zone, |rest| &rest[digits..]);
    let kept: String = fraction.unwrap_or_default().chars().take(digits.min(9)).collect();
    let nanoseconds: i32 = format!("{kept:0<9}").parse().ok()?;
    let whole = whole.with().subsec_nanosecond(nanoseconds).build().ok()?;
    offset(zone)?.to_timestamp(whole).ok()
}

fn offset(zone: &str) -> Option<Offset> {
    if zone == "Z" {
        return Some(Offset::UTC);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let number = |text: &str, max: i32| {
        let number: i32 = text.parse().ok().filter(|_| text.len() == 2)?;
        (0..=max).contains(&number).then_some(number)
    };
    Offset::from_seconds(sign * (number(hours, 24)? * 3600 + number(minutes, 60)? * 60)).ok()
}
