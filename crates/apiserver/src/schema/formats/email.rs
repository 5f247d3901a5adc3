//! The format `email`: an address of RFC 5322, alone or in angle brackets after a name.

pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    match text.strip_suffix('>').and_then(|head| head.split_once('<')) {
        Some((name, address)) => is_phrase(name.trim_matches([' ', '\t'])) && is_address(address),
        None => is_address(text),
    }
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = split_at_sign(text) else { return false };
    let is_local = if local.starts_with('"') { is_quoted(local) } else { is_dotted(local) };
    is_local && (is_dotted(domain) || is_literal(domain))
}

/// Splits before the domain, which has no at sign.
fn split_at_sign(text: &str) -> Option<(&str, &str)> {
    let (local, domain) = text.rsplit_once('@')?;
    (local.starts_with('"') || !local.contains('@')).then_some((local, domain))
}

fn is_atom_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

fn is_dotted(text: &str) -> bool {
    text.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atom_letter))
}

fn is_literal(text: &str) -> bool {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|inside| inside.parse::<std::net::IpAddr>().is_ok())
}

fn is_quoted(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    let mut escaped = false;
    for c in inside.chars() {
        if !escaped && c == '"' || c.is_ascii_control() && c != '\t' {
            return false;
        }
        escaped = !escaped && c == '\\';
    }
    text.len() > 1 && !escaped && !inside.is_empty()
}

fn is_phrase(text: &str) -> bool {
    text.is_empty()
        || is_quoted(text)
        || text.split([' ', '\t']).all(|word| word.chars().all(|c| is_atom_letter(c) || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["a@b", "a.b+c@example.com", "A B <a@b.c>", "\"a b\"@c.d", "é@b"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "a@", "@b", "a b@c", "a@b@c", "a..b@c", "<a@b"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
