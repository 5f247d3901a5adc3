//! In which form the client wants its answer.

use crate::error::{ApiError, Reason};
use crate::protobuf;

/// What is written.
pub(super) const ACCEPTED: &str = "application/json, application/yaml";

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Yaml,
}

/// What of the objects is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// All of them.
    Objects,
    /// Their columns.
    Table,
    /// Their metadata, of an object.
    Metadata,
    /// Their metadata, of a list.
    MetadataList,
}

/// In which form the client wants its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) encoding: Encoding,
    pub(super) view: View,
    /// The version of `meta.k8s.io` that tables and metadata are in.
    pub(super) meta_version: String,
}

impl Default for Form {
    fn default() -> Self {
        Self { encoding: Encoding::Json, view: View::Objects, meta_version: "v1".to_owned() }
    }
}

impl Form {
    /// The first form of an `Accept` header that is served.
    pub(super) fn parse(accept: &str) -> Result<Self, ApiError> {
        if accept.trim().is_empty() {
            return Ok(Self::default());
        }
        clauses(accept).iter().find_map(Clause::form).ok_or_else(|| {
            let message = format!("only the following media types are accepted: {ACCEPTED}");
            ApiError::new(Reason::NotAcceptable, message)
        })
    }
}

/// The media types of an `Accept` header, the most wanted first; anything at all where there is none.
pub(super) fn wanted(accept: &str) -> Vec<&str> {
    if accept.trim().is_empty() {
        return vec!["*/*"];
    }
    clauses(accept).into_iter().map(|clause| clause.media_type).collect()
}

/// The forms of an `Accept` header, the most wanted first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut wanted: Vec<(f32, Clause<'_>)> =
        accept.split(',').map(Clause::parse).map(|clause| (clause.quality(), clause)).collect();
    wanted.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    wanted.into_iter().map(|(_, clause)| clause).collect()
}

/// What a route of the real server offers, which knows no wildcards but the one for everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// JSON and nothing else: the version.
    Json,
    /// Objects of a built-in kind, and which resources there are.
    Objects,
    /// The same, of what can be watched as well.
    Watched,
}

impl Offer {
    /// Before the forms of an `Accept` header are looked at more closely, one must be named as it is offered.
    pub(super) fn check(self, accept: &str) -> Result<(), ApiError> {
        let is_offered = |text: &str| match Clause::parse(text).media_type {
            "*/*" | "application/json" => true,
            "application/yaml" | protobuf::MEDIA_TYPE => self != Self::Json,
            _ => false,
        };
        if accept.is_empty() || accept.split(',').any(is_offered) {
            return Ok(());
        }
        let offered = match self {
            Self::Json => "application/json",
            Self::Objects => ACCEPTED,
            Self::Watched => "application/json, application/yaml, application/json;stream=watch",
        };
        let message = format!("406: Not Acceptable\n\nAvailable representations: {offered}");
        Err(ApiError { subject: Some(Box::default()), ..ApiError::new(Reason::NotAcceptable, message) })
    }
}

/// One of the forms that a client takes.
struct Clause<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters =
            parts.filter_map(|part| part.split_once('=')).map(|(name, value)| (name.trim(), value.trim()));
        Self { media_type, parameters: parameters.collect() }
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn quality(&self) -> f32 {
        self.parameter("q").and_then(|text| text.parse().ok()).unwrap_or(1.0)
    }

    fn form(&self) -> Option<Form> {
        let encoding = match self.media_type {
            "application/json" | "application/*" | "*/*" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return None,
        };
        let view = match self.parameter("as") {
            None => View::Objects,
            _ if self.parameter("g") != Some("meta.k8s.io") => return None,
            Some("Table") => View::Table,
            Some("PartialObjectMetadata") => View::Metadata,
            Some("PartialObjectMetadataList") => View::MetadataList,
            Some(_) => return None,
        };
        let meta_version = self.parameter("v").unwrap_or("v1");
        if view != View::Objects && !matches!(meta_version, "v1" | "v1beta1") {
            return None;
        }
        Some(Form { encoding, view, meta_version: meta_version.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(accept: &str) -> Option<(Encoding, View, String)> {
        Form::parse(accept).ok().map(|form| (form.encoding, form.view, form.meta_version))
    }

    fn is(encoding: Encoding, view: View) -> Option<(Encoding, View, String)> {
        (encoding, view, "v1".to_owned()).into()
    }

    #[test]
    fn the_first_form_that_is_served_is_taken() {
        assert_eq!(form(""), is(Encoding::Json, View::Objects));
        assert_eq!(form("*/*"), is(Encoding::Json, View::Objects));
        assert_eq!(form("application/yaml"), is(Encoding::Yaml, View::Objects));
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(form(kubectl), is(Encoding::Json, View::Table));
        let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
            application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
        assert_eq!(form(metadata), is(Encoding::Json, View::MetadataList));
        assert_eq!(form("application/json;q=0.2, application/yaml"), is(Encoding::Yaml, View::Objects));
    }

    #[test]
    fn routes_know_no_wildcards() {
        for fine in [
            "",
            "*/*",
            "text/html, application/json;q=0.5",
            "application/json;as=Table",
            protobuf::MEDIA_TYPE,
        ] {
            assert_eq!(Offer::Objects.check(fine), Ok(()), "{fine}");
        }
        let refused = Offer::Watched.check("application/*").unwrap_err();
        assert!(refused.message.ends_with("application/yaml, application/json;stream=watch"), "{refused}");
        assert!(Offer::Json.check("application/yaml").is_err());
    }

    #[test]
    fn what_is_not_served_is_refused() {
        assert_eq!(form("application/vnd.kubernetes.protobuf"), None);
        assert_eq!(form("text/html"), None);
        assert_eq!(form("application/json;as=Table;g=other;v=v1"), None);
    }
}
