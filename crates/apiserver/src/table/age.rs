//! How long something took, or how long ago it was, in few letters.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;
/// By how much a clock may be behind before an age below zero is called invalid.
const TOLERANCE: i64 = 1;

/// A time of the API and how long ago it was; what is not there is `<unknown>`.
pub fn since(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        _ if time.is_empty() => "<unknown>".to_owned(),
        // Whole seconds towards zero, as a duration in Go has them.
        Ok(time) => human(now.duration_since(time).as_secs()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// A duration in seconds: the finer unit is left out where it says little.
pub fn human(seconds: i64) -> String {
    let two = |large: i64, (unit, name): (i64, char), (part, small): (i64, char)| {
        let rest = large % unit / part;
        if rest == 0 {
            format!("{}{name}", large / unit)
        } else {
            format!("{}{name}{rest}{small}", large / unit)
        }
    };
    match seconds {
        _ if seconds < -TOLERANCE => "<invalid>".to_owned(),
        _ if seconds < 0 => "0s".to_owned(),
        _ if seconds < 2 * MINUTE => format!("{seconds}s"),
        _ if seconds < 10 * MINUTE => two(seconds, (MINUTE, 'm'), (1, 's')),
        _ if seconds < 3 * HOUR => format!("{}m", seconds / MINUTE),
        _ if seconds < 8 * HOUR => two(seconds, (HOUR, 'h'), (MINUTE, 'm')),
        _ if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        _ if seconds < 8 * DAY => two(seconds, (DAY, 'd'), (HOUR, 'h')),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds, (YEAR, 'y'), (DAY, 'd')),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finer_unit_is_there_while_it_matters() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (10 * MINUTE + 5, "10m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 59, "3h"),
            (3 * HOUR + 60, "3h1m"),
            (8 * HOUR + 60, "8h"),
            (2 * DAY + HOUR, "2d1h"),
            (9 * DAY + HOUR, "9d"),
            (2 * YEAR + DAY, "2y1d"),
            (9 * YEAR + DAY, "9y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn a_time_may_be_missing_or_wrong() {
        let now: Timestamp = "2026-01-01T00:01:00Z".parse().unwrap();
        assert_eq!(since("2026-01-01T00:00:00.5Z", now), "59s");
        assert_eq!(since("", now), "<unknown>");
        assert_eq!(since("yesterday", now), "<invalid>");
    }
}
