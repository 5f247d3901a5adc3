//! The format `uri`: what can be the target of a request, as Go's `net/url` reads it.

pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.chars().any(|c| c.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = scheme(text) else { return false };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        None => rest,
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            let (authority, path) = after.split_at(end);
            if !is_authority(authority) {
                return false;
            }
            path
        }
    };
    has_valid_escapes(path)
}

/// The scheme, which may be empty, and the rest; nothing if there is a colon without a scheme.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (index, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' => return if index == 0 { None } else { Some((text.get(..index)?, text.get(index + 1..)?)) },
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", authority),
    };
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.chars().all(is_user) && has_valid_escapes(user) && is_host(host)
}

fn is_host(host: &str) -> bool {
    let is_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.chars().all(|c| c.is_ascii_digit()))
    };
    if let Some(after) = host.strip_prefix('[') {
        return after.rsplit_once(']').is_some_and(|(_, port)| is_port(port));
    }
    let (name, port) = host.rfind(':').map_or((host, ""), |at| host.split_at(at));
    let is_letter =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(c);
    is_port(port) && name.chars().all(is_letter) && has_host_escapes(name)
}

/// In hosts only bytes beyond ASCII may be escaped.
fn has_host_escapes(text: &str) -> bool {
    has_valid_escapes(text)
        && text.split('%').skip(1).all(|after| {
            after.starts_with(['8', '9', 'a', 'b', 'c', 'd', 'e', 'f', 'A', 'B', 'C', 'D', 'E', 'F'])
        })
}

fn has_valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| after.chars().take(2).filter(char::is_ascii_hexdigit).count() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for good in ["http://a.b:80/c?d=%", "/a", "mailto:x", "http://[::1]:8/", "http://u:p@h/%20", "a.b:c"]
        {
            assert!(is_request_uri(good), "{good}");
        }
        for bad in ["", "a", "http://a b/", "http://a:x/", "/%zz", ":a", "http://h\u{7f}"] {
            assert!(!is_request_uri(bad), "{bad}");
        }
    }
}
