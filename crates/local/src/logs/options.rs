//! How much of a log is wanted: the query of a kubelet's `/containerLogs`, which is that of `kubectl logs`.

use jiff::{SignedDuration, Timestamp};

/// What of a log is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Also what is still to come, until the container ends.
    pub(super) follow: bool,
    /// Of the run before this one.
    pub(super) previous: bool,
    /// Each line with its time.
    pub(super) timestamps: bool,
    /// Nothing from before.
    pub(super) since: Option<Timestamp>,
    /// At most so many of the last lines.
    pub(super) tail_lines: Option<u64>,
    /// At most so many bytes.
    pub(super) limit_bytes: Option<u64>,
}

impl Options {
    /// Reads a query. What it does not know it leaves alone.
    pub(super) fn parse(query: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = unescaped(value).ok_or_else(|| format!("{name}: {value:?} is not well escaped"))?;
            let number = || {
                value.parse::<u64>().map_err(|_| format!("{name}: {value:?} is not a number of 0 or more"))
            };
            match name {
                "follow" => options.follow = flag(&value),
                "previous" => options.previous = flag(&value),
                "timestamps" => options.timestamps = flag(&value),
                "tailLines" => options.tail_lines = Some(number()?),
                "limitBytes" => options.limit_bytes = Some(number()?),
                "sinceSeconds" => options.since = Some(ago(number()?)),
                "sinceTime" => {
                    let time = value.parse().map_err(|_| format!("sinceTime: {value:?} is not a time"))?;
                    options.since = Some(time);
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Kubernetes takes anything but these for on.
fn flag(value: &str) -> bool {
    !matches!(value, "false" | "0")
}

fn ago(seconds: u64) -> Timestamp {
    let seconds = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    Timestamp::now().checked_sub(seconds).unwrap_or(Timestamp::MIN)
}

fn unescaped(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubectl_asks_is_understood() {
        let options =
            "follow=true&tailLines=5&limitBytes=10&timestamps=true&sinceTime=2026-11-16T09%3A00%3A00Z&x=y";
        let options = Options::parse(options).unwrap();
        let since = "2026-11-16T09:00:00Z".parse().ok();
        let wanted = Options {
            follow: true,
            timestamps: true,
            since,
            tail_lines: Some(5),
            limit_bytes: Some(10),
            ..Options::default()
        };
        assert_eq!(options, wanted);
        assert_eq!(Options::parse("follow=false&previous=0").unwrap(), Options::default());
        let ago = Options::parse("sinceSeconds=60").unwrap().since.unwrap();
        assert!(ago < Timestamp::now());
        assert!(Options::parse(&format!("sinceSeconds={}", u64::MAX)).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (query, wanted) in [
            ("tailLines=-1", "tailLines: \"-1\" is not a number of 0 or more"),
            ("sinceTime=yesterday", "sinceTime: \"yesterday\" is not a time"),
            ("limitBytes=%", "limitBytes: \"%\" is not well escaped"),
        ] {
            assert_eq!(Options::parse(query).unwrap_err(), wanted);
        }
    }
}
