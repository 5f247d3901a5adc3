//! Reading a path.

use serde_json::Value;

use super::{Operand, Operator, Path, Step};

/// The most steps of a path that are read: definitions have far fewer.
const MAX_STEPS: usize = 256;

pub(super) fn path(text: &str) -> Option<Path> {
    let mut rest = text.trim();
    rest = rest.strip_prefix('$').or_else(|| rest.strip_prefix('@')).unwrap_or(rest);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() >= MAX_STEPS {
            return None;
        }
        let (step, after) = step(rest)?;
        steps.extend(step);
        rest = after;
    }
    Some(Path(steps))
}

/// The next step, none where there is nothing to do, and what comes after it.
fn step(text: &str) -> Option<(Option<Step>, &str)> {
    if text.starts_with("..") {
        // The second dot belongs to the name that follows.
        return Some((Some(Step::Deep), text.get(1..)?));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let end = closing(rest)?;
        let (inside, after) = (rest.get(..end)?, rest.get(end + 1..)?);
        return Some((Some(bracket(inside.trim())?), after));
    }
    let rest = text.strip_prefix('.').unwrap_or(text);
    if rest.starts_with('[') || rest.is_empty() {
        return Some((None, rest));
    }
    let (name, after) = name(rest);
    let step = if name == "*" { Step::All } else { Step::Field(name) };
    Some((Some(step), after))
}

/// A name up to the next dot or bracket; a backslash takes their meaning away.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, next)| next)),
            '.' | '[' => return (name, text.get(place..).unwrap_or_default()),
            _ => name.push(letter),
        }
    }
    (name, "")
}

/// Where the bracket closes, quotes and inner brackets passed over.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(place),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn bracket(text: &str) -> Option<Step> {
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return self::filter(filter.trim());
    }
    if let Some(name) = quoted(text) {
        return Some(Step::Field(name));
    }
    if let Ok(index) = text.parse() {
        return Some(Step::Index(index));
    }
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let number = |place: usize| match parts.get(place) {
        None | Some(&"") => Some(None),
        Some(text) => text.parse::<i64>().ok().map(Some),
    };
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    let by = usize::try_from(number(2)?.unwrap_or(1)).ok().filter(|by| *by > 0)?;
    Some(Step::Slice(number(0)?, number(1)?, by))
}

fn quoted(text: &str) -> Option<String> {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"')).map(str::to_owned)
}

fn filter(text: &str) -> Option<Step> {
    const OPERATORS: [(&str, Operator); 6] = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    let mut quote = None;
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => continue,
            (None, '"' | '\'') => quote = Some(letter),
            (None, _) => {}
        }
        let here = text.get(place..)?;
        if let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| here.starts_with(sign)) {
            let left = operand(text.get(..place)?)?;
            let right = operand(here.get(sign.len()..)?)?;
            return Some(Step::Filter(left, *operator, right));
        }
    }
    Some(Step::Exists(path(text)?))
}

fn operand(text: &str) -> Option<Operand> {
    let text = text.trim();
    if text.starts_with(['@', '$', '.']) {
        return path(text).map(Operand::Path);
    }
    if let Some(text) = quoted(text) {
        return Some(Operand::Value(Value::String(text)));
    }
    match text {
        "true" | "false" => Some(Operand::Value(Value::Bool(text == "true"))),
        _ => serde_json::from_str(text).ok().filter(Value::is_number).map(Operand::Value),
    }
}
