//! Rust source without its comments and literals, so that rules look at code only; and where functions and
//! test modules begin and end in it.

/// Replaces comments and the content of literals by spaces; every line keeps its number and length.
pub(super) fn code_only(source: &str) -> String {
    let mut lexer = Lexer { rest: source, code: String::with_capacity(source.len()) };
    while let Some(next) = lexer.rest.chars().next() {
        lexer.step(next);
    }
    lexer.code
}

struct Lexer<'a> {
    rest: &'a str,
    code: String,
}

impl Lexer<'_> {
    fn step(&mut self, next: char) {
        if self.rest.starts_with("//") {
            self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment(self.rest));
        } else if next == '"' {
            self.blank(string(self.rest));
        } else if let Some(length) = raw_string(self.rest).filter(|_| !self.in_word()) {
            self.blank(length);
        } else if let Some(length) = character(self.rest) {
            self.blank(length);
        } else {
            self.code.push(next);
            self.rest = &self.rest[next.len_utf8()..];
        }
    }

    /// Whether the last character belongs to a word, as in `expr"…"` in a macro.
    fn in_word(&self) -> bool {
        self.code.chars().next_back().is_some_and(is_word)
    }

    fn blank(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.code.extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a block comment, nested ones included.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string literal that begins here.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string literal, if one begins here.
fn raw_string(text: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let content = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let before = text.len() - content.len();
    Some(content.find(&end).map_or(text.len(), |at| before + at + end.len()))
}

/// The length of a character literal, if one begins here; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        let escaped = inner.chars().nth(1)?;
        let after = 1 + escaped.len_utf8();
        return inner[after..].find('\'').map(|at| 1 + after + at + 1);
    }
    inner[first.len_utf8()..].starts_with('\'').then(|| 1 + first.len_utf8() + 1)
}

/// Lines `first..=last`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Span {
    pub(super) fn lines(self) -> usize {
        self.last - self.first + 1
    }

    pub(super) fn contains(self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// Every function that has a body, with its name.
pub(super) fn functions(code: &str) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    for at in words(code, "fn") {
        let name: String = code[at + 2..].trim_start().chars().take_while(|c| is_word(*c)).collect();
        if !name.is_empty()
            && let Some(span) = item(code, at)
        {
            found.push((name, span));
        }
    }
    found
}

/// Every item behind `#[cfg(test)]`. With `#![cfg(test)]` that is the whole file.
pub(super) fn test_items(code: &str) -> Vec<Span> {
    if code.contains("#![cfg(test)]") {
        return vec![Span { first: 1, last: code.lines().count() }];
    }
    code.match_indices("#[cfg(test)]").filter_map(|(at, _)| item(code, at)).collect()
}

/// The places where this word stands by itself.
pub(super) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The line of this place, counted from 1.
pub(super) fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// From here to the end of the braces that open next; nothing if a `;` comes first.
fn item(code: &str, start: usize) -> Option<Span> {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, c) in code[start..].char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return Some(Span { first: line_of(code, start), last: line_of(code, start + at) });
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let source =
            "a(); // b!\n/* c /* d */ e\n */ f(\"g \\\" h\", 'i', '\\'', r#\"j \" k\"#, b\"l\");\n'm: n";
        let code = code_only(source);
        assert_eq!(code.lines().count(), source.lines().count());
        let letters: String = code.chars().filter(|c| c.is_alphabetic()).collect();
        assert_eq!(letters, "afbmn"); // the b of b"l", the lifetime 'm
    }

    #[test]
    fn a_raw_identifier_and_a_word_that_ends_in_r_are_no_raw_strings() {
        assert_eq!(code_only("r#type + var\"x\" + y").replace(' ', ""), "r#type+var+y");
    }

    #[test]
    fn functions_are_measured_to_their_closing_brace() {
        let code =
            "fn a() { if x { y } }\nimpl B {\n    fn c(&self) -> [u8; 3]\n    {\n    }\n    fn d();\n}\n";
        let found = functions(code);
        assert_eq!(
            found,
            [("a".into(), Span { first: 1, last: 1 }), ("c".into(), Span { first: 3, last: 5 })]
        );
        assert_eq!(found[1].1.lines(), 3);
    }

    #[test]
    fn test_modules_are_found() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        assert_eq!(test_items(code), [Span { first: 2, last: 5 }]);
        assert_eq!(test_items("#![cfg(test)]\nfn a() {}\n"), [Span { first: 1, last: 2 }]);
        assert!(test_items("#[cfg(test)]\nmod tests;\n").is_empty());
    }

    #[test]
    fn words_stand_by_themselves() {
        assert_eq!(words("fn fnord a_fn fn", "fn").collect::<Vec<_>>(), [0, 14]);
    }
}
