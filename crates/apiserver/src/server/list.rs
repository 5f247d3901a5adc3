//! Lists: which objects, as of when, and how many at a time.

use std::sync::Arc;

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Server;
use super::answer::{Answer, Content, Page};
use super::call::Call;
use super::objects;
use super::options::invalid_options;
use crate::error::{ApiError, Cause, Reason};
use crate::request::selector::{Fields, Labels};
use crate::schema::{FieldError, Path};
use crate::store::{Entry, Key, Revision, Snapshot};
use crate::watch::Selection;

/// The version of continue tokens: that of Kubernetes.
const TOKEN_VERSION: &str = "meta.k8s.io/v1";

/// Where a list goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Token {
    #[serde(rename = "v")]
    version: String,
    /// The revision of the first page; -1: whatever is there now.
    #[serde(rename = "rv")]
    revision: i64,
    /// The first key that has not been listed: `namespace/name`.
    start: String,
}

/// How a list is asked for.
struct ListOptions {
    selection: Selection,
    limit: usize,
    token: Option<Token>,
    /// Exactly as of this revision.
    exactly: Option<Revision>,
}

impl Server {
    /// `list`: the objects of a collection. `past`: a revision to answer from instead of the present.
    pub(super) fn list_objects(&self, call: &Call, past: Option<Revision>) -> Result<Answer, ApiError> {
        let options = self.list_options(call)?;
        let snapshot = self.snapshot(call, &options, past)?;
        let (page, _) = page(call, &options, snapshot);
        Ok(Answer::ok(Content::List(call.resource.clone(), page)))
    }

    /// The objects of a collection that are selected, with their keys.
    pub(super) fn selected(&self, call: &Call) -> Result<(Page, Vec<Entry>), ApiError> {
        let options = self.list_options(call)?;
        let snapshot = self.snapshot(call, &options, None)?;
        Ok(page(call, &options, snapshot))
    }

    fn list_options(&self, call: &Call) -> Result<ListOptions, ApiError> {
        let selection = selection(call)?;
        let limit = number(call, "limit")?.unwrap_or(0);
        let version = call.query.get("resourceVersion");
        let matching = call.query.get("resourceVersionMatch");
        check_match(call)?;
        let token = call.query.get("continue").map(parse_token).transpose()?;
        // Any version will do: then the real server answers from its cache, whole.
        let whole = version == Some("0") && token.is_none();
        let limit = if whole { 0 } else { limit };
        if token.is_some() && version.is_some_and(|version| version != "0") {
            return Err(ApiError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let asked = parse_version(version)
            .map_err(|why| ApiError::bad_request(format!("invalid resource version: {why}")))?;
        if let Some(asked) = asked {
            at_least(asked, self.store().revision())?;
        }
        // With a limit, a version without a word on how to match it is meant exactly.
        let exact = match matching {
            Some(word) => word == "Exact",
            None => limit > 0,
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(ListOptions { selection, limit, token, exactly: asked.filter(|asked| exact && *asked > 0) })
    }

    fn snapshot(
        &self,
        call: &Call,
        options: &ListOptions,
        past: Option<Revision>,
    ) -> Result<Snapshot, ApiError> {
        let scope = call.scope();
        let continued = options.token.as_ref().and_then(|token| Revision::try_from(token.revision).ok());
        let Some(revision) = continued.or(options.exactly).or(past) else {
            return Ok(self.store().list(&scope));
        };
        self.store().list_at(&scope, revision).map_err(|_| match &options.token {
            Some(token) => expired_token(token),
            None => ApiError::expired("The resourceVersion for the provided list is too old."),
        })
    }
}

/// The page that was asked for, and the objects on it.
fn page(call: &Call, options: &ListOptions, snapshot: Snapshot) -> (Page, Vec<Entry>) {
    let start = options.token.as_ref().map(|token| token.start.clone()).unwrap_or_default();
    let selects = options.selection != Selection::default();
    let within = snapshot.objects.into_iter().filter(|(key, _)| start.is_empty() || place(key) >= start);
    let mut matching = within.filter(|(_, stored)| !selects || options.selection.matches(&stored.object));
    let count = if options.limit == 0 { usize::MAX } else { options.limit };
    let items: Vec<Entry> = matching.by_ref().take(count).collect();
    let rest: Vec<Arc<Key>> = matching.map(|(key, _)| key).collect();
    let mut metadata = json!({"resourceVersion": snapshot.revision.to_string()});
    if call.resource.kind.is_custom() {
        metadata["continue"] = "".into();
    }
    if let Some(next) = rest.first() {
        let revision = i64::try_from(snapshot.revision).unwrap_or(i64::MAX);
        let token = Token { version: TOKEN_VERSION.to_owned(), revision, start: place(next) };
        metadata["continue"] = write_token(&token).into();
        if !selects {
            metadata["remainingItemCount"] = rest.len().into();
        }
    }
    let typed = call.resource.lists_typed_items();
    let texts =
        items.iter().map(|(_, stored)| objects::text(&call.resource, &stored.object, stored.revision, typed));
    (Page { items: texts.collect(), metadata }, items)
}

/// The order of keys as one text.
fn place(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

/// The selectors of a request.
pub(super) fn selection(call: &Call) -> Result<Selection, ApiError> {
    let unclear = |error: crate::request::selector::SelectorError| ApiError::bad_request(error.to_string());
    let labels = Labels::parse(call.query.get("labelSelector").unwrap_or_default()).map_err(unclear)?;
    let fields = call.query.get("fieldSelector").unwrap_or_default();
    let fields = Fields::parse(fields, &call.resource.selectable).map_err(unclear)?;
    Ok(Selection { labels, fields })
}

/// A number in the query.
pub(super) fn number(call: &Call, name: &str) -> Result<Option<u64>, ApiError> {
    call.query.number(name).map_err(ApiError::bad_request)
}

/// A version in the query.
pub(super) fn parse_version(text: Option<&str>) -> Result<Option<Revision>, String> {
    let parse = |text: &str| {
        let why = "invalid syntax";
        let parsed = text.parse();
        parsed.map_err(|_| {
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}")
        })
    };
    text.map(parse).transpose()
}

/// A client may have seen what we have not yet; it is told to come back.
pub(super) fn at_least(asked: Revision, current: Revision) -> Result<(), ApiError> {
    if asked <= current {
        return Ok(());
    }
    let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
    let cause = Cause {
        reason: "ResourceVersionTooLarge".to_owned(),
        message: "Too large resource version".to_owned(),
        field: String::new(),
    };
    Err(ApiError { causes: vec![cause], retry_after: Some(1), ..ApiError::new(Reason::Timeout, message) })
}

/// Which words on matching a version go together, and what is for watches only.
fn check_match(call: &Call) -> Result<(), ApiError> {
    let (version, matching) = (call.query.get("resourceVersion"), call.query.get("resourceVersionMatch"));
    let path = Path::new("resourceVersionMatch");
    let mut errors = Vec::new();
    let mut forbid = |wrong: bool, path: &Path, why: &str| {
        errors.extend(wrong.then(|| FieldError::forbidden(path, why)));
    };
    if let Some(matching) = matching {
        let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        forbid(version.is_none(), &path, why);
        let continued = call.query.get("continue").is_some();
        forbid(continued, &path, "resourceVersionMatch is forbidden when continue is provided");
        if !matches!(matching, "Exact" | "NotOlderThan") {
            let allowed = ["Exact", "NotOlderThan", ""].map(str::to_owned);
            errors.push(FieldError::not_supported(&path, matching, &allowed));
        } else if matching == "Exact" && version == Some("0") {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(&path, why));
        }
    }
    if call.query.has("sendInitialEvents") {
        let path = Path::new("sendInitialEvents");
        errors.push(FieldError::forbidden(&path, "sendInitialEvents is forbidden for list"));
    }
    if errors.is_empty() { Ok(()) } else { Err(invalid_options("ListOptions", &errors)) }
}

fn write_token(token: &Token) -> String {
    URL_SAFE_NO_PAD.encode(json!(token).to_string())
}

fn parse_token(text: &str) -> Result<Token, ApiError> {
    let unclear = |why: String| {
        ApiError::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
    };
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => at,
            _ => text.len(),
        };
        unclear(format!("illegal base64 data at input byte {at}"))
    })?;
    let token: Token = serde_json::from_slice(&bytes).map_err(|_| {
        let first = bytes.first().map_or(' ', |byte| char::from(*byte));
        unclear(format!("invalid character '{}' looking for beginning of value", go_quoted(first)))
    })?;
    if token.version != TOKEN_VERSION {
        return Err(unclear(format!("server does not recognize this encoded version {}", token.version)));
    }
    if token.start.is_empty() {
        return Err(unclear(format!("encoded start key empty (version {TOKEN_VERSION})")));
    }
    Ok(token)
}

/// A character as Go quotes it.
fn go_quoted(character: char) -> String {
    if character.is_control() { format!("\\u{:04x}", u32::from(character)) } else { character.to_string() }
}

/// The page cannot be given as of the revision of the first one; the client may go on with what is there now.
fn expired_token(token: &Token) -> ApiError {
    let anew = Token { revision: -1, ..token.clone() };
    let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
        list without the continue parameter, or use the continue token in this response to retrieve the remainder of \
        the results. Continuing with the provided token results in an inconsistent list - objects that were created, \
        modified, or deleted between the time the first chunk was returned and now may show up in the list.";
    ApiError { continue_with: Some(write_token(&anew)), ..ApiError::expired(message) }
}
