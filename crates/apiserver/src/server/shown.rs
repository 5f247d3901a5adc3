//! What a client is shown: objects, their columns or their metadata, as JSON or YAML.

use bytes::Bytes;
use serde_json::{Value, json};

use super::accept::{Encoding, Form, View};
use super::answer::{Content, Page};
use super::call::Call;
use super::objects;
use crate::error::ApiError;
use crate::registry::Resource;
use crate::request::query::Query;
use crate::store::{Document, Revision};

/// How an answer is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    form: Form,
    /// Whether it is indented.
    pretty: bool,
}

impl Shown {
    /// How the client of a resource wants to be shown what it asks for.
    pub(super) fn of(call: &Call) -> Result<Self, ApiError> {
        Self::parse(call.header("accept"), &call.query)
    }

    /// How it is asked for in a header and a query.
    pub(super) fn parse(accept: &str, query: &Query) -> Result<Self, ApiError> {
        Ok(Self { form: Form::parse(accept)?, pretty: query.flag("pretty") })
    }

    pub(super) fn content_type(&self) -> &'static str {
        match self.form.encoding {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
        }
    }

    /// Whether what is stored can be passed on as it is.
    fn is_plain(&self) -> bool {
        self.form.encoding == Encoding::Json && self.form.view == View::Objects && !self.pretty
    }

    /// The text of what is in an answer.
    pub(super) fn text(&self, content: Content) -> Bytes {
        match content {
            Content::ObjectText(_, text) if self.is_plain() => text,
            Content::List(resource, page) if self.is_plain() => list_text(&resource, &page).into(),
            Content::ObjectText(resource, text) => {
                let object = serde_json::from_slice(&text).unwrap_or_default();
                self.encode(&self.object(&resource, object))
            }
            Content::Object(resource, object) => self.encode(&self.object(&resource, object)),
            Content::List(resource, page) => self.encode(&self.list(&resource, &page)),
            Content::Json(value) => self.encode(&value),
            Content::Text(text) => text.into(),
            Content::Events(_) => Bytes::new(),
        }
    }

    /// The object of an event.
    pub(super) fn event(&mut self, resource: &Resource, object: &Document, revision: Revision) -> Bytes {
        if self.is_plain() {
            return objects::text(resource, object, revision, true);
        }
        let shown = self.object(resource, objects::load(resource, object, revision));
        Bytes::from(shown.to_string())
    }

    /// A bookmark.
    pub(super) fn bookmark(&self, bookmark: &Document) -> Bytes {
        match self.form.view {
            View::Objects => bookmark.text().clone(),
            View::Metadata | View::Table => Bytes::from(self.metadata(&bookmark.value()).to_string()),
        }
    }

    fn object(&self, resource: &Resource, object: Value) -> Value {
        let _ = resource;
        match self.form.view {
            View::Objects | View::Table => object,
            View::Metadata => self.metadata(&object),
        }
    }

    fn list(&self, resource: &Resource, page: &Page) -> Value {
        let read = |text: &Bytes| serde_json::from_slice(text).unwrap_or_default();
        let items = page.items.iter().map(read);
        match self.form.view {
            View::Objects | View::Table => json!({
                "apiVersion": resource.api_version(), "kind": resource.list_kind, "metadata": page.metadata,
                "items": items.collect::<Vec<Value>>(),
            }),
            View::Metadata => json!({
                "apiVersion": format!("meta.k8s.io/{}", self.form.meta_version),
                "kind": "PartialObjectMetadataList", "metadata": page.metadata,
                "items": items.map(|item| self.metadata(&item)).collect::<Vec<Value>>(),
            }),
        }
    }

    fn metadata(&self, object: &Value) -> Value {
        json!({
            "apiVersion": format!("meta.k8s.io/{}", self.form.meta_version), "kind": "PartialObjectMetadata",
            "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
        })
    }

    fn encode(&self, value: &Value) -> Bytes {
        match self.form.encoding {
            Encoding::Yaml => serde_yaml_ng::to_string(value).unwrap_or_default().into(),
            Encoding::Json if self.pretty => serde_json::to_string_pretty(value).unwrap_or_default().into(),
            Encoding::Json => value.to_string().into(),
        }
    }
}

fn list_text(resource: &Resource, page: &Page) -> Vec<u8> {
    let head = format!(
        r#"{{"apiVersion":"{}","kind":"{}","metadata":{},"items":["#,
        resource.api_version(),
        resource.list_kind,
        page.metadata
    );
    let size: usize = page.items.iter().map(|item| item.len() + 1).sum();
    let mut text = Vec::with_capacity(head.len() + size + 2);
    text.extend_from_slice(head.as_bytes());
    for (index, item) in page.items.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend_from_slice(item);
    }
    text.extend_from_slice(b"]}");
    text
}
