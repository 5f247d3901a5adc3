//! Who asks: the administrator, who has the token, or whom the administrator asks to be taken for.

use std::collections::BTreeMap;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::token::Token;
use crate::error::ApiError;
use crate::server::User;

const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const IMPERSONATE: &str = "impersonate-";
const IMPERSONATE_EXTRA: &str = "impersonate-extra-";

/// The user whom the administrator asks to be taken for (`kubectl --as`), or the administrator.
pub(super) fn acting(headers: &HeaderMap) -> Result<User, ApiError> {
    if !headers.keys().any(|name| name.as_str().starts_with(IMPERSONATE)) {
        return Ok(User::administrator());
    }
    let all = |name: &str| -> Vec<String> { headers.get_all(name).iter().map(text).collect() };
    let first = |name: &str| headers.get(name).map(text).unwrap_or_default();
    let mut user = User {
        name: first("impersonate-user"),
        uid: first("impersonate-uid"),
        groups: all("impersonate-group"),
        extra: BTreeMap::new(),
    };
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix(IMPERSONATE_EXTRA) {
            user.extra.entry(unescape(key)).or_default().push(text(value));
        }
    }
    if user.name.is_empty() {
        let message = format!("requested {} without impersonating a user name", in_go(&user));
        return Err(ApiError::bad_request(message));
    }
    complete_groups(&mut user);
    Ok(user)
}

/// Adds the groups that everybody is in, and those of a service account.
fn complete_groups(user: &mut User) {
    if user.groups.is_empty()
        && let Some((namespace, _)) =
            user.name.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'))
    {
        user.groups =
            vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let anonymous = user.name == ANONYMOUS || user.groups.iter().any(|group| group == UNAUTHENTICATED);
    let everybody = if anonymous { UNAUTHENTICATED } else { AUTHENTICATED };
    if !user.groups.iter().any(|group| group == everybody) {
        user.groups.push(everybody.to_owned());
    }
}

/// As kube-apiserver prints it in an error.
fn in_go(user: &User) -> String {
    let list = |values: &[String]| {
        let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        format!("[]string{{{}}}", quoted.join(", "))
    };
    let groups = if user.groups.is_empty() { "[]string(nil)".to_owned() } else { list(&user.groups) };
    let extra: Vec<String> =
        user.extra.iter().map(|(key, values)| format!("{key:?}:{}", list(values))).collect();
    let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
    let (name, uid) = (&user.name, &user.uid);
    format!(
        "&user.DefaultInfo{{Name:{name:?}, UID:{uid:?}, Groups:{groups}, Extra:map[string][]string{extra}}}"
    )
}

/// Whether the request shows the token. The scheme's name may be in any case, as everywhere in HTTP.
pub(super) fn shows_token(headers: &HeaderMap, token: &Token) -> bool {
    let Some(value) = headers.get(AUTHORIZATION) else { return false };
    let mut words = value.as_bytes().trim_ascii().splitn(3, |byte| *byte == b' ');
    let bearer = words.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer"));
    bearer && words.next().is_some_and(|word| token.is(word))
}

fn text(value: &http::HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The key of `Impersonate-Extra-…` may hold what a header's name may not, written with percent signs.
fn unescape(key: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), key.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ if *first == b'%' => return key.to_owned(),
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut all = HeaderMap::new();
        for (name, value) in pairs {
            all.append(*name, value.parse().unwrap());
        }
        all
    }

    #[test]
    fn the_token_is_shown_as_a_bearer_and_not_otherwise() {
        let token = Token::random().unwrap();
        let shows = |value: &str| shows_token(&headers(&[("authorization", value)]), &token);
        let word = token.word();
        assert!(shows(&format!("Bearer {word}")) && shows(&format!("bearer {word}")));
        assert!(!shows(word) && !shows(&format!("Basic {word}")) && !shows("Bearer") && !shows("Bearer "));
        assert!(!shows(&format!("Bearer  {word}")), "an empty word between two spaces is the token");
        assert!(!shows_token(&HeaderMap::new(), &token));
    }

    #[test]
    fn without_impersonation_it_is_the_administrator() {
        let user = acting(&headers(&[("accept", "*/*")])).unwrap();
        assert_eq!(user, User::administrator());
    }

    #[test]
    fn the_administrator_may_be_taken_for_somebody_else() {
        let user = acting(&headers(&[
            ("impersonate-user", "bob"),
            ("impersonate-group", "a"),
            ("impersonate-group", "system:masters"),
            ("impersonate-uid", "17"),
            ("impersonate-extra-some%2fthing", "z"),
        ]))
        .unwrap();
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("bob", "17"));
        assert_eq!(user.groups, ["a", "system:masters", AUTHENTICATED]);
        assert_eq!(user.extra["some/thing"], ["z"]);
    }

    #[test]
    fn a_service_account_is_in_its_groups_and_nobody_in_none() {
        let groups = |name: &str| acting(&headers(&[("impersonate-user", name)])).unwrap().groups;
        let expected = ["system:serviceaccounts", "system:serviceaccounts:shop", AUTHENTICATED];
        assert_eq!(groups("system:serviceaccount:shop:till"), expected);
        assert_eq!(groups(ANONYMOUS), [UNAUTHENTICATED]);
    }

    #[test]
    fn a_group_needs_a_name() {
        let error = acting(&headers(&[("impersonate-group", "x")])).unwrap_err();
        let expected = "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"x\"}, \
            Extra:map[string][]string(nil)} without impersonating a user name";
        assert_eq!(error.message, expected);
    }

    #[test]
    fn keys_are_unescaped_where_they_can_be() {
        assert_eq!(unescape("a%2fb"), "a/b");
        assert_eq!(unescape("a%zz"), "a%zz");
        assert_eq!(unescape("a%2"), "a%2");
    }
}
