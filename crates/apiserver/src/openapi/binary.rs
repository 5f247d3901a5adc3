//! The description in version 2 as protobuf, which is how `kubectl` asks for it when it meets a kind that it does not know.
//!
//! The messages and the numbers of their fields are those of gnostic's `openapi.v2.Document`, which everyone uses who speaks
//! this form. Written is what our description has; what it never says has no line here.

use serde_json::Value;

use super::message::{Message, any};

/// The media type of answers; clients ask for it by this name and by the one before.
pub const MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The name that it had at first, which is none: no media type has an `@` in it.
pub const OLD_MEDIA_TYPE: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// A document of version 2 in these bytes.
pub fn binary(document: &Value) -> Vec<u8> {
    let mut message = Message::default();
    message.text(1, &document["swagger"]);
    message.inside(2, |info| {
        info.text(1, &document["info"]["title"]);
        info.text(2, &document["info"]["version"]);
    });
    message.inside(8, |paths| paths.named(2, &document["paths"], path_item));
    message.inside(9, |all| all.named(1, &document["definitions"], schema));
    message.each(12, &document["security"], |need, value| {
        need.named(1, value, |scopes, value| scopes.texts(1, value));
    });
    message.inside(13, |all| all.named(1, &document["securityDefinitions"], security));
    message.into_bytes()
}

/// One way to say who one is: here always by a key.
fn security(message: &mut Message, value: &Value) {
    message.inside(2, |key| {
        key.text(1, &value["type"]);
        key.text(2, &value["name"]);
        key.text(3, &value["in"]);
        key.text(4, &value["description"]);
    });
}

fn path_item(message: &mut Message, value: &Value) {
    for (field, method) in [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (8, "patch")] {
        message.given(field, &value[method], operation);
    }
    message.each(9, &value["parameters"], parameter);
    message.extensions(10, value);
}

fn operation(message: &mut Message, value: &Value) {
    message.texts(1, &value["tags"]);
    message.text(3, &value["description"]);
    message.text(5, &value["operationId"]);
    message.texts(6, &value["produces"]);
    message.texts(7, &value["consumes"]);
    message.each(8, &value["parameters"], parameter);
    message.inside(9, |all| all.named(1, &value["responses"], response));
    message.texts(10, &value["schemes"]);
    message.extensions(13, value);
}

/// What is sent with a request; the message says where before it says what.
fn parameter(message: &mut Message, value: &Value) {
    message.inside(1, |parameter| match value["in"].as_str() {
        Some("body") => parameter.inside(1, |body| {
            body.text(1, &value["description"]);
            body.text(2, &value["name"]);
            body.text(3, &value["in"]);
            body.flag(4, &value["required"]);
            body.given(5, &value["schema"], schema);
        }),
        Some("path") => parameter.inside(2, |other| other.inside(4, |path| simple(path, value, 0))),
        // Of the fields of a parameter of the query one more stands in the middle.
        _ => parameter.inside(2, |other| other.inside(3, |query| simple(query, value, 1))),
    });
}

/// A parameter of the path or of the query: a simple value.
fn simple(message: &mut Message, value: &Value, more: u32) {
    message.flag(1, &value["required"]);
    message.text(2, &value["in"]);
    message.text(3, &value["description"]);
    message.text(4, &value["name"]);
    message.text(5 + more, &value["type"]);
    message.text(6 + more, &value["format"]);
    message.flag(19 + more, &value["uniqueItems"]);
}

fn response(message: &mut Message, value: &Value) {
    message.inside(1, |response| {
        response.text(1, &value["description"]);
        response.given(2, &value["schema"], |item, value| item.given(1, value, schema));
    });
}

fn schema(message: &mut Message, value: &Value) {
    message.text(1, &value["$ref"]);
    message.text(2, &value["format"]);
    message.text(3, &value["title"]);
    message.text(4, &value["description"]);
    message.given(5, &value["default"], any);
    message.float(6, &value["multipleOf"]);
    message.float(7, &value["maximum"]);
    message.flag(8, &value["exclusiveMaximum"]);
    message.float(9, &value["minimum"]);
    message.flag(10, &value["exclusiveMinimum"]);
    message.integer(11, &value["maxLength"]);
    message.integer(12, &value["minLength"]);
    message.text(13, &value["pattern"]);
    message.integer(14, &value["maxItems"]);
    message.integer(15, &value["minItems"]);
    message.flag(16, &value["uniqueItems"]);
    message.integer(17, &value["maxProperties"]);
    message.integer(18, &value["minProperties"]);
    message.texts(19, &value["required"]);
    message.each(20, &value["enum"], any);
    message.given(21, &value["additionalProperties"], |item, value| match value {
        Value::Bool(_) => item.flag(2, value),
        inner => item.given(1, inner, schema),
    });
    message.given(22, &value["type"], |item, value| item.texts(1, value));
    message.given(23, &value["items"], |item, value| item.given(1, value, schema));
    message.given(25, &value["properties"], |all, value| all.named(1, value, schema));
    message.extensions(31, value);
}
