//! The schedules of `CronJob`s: what is wrong with them, in the words of the parser that the server uses.

/// Of a field of a schedule, its least and greatest number, and the names of some.
struct Bounds {
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Bounds; 5] = [
    Bounds { least: 0, most: 59, names: &[] },
    Bounds { least: 0, most: 23, names: &[] },
    Bounds { least: 1, most: 31, names: &[] },
    Bounds { least: 1, most: 12, names: &MONTHS },
    Bounds { least: 0, most: 6, names: &DAYS },
];
const SHORTHANDS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Says what is wrong with a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let schedule = match schedule.strip_prefix("TZ=").or_else(|| schedule.strip_prefix("CRON_TZ=")) {
        Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest).trim(),
        None => schedule,
    };
    if schedule.starts_with('@') {
        let known = SHORTHANDS.contains(&schedule) || schedule.starts_with("@every ");
        return if known { Ok(()) } else { Err(format!("unrecognized descriptor: {schedule}")) };
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let listed = fields.join(" ");
        return Err(format!("expected exactly 5 fields, found {}: [{listed}]", fields.len()));
    }
    fields.iter().zip(&FIELDS).try_for_each(|(field, bounds)| {
        field.split(',').filter(|part| !part.is_empty()).try_for_each(|part| check_range(part, bounds))
    })
}

fn check_range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let (range, step) = match text.split_once('/') {
        Some((_, step)) if step.contains('/') => return Err(format!("too many slashes: {text}")),
        Some((range, step)) => (range, Some(step)),
        None => (text, None),
    };
    let (start, end) = match range.split_once('-') {
        _ if matches!(range, "*" | "?") => (bounds.least, bounds.most),
        Some((_, end)) if end.contains('-') => return Err(format!("too many hyphens: {text}")),
        Some((start, end)) => (number(start, bounds)?, number(end, bounds)?),
        None => {
            let start = number(range, bounds)?;
            (start, if step.is_some() { bounds.most } else { start })
        }
    };
    let step = step.map_or(Ok(1), plain_number)?;
    let (least, most) = (bounds.least, bounds.most);
    if start < least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {text}"));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number(text: &str, bounds: &Bounds) -> Result<u32, String> {
    let lower = text.to_ascii_lowercase();
    let named = bounds.names.iter().position(|name| *name == lower);
    match named.and_then(|index| u32::try_from(index).ok()) {
        // The days count from 0, the months from 1.
        Some(index) => Ok(index + bounds.least),
        None => plain_number(text),
    }
}

fn plain_number(text: &str) -> Result<u32, String> {
    let wrong = || format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax");
    let number: i64 = text.parse().map_err(|_| wrong())?;
    u32::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_told_from_other_texts() {
        for schedule in ["* * * * *", "*/5 0-6 1,15 jan-MAR mon", "@hourly", "0 0 1 1 ?", "@every 5m"] {
            assert_eq!(check(schedule), Ok(()), "{schedule}");
        }
        let cases = [
            ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("x * * * *", r#"failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax"#),
            ("5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("@often", "unrecognized descriptor: @often"),
        ];
        for (schedule, wrong) in cases {
            assert_eq!(check(schedule), Err(wrong.to_owned()), "{schedule}");
        }
    }
}
