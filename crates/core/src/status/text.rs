//! Values made fit for the schema: what does not fit is cut or left out, never refused by the API server later.

use std::sync::LazyLock;

use jiff::Timestamp;
use muster_api::{Quantity, Time, limits};
use regex::Regex;

use crate::conditions;
use crate::manager::stamp::Term;

/// The form of a term in status. A pattern that does not compile lets nothing through.
static TERM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(limits::TERM_PATTERN).ok());

/// At most `limit` characters of a text.
pub(super) fn cut(text: &str, limit: u32) -> String {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if text.len() <= limit { text.to_owned() } else { text.chars().take(limit).collect() }
}

/// The same, and nothing where there is no text.
pub(super) fn cut_some(text: &str, limit: u32) -> Option<String> {
    (!text.is_empty()).then(|| cut(text, limit))
}

/// A name, cut to what lists in status hold.
pub(super) fn name(name: &str) -> String {
    cut(name, limits::STATUS_NAME_MAX)
}

/// At most as many names as a list in status holds.
pub(super) fn names<'n>(all: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    all.into_iter().filter(|one| !one.is_empty()).take(crate::scaling::MEMBER_LIMIT).map(name).collect()
}

/// A count.
pub(super) fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A sequence, where it fits.
pub(super) fn sequence(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// A term as status shows it: with its maker where the schema admits that, else its stamp, else nothing.
pub(super) fn term(term: Term) -> Option<String> {
    let fits = |text: &String| {
        text.len() <= usize::try_from(limits::TERM_MAX).unwrap_or(0)
            && TERM.as_ref().is_some_and(|pattern| pattern.is_match(text))
    };
    Some(term.to_string()).filter(fits).or_else(|| Some(term.stamp.to_string()).filter(fits))
}

/// Bytes as a quantity.
pub(super) fn bytes(number: u128) -> Quantity {
    Quantity::from_bytes(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A time that the schema admits: not before 1970, which also keeps it to four digits of a year.
pub(super) fn time(at: Timestamp) -> Option<Time> {
    (at >= Timestamp::UNIX_EPOCH).then(|| Time(conditions::whole_second(at)))
}
