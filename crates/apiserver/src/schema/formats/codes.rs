//! Formats of fixed form, some with check digits.

/// A UUID, with or without dashes, of one version if that matters.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut groups = Vec::new();
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        if !group.chars().all(|c| c.is_ascii_hexdigit()) {
            return false;
        }
        groups.push(group);
        rest = after;
    }
    let starts = |index: usize, allowed: &[char]| {
        groups.get(index).is_some_and(|group: &&str| group.starts_with(allowed))
    };
    let variant = ['8', '9', 'a', 'b', 'A', 'B'];
    rest.is_empty()
        && match version {
            None => true,
            Some('3') => starts(2, &['3']),
            Some(version) => starts(2, &[version]) && starts(3, &variant),
        }
}

fn digits(text: &str) -> Option<Vec<u32>> {
    text.chars().map(|c| c.to_digit(10)).collect()
}

fn without_spaces_and_dashes(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r' | '-')).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_spaces_and_dashes(text);
    let Some((head, last)) = text.split_at_checked(9) else { return false };
    let last = match last {
        "X" => Some(10),
        last if last.len() == 1 => last.parse().ok(),
        _ => None,
    };
    let (Some(head), Some(last)) = (digits(head), last) else { return false };
    let sum: u32 = head.iter().chain([&last]).zip(1..).map(|(digit, weight)| digit * weight).sum();
    sum.is_multiple_of(11)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let Some(digits) = digits(&without_spaces_and_dashes(text)) else { return false };
    let sum: u32 = digits.iter().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| digit * weight).sum();
    digits.len() == 13 && sum.is_multiple_of(10)
}

pub(super) fn is_credit_card(text: &str) -> bool {
    let number: String = text.chars().filter(char::is_ascii_digit).collect();
    let Some(digits) = digits(&number) else { return false };
    let between = |length: usize, low: u32, high: u32| {
        number
            .get(..length)
            .and_then(|head| head.parse().ok())
            .is_some_and(|head: u32| (low..=high).contains(&head))
    };
    let known = match number.len() {
        13 => between(1, 4, 4),
        14 => between(3, 300, 305) || between(2, 36, 36) || between(2, 38, 38),
        15 => between(2, 34, 34) || between(2, 37, 37) || between(4, 2131, 2131) || between(4, 1800, 1800),
        16 => {
            between(1, 4, 4)
                || between(2, 51, 55)
                || between(4, 6011, 6011)
                || between(2, 65, 65)
                || between(2, 35, 35)
        }
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match digit * if index % 2 == 1 { 2 } else { 1 } {
            double if double >= 10 => double % 10 + 1,
            double => double,
        })
        .sum();
    known && sum.is_multiple_of(10)
}

pub(super) fn is_ssn(text: &str) -> bool {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    matches!(form.as_str(), "000-00-0000" | "000 00 0000" | "000-00 0000" | "000 00-0000")
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let text = text.strip_prefix('#').unwrap_or(text);
    matches!(text.len(), 3 | 6) && text.chars().all(|c| c.is_ascii_hexdigit())
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(inside) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let parts: Vec<_> = inside.split(',').collect();
    let is_part = |part: &&str| {
        let part = part.trim_matches([' ', '\t', '\n', '\u{c}', '\r']);
        let plain =
            part == "0" || (part.starts_with(|c| c != '0') && part.chars().all(|c| c.is_ascii_digit()));
        plain && part.parse::<u8>().is_ok()
    };
    parts.len() == 3 && parts.iter().all(is_part)
}

/// Base64 with padding; an empty text is none to the server.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids() {
        assert!(is_uuid("00000000-0000-4000-8000-000000000000", Some('4')));
        assert!(is_uuid("00000000000040008000000000000000", None));
        assert!(!is_uuid("00000000-0000-4000-0000-000000000000", Some('4')));
        assert!(!is_uuid("00000000-0000-4000-8000-0000000000000", None));
    }

    #[test]
    fn check_digits() {
        assert!(is_isbn10("0-321-75104-3") && !is_isbn10("0321751044"));
        assert!(is_isbn13("978-0321751041") && !is_isbn13("978-0321751042"));
        assert!(is_credit_card("4111-1111-1111-1111") && !is_credit_card("4111-1111-1111-1112"));
    }

    #[test]
    fn forms() {
        assert!(is_ssn("111-22-3333") && !is_ssn("111223333"));
        assert!(is_hex_color("#FFF") && is_hex_color("00ff00") && !is_hex_color("#FFFF"));
        assert!(
            is_rgb_color("rgb(255, 0,10)") && !is_rgb_color("rgb(256,0,0)") && !is_rgb_color("rgb(01,0,0)")
        );
        assert!(is_base64("YWI=") && !is_base64("YWI") && !is_base64(""));
    }
}
