//! Colour: by meaning, never by name, and only where it is wanted.

/// What a text means to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Not known, or on its way.
    Unsure,
    /// A heading.
    Heading,
    /// Beside the point.
    Faint,
}

impl Tone {
    /// What the status of a condition means.
    pub fn of_truth(status: &str) -> Self {
        match status {
            "True" => Self::Good,
            "False" => Self::Bad,
            _ => Self::Unsure,
        }
    }

    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Unsure => Some("33"),
            Self::Heading => Some("1"),
            Self::Faint => Some("2"),
        }
    }
}

/// Colours texts, or leaves them alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Whether to colour.
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    /// The text in this tone.
    pub fn text(self, tone: Tone, text: &str) -> String {
        match tone.code().filter(|_| self.on && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

/// What others wrote, as it may be shown: without control characters, which a terminal would obey.
pub fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_there_only_where_it_is_wanted() {
        assert_eq!(Paint::new(false).text(Tone::Bad, "Failed"), "Failed");
        assert_eq!(Paint::new(true).text(Tone::Bad, "Failed"), "\u{1b}[31mFailed\u{1b}[0m");
        assert_eq!(Paint::new(true).text(Tone::Plain, "x"), "x");
        assert_eq!(Paint::new(true).text(Tone::Bad, ""), "");
    }

    #[test]
    fn a_message_cannot_command_the_terminal() {
        assert_eq!(tame("a\u{1b}[2Jb\r\nc"), "a\u{fffd}[2Jb\u{fffd}\nc");
    }
}
