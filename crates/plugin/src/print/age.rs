//! Durations as people read and write them: `5s`, `3m20s`, `4h`, `12d`.

use std::time::Duration;

use jiff::Timestamp;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Two units at most, the smaller one only while it matters; as kubectl shows ages.
pub fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let two = |big: u64, name: &str, small: u64, below: &str| match seconds % big / small {
        0 => format!("{}{name}", seconds / big),
        rest => format!("{}{name}{rest}{below}", seconds / big),
    };
    match seconds {
        0 if duration.subsec_millis() > 0 => format!("{}ms", duration.subsec_millis()),
        0..120 => format!("{seconds}s"),
        120..600 => two(MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, "d", HOUR, "h"),
        _ => format!("{}d", seconds / DAY),
    }
}

/// How long ago that was; what lies ahead is now.
pub fn since(then: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(then)).unwrap_or_default()
}

/// Reads `90s`, `2m`, `1h30m`, `500ms`, or a bare number of seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration such as 30s, 5m or 1h30m");
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let (mut rest, mut total) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(MINUTE).ok_or_else(wrong)?),
            "h" => Duration::from_secs(number.checked_mul(HOUR).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = after;
    }
    if text.is_empty() { Err(wrong()) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let shown = |seconds| short(Duration::from_secs(seconds));
        assert_eq!([0, 5, 119, 120, 200, 700].map(shown), ["0s", "5s", "119s", "2m", "3m20s", "11m"]);
        assert_eq!(
            [10_800, 12_000, 90_000, 180_000, 864_000].map(shown),
            ["3h", "3h20m", "25h", "2d2h", "10d"]
        );
        assert_eq!(short(Duration::from_millis(250)), "250ms");
    }

    #[test]
    fn durations_are_read_as_kubectl_reads_them() {
        assert_eq!(parse("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "m", "5x", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_lies_ahead_is_now() {
        let now = Timestamp::from_second(100).unwrap();
        assert_eq!(since(Timestamp::from_second(90).unwrap(), now), Duration::from_secs(10));
        assert_eq!(since(Timestamp::from_second(110).unwrap(), now), Duration::ZERO);
    }
}
