//! What was found, for a person or a program.

use std::fmt::Write;

use serde::Serialize;

use crate::print::paint::tame;
use crate::print::{Paint, Tone};

/// What was found about one manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    /// Where it stands.
    pub(crate) source: String,
    /// Its kind.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// Everything that is wrong, each with its field.
    pub(crate) violations: Vec<String>,
    /// What could not be found out.
    pub(crate) not_checked: Vec<String>,
}

/// One manifest in a line, and beneath it what is wrong.
pub(super) fn text(verdicts: &[Verdict], paint: Paint) -> String {
    let mut text = String::new();
    for verdict in verdicts {
        let Verdict { source, kind, name, violations, not_checked } = verdict;
        let (word, tone) = match (violations.is_empty(), not_checked.is_empty()) {
            (false, _) => ("not valid", Tone::Bad),
            (true, true) => ("valid", Tone::Good),
            (true, false) => ("valid as far as it could be checked", Tone::Unsure),
        };
        let named = format!("{}.muster.dev/{name}", kind.to_lowercase());
        let _ = writeln!(text, "{}: {} {}", tame(source), tame(&named), paint.text(tone, word));
        for violation in violations {
            let _ = writeln!(text, "  {}", tame(violation));
        }
        for unknown in not_checked {
            let _ = writeln!(text, "  not checked: {}", tame(unknown));
        }
    }
    text
}
