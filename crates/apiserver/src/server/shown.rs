//! What a client is shown: objects, their columns or their metadata, as JSON or YAML.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::accept::{Encoding, Form, Offer, View};
use super::answer::{Content, Page};
use super::call::Call;
use super::list_body::ListBody;
use super::objects;
use crate::error::{ApiError, Reason};
use crate::go;
use crate::registry::Resource;
use crate::request::query::Query;
use crate::store::{Document, Revision};
use crate::table::{self, Include, Style};

/// How an answer is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    form: Form,
    /// Whether it is indented.
    pretty: bool,
    /// What of its object is in a row of a table.
    include: Include,
    /// The time of the request, by both clocks: tables tell ages.
    asked: Option<(Timestamp, Instant)>,
    /// Whether the columns of a table were told: in a watch they are told once.
    told: bool,
}

impl Shown {
    /// How the client of a resource wants to be shown what it asks for.
    pub(super) fn of(call: &Call, verb: &str, now: Timestamp) -> Result<Self, ApiError> {
        if !call.resource.kind.is_custom() {
            let offer = if matches!(verb, "list" | "watch") { Offer::Watched } else { Offer::Objects };
            offer.check(call.header("accept"))?;
        }
        let shown = Self::parse(call.header("accept"), &call.query)?;
        let is_table = shown.form.view == View::Table;
        let include =
            if is_table { Include::parse(call.query.get("includeObject"))? } else { Include::default() };
        Ok(Self { include, asked: Some((now, Instant::now())), ..shown })
    }

    /// How it is asked for in a header and a query.
    pub(super) fn parse(accept: &str, query: &Query) -> Result<Self, ApiError> {
        Ok(Self { form: Form::parse(accept)?, pretty: query.pretty(), ..Self::default() })
    }

    pub(super) fn content_type(&self) -> &'static str {
        match self.form.encoding {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
        }
    }

    /// Whether what is stored can be passed on as it is.
    pub(super) fn is_plain(&self) -> bool {
        self.form.encoding == Encoding::Json && self.form.view == View::Objects && !self.pretty
    }

    /// The text of what is in an answer.
    pub(super) fn text(&self, content: Content) -> Bytes {
        match content {
            Content::ObjectText(_, text) if self.is_plain() => text,
            Content::ObjectText(resource, text) => {
                let object = serde_json::from_slice(&text).unwrap_or_default();
                self.encode(&self.object(&resource, object))
            }
            Content::Object(resource, object) => self.encode(&self.object(&resource, object)),
            Content::Scale(resource, scale) => self.encode(&self.scale(&resource, scale)),
            Content::List(resource, page) => self.encode(&self.list(&resource, &page)),
            Content::Json(value) => self.encode(&value),
            Content::Text(text) => text.into(),
            Content::Events(_) | Content::Log(_) => Bytes::new(),
        }
    }

    /// The object of an event.
    pub(super) fn event(&mut self, resource: &Resource, object: &Document, revision: Revision) -> Bytes {
        if self.is_plain() {
            return objects::text(resource, object, revision, true);
        }
        let shown = self.object(resource, objects::load(resource, object, revision));
        self.told = true;
        Bytes::from(go::json(&shown))
    }

    /// A bookmark.
    pub(super) fn bookmark(&mut self, resource: &Resource, bookmark: &Document) -> Bytes {
        if self.form.view == View::Objects {
            return bookmark.text().clone();
        }
        let shown = self.object(resource, bookmark.value());
        self.told = true;
        Bytes::from(go::json(&shown))
    }

    fn object(&self, resource: &Resource, object: Value) -> Value {
        match self.form.view {
            View::Objects => object,
            View::Table => table::of_one(&*table::printer(resource), &object, self.style()),
            View::Metadata | View::MetadataList => table::partial(&object, &self.form.meta_version),
        }
    }

    fn scale(&self, resource: &Resource, scale: Value) -> Value {
        if self.form.view == View::Table {
            return table::of_one(&*table::scale_printer(resource), &scale, self.style());
        }
        self.object(resource, scale)
    }

    /// Whether the client asked for metadata in the form that suits what it gets.
    pub(super) fn suits(&self, content: &Content) -> Result<(), ApiError> {
        let refuse = |why: String| Err(ApiError::new(Reason::NotAcceptable, why));
        match (self.form.view, content) {
            (View::Metadata, Content::List(resource, _)) => {
                let asked = "you requested PartialObjectMetadata, but the requested object is a list";
                refuse(format!("{asked} ({})", go_type(resource, "UnstructuredList", &resource.list_kind)))
            }
            (View::MetadataList, Content::Object(resource, _) | Content::ObjectText(resource, _)) => {
                if resource.kind.is_custom() {
                    return Err(ApiError::new(Reason::Unknown, "content is not a list"));
                }
                let asked = "you requested PartialObjectMetadataList, but the requested object is not a list";
                refuse(format!("{asked} ({})", go_type(resource, "Unstructured", &resource.kind_name)))
            }
            (View::MetadataList, Content::Scale(resource, _)) => {
                let asked = "you requested PartialObjectMetadataList, but the requested object is not a list";
                let inside = if resource.kind.is_custom() { "v1" } else { "autoscaling" };
                refuse(format!("{asked} (*{inside}.Scale)"))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, resource: &Resource, page: &Page) -> Value {
        let read = |text: &Bytes| serde_json::from_slice(text).unwrap_or_default();
        let mut items: Vec<Value> = page.items.iter().map(read).collect();
        let mut metadata = page.metadata.clone();
        // Only lists of custom resources as they are say that nothing is left.
        if metadata.get("continue").is_some_and(|token| token == "")
            && self.form.view != View::Objects
            && let Some(fields) = metadata.as_object_mut()
        {
            fields.remove("continue");
        }
        match self.form.view {
            View::Objects => json!({
                "apiVersion": resource.api_version(), "kind": resource.list_kind, "metadata": metadata,
                "items": items,
            }),
            View::Table => {
                for item in &mut items {
                    objects::set_type(resource, item);
                }
                table::table(&*table::printer(resource), &items, &metadata, self.style())
            }
            View::Metadata | View::MetadataList => {
                table::partial_list(&items, &metadata, &self.form.meta_version)
            }
        }
    }

    fn style(&self) -> Style<'_> {
        let now = self.asked.map_or_else(Timestamp::now, |(time, since)| {
            let passed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::ZERO);
            time.checked_add(passed).unwrap_or(time)
        });
        Style { version: &self.form.meta_version, include: self.include, headers: !self.told, now }
    }

    fn encode(&self, value: &Value) -> Bytes {
        match self.form.encoding {
            Encoding::Yaml => serde_yaml_ng::to_string(value).unwrap_or_default().into(),
            Encoding::Json if self.pretty => serde_json::to_string_pretty(value).unwrap_or_default().into(),
            Encoding::Json => go::json(value).into(),
        }
    }
}

/// The type that the real server holds objects in.
fn go_type(resource: &Resource, custom: &str, built_in: &str) -> String {
    if resource.kind.is_custom() {
        return format!("*unstructured.{custom}");
    }
    let group = resource.id.split(['/', '.']).next().filter(|group| !group.is_empty()).unwrap_or("core");
    format!("*{group}.{built_in}")
}

/// A list as it is, its objects unread.
pub(super) fn list_body(resource: &Resource, page: Page) -> ListBody {
    let head = format!(
        r#"{{"apiVersion":"{}","kind":"{}","metadata":{},"items":["#,
        resource.api_version(),
        resource.list_kind,
        page.metadata
    );
    ListBody::new(head.into(), page.items)
}
