//! Messages and reasons that fit into a condition, however many names there are to tell.

use muster_api::limits;

/// The longest message our CRDs allow, in characters; `metav1.Condition` would bear 32768, but twelve of
/// those in each of many objects are nobody's help.
pub const MESSAGE_LIMIT: usize = limits::MESSAGE_MAX as usize;

/// The longest reason our CRDs allow, in characters; `metav1.Condition` would bear 1024.
pub const REASON_LIMIT: usize = limits::WORD_MAX as usize;

/// How many names a message tells before "and N more": enough for a person, small enough for 512 members in
/// every condition.
pub const NAMES_LIMIT: usize = 10;

/// What stands for a reason that has no usable character.
const NO_REASON: &str = "Unspecified";

/// Marks where a message was cut.
const CUT: &str = " … (cut)";

/// Cuts a message to [`MESSAGE_LIMIT`] characters, and says that it did.
pub fn message(text: String) -> String {
    // A character takes at least one byte, so the byte length alone clears nearly every message.
    if text.len() <= MESSAGE_LIMIT || text.chars().count() <= MESSAGE_LIMIT {
        return text;
    }
    let mut cut: String = text.chars().take(MESSAGE_LIMIT - CUT.chars().count()).collect();
    cut.push_str(CUT);
    cut
}

/// Makes `word` a valid reason: `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, at most [`REASON_LIMIT`]
/// characters.
///
/// Our own reasons pass unchanged; a mirrored one comes from another's object and may hold anything.
pub fn reason(word: &str) -> String {
    let kept = word.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':'));
    let kept: String = kept.skip_while(|c| !c.is_ascii_alphabetic()).take(REASON_LIMIT).collect();
    match kept.trim_end_matches([',', ':']) {
        "" => NO_REASON.to_owned(),
        valid => valid.to_owned(),
    }
}

/// The names, comma separated, at most [`NAMES_LIMIT`] of them: "a, b and 3 more".
pub fn names<T: AsRef<str>>(all: &[T]) -> String {
    listed(all, ", ")
}

/// At most [`NAMES_LIMIT`] parts, joined by `separator`, and how many more there are.
pub fn listed<T: AsRef<str>>(all: &[T], separator: &str) -> String {
    let told: Vec<&str> = all.iter().take(NAMES_LIMIT).map(AsRef::as_ref).collect();
    let told = told.join(separator);
    match all.len().saturating_sub(NAMES_LIMIT) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}
