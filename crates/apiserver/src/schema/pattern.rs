//! Patterns: regular expressions in Go's syntax, for a library with nearly the same.
//!
//! Where the two differ, a pattern is rewritten: Go's `\d`, `\w`, `\s` and `\b` know ASCII only, a brace that repeats
//! nothing is a brace, and classes cannot be nested or intersected.

use regex::Regex;

/// Compiles a pattern; the error says what is wrong with it.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&translate(pattern)).map_err(|error| error.to_string())
}

fn translate(pattern: &str) -> String {
    let mut rest =
        Rewriter { chars: pattern.chars().collect(), at: 0, out: String::with_capacity(pattern.len()) };
    while let Some(c) = rest.next() {
        match c {
            '\\' => rest.escape(false),
            '[' => rest.class(),
            '{' if !rest.repeats() => rest.out.push_str("\\{"),
            c => rest.out.push(c),
        }
    }
    rest.out
}

struct Rewriter {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Rewriter {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn escape(&mut self, in_class: bool) {
        let Some(c) = self.next() else { return self.out.push('\\') };
        let text = match (c, in_class) {
            ('d', false) => "[0-9]",
            ('d', true) => "0-9",
            ('w', false) => "[0-9A-Za-z_]",
            ('w', true) => "0-9A-Za-z_",
            ('s', false) => "[\\t\\n\\f\\r ]",
            ('s', true) => "\\t\\n\\f\\r ",
            ('D', _) => "[^0-9]",
            ('W', _) => "[^0-9A-Za-z_]",
            ('S', _) => "[^\\t\\n\\f\\r ]",
            ('b', false) => "(?-u:\\b)",
            ('B', false) => "(?-u:\\B)",
            ('<', _) => "<",
            ('>', _) => ">",
            ('Q', false) => return self.literal(),
            _ => {
                self.out.push('\\');
                return self.out.push(c);
            }
        };
        self.out.push_str(text);
    }

    /// From `\Q` to `\E`, or to the end.
    fn literal(&mut self) {
        let mut text = String::new();
        while let Some(c) = self.next() {
            if c == '\\' && self.peek() == Some('E') {
                self.at += 1;
                break;
            }
            text.push(c);
        }
        self.out.push_str(&regex::escape(&text));
    }

    fn class(&mut self) {
        self.out.push('[');
        if self.peek() == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        if self.peek() == Some(']') {
            self.at += 1;
            self.out.push_str("\\]");
        }
        while let Some(c) = self.next() {
            match c {
                ']' => return self.out.push(']'),
                '\\' => self.escape(true),
                '[' if self.peek() == Some(':') => self.named_class(),
                '[' | '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                c => self.out.push(c),
            }
        }
    }

    /// `[:alpha:]` inside a class.
    fn named_class(&mut self) {
        self.out.push('[');
        while let Some(c) = self.next() {
            self.out.push(c);
            if c == ']' {
                return;
            }
        }
    }

    /// Whether what follows an opening brace makes it a repetition.
    fn repeats(&self) -> bool {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|c| *c == '}') else { return false };
        let inside: String = rest.iter().take(end).collect();
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match inside.split_once(',') {
            None => is_number(&inside),
            Some((low, high)) => is_number(low) && (high.is_empty() || is_number(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        let cases = [
            ("^a", "ba", false),
            ("a", "bab", true),
            (r"^\d$", "٣", false),
            (r"^[\d.]+$", "1.2", true),
            (r"^\w+$", "é", false),
            (r"^[^\w]$", "é", true),
            ("^{a}$", "{a}", true),
            ("^a{2}$", "aa", true),
            ("^[[a]$", "[", true),
            ("^[a&&b]+$", "a&b", true),
            ("^[[:alpha:]]+$", "ab", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            ("^[]a]$", "]", true),
        ];
        for (pattern, text, matches) in cases {
            assert_eq!(compile(pattern).unwrap().is_match(text), matches, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_refused() {
        assert!(compile("(").is_err());
        assert!(compile("a(?!b)").is_err());
    }
}
