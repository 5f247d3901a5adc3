//! The API description of version 2 as protobuf: read here by the numbers of gnostic's messages, ours and the real one alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Request;
use http_body_util::BodyExt;
use muster_apiserver::kind::built_in::catalogue;
use muster_apiserver::openapi;
use muster_apiserver::registry::Resource;
use serde_json::{Value, json};

use crate::server;

/// The fields of a message that hold bytes, by their numbers; others are passed over.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<&[u8]>> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut all = 0;
        for place in 0.. {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            all |= u64::from(first & 0x7f) << (7 * place);
            if *first < 0x80 {
                break;
            }
        }
        all
    }
    let mut found: BTreeMap<u64, Vec<&[u8]>> = BTreeMap::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes);
        match tag & 7 {
            0 => drop(number(&mut bytes)),
            1 => bytes = &bytes[8..],
            2 => {
                let length = usize::try_from(number(&mut bytes)).unwrap();
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                found.entry(tag >> 3).or_default().push(content);
            }
            other => panic!("nothing here is written as {other}"),
        }
    }
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The pairs of a name and what it names.
fn named(pairs: &[&[u8]]) -> BTreeMap<String, Vec<u8>> {
    let pair = |bytes: &&[u8]| {
        let fields = fields(bytes);
        (text(fields[&1][0]), fields.get(&2).map(|value| value[0].to_vec()).unwrap_or_default())
    };
    pairs.iter().map(pair).collect()
}

/// What is told here of a schema: what it is and what is in it.
fn schema(bytes: &[u8]) -> Value {
    let fields = fields(bytes);
    let one = |number: u64| fields.get(&number).map(|all| all[0]);
    let inner =
        |number: u64| one(number).and_then(|item| self::fields(item).get(&1).map(|all| schema(all[0])));
    let texts = |all: Option<&Vec<&[u8]>>| all.into_iter().flatten().map(|one| text(one)).collect::<Vec<_>>();
    let properties = one(25).and_then(|all| self::fields(all).get(&1).map(|pairs| named(pairs)));
    let properties: BTreeMap<String, Value> =
        properties.into_iter().flatten().map(|(name, bytes)| (name, schema(&bytes))).collect();
    let any = |bytes: &[u8]| serde_yaml_ng::from_str::<Value>(&text(self::fields(bytes)[&2][0])).unwrap();
    let mut extensions: BTreeMap<String, Value> = named(fields.get(&31).map_or(&[], Vec::as_slice))
        .iter()
        .map(|(name, bytes)| (name.clone(), any(bytes)))
        .collect();
    // Which kinds there are of it is told by the real server also of those that are not promised here.
    extensions.remove("x-kubernetes-group-version-kind");
    let mut required = texts(fields.get(&19));
    required.sort();
    json!({
        "$ref": one(1).map(text), "format": one(2).map(text), "description": one(4).map(text),
        "required": required, "type": one(22).map(|item| texts(self::fields(item).get(&1))),
        "items": inner(23), "additionalProperties": inner(21), "properties": properties, "extensions": extensions,
    })
}

/// The definitions of a document.
fn definitions(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    named(&fields(fields(bytes)[&9][0])[&1])
}

/// Takes the descriptions of a schema and of its fields away.
fn silence(schema: &mut Value) {
    schema["description"] = Value::Null;
    schema["properties"].as_object_mut().into_iter().flat_map(|all| all.values_mut()).for_each(silence);
}

async fn real() -> Vec<u8> {
    let client = server::client().await;
    let request = Request::get("/openapi/v2").header("accept", openapi::BINARY);
    let answer = client.send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.headers()["content-type"], openapi::BINARY);
    answer.into_body().collect().await.unwrap().to_bytes().to_vec()
}

#[tokio::test]
async fn the_binary_description_has_the_same_definitions() {
    let served: Vec<Arc<Resource>> = catalogue::resources().into_iter().map(Arc::new).collect();
    let document = openapi::v2(&served);
    let (ours, real) = (definitions(&openapi::binary(&document)), definitions(&real().await));
    assert_eq!(ours.len(), document["definitions"].as_object().unwrap().len());
    for (name, bytes) in &ours {
        let (mut ours, mut real) = (schema(bytes), schema(&real[name]));
        // Lists are all described in the same words here.
        if name.ends_with("List") {
            silence(&mut ours);
            silence(&mut real);
        }
        assert_eq!(ours, real, "{name}");
    }
}

#[tokio::test]
async fn the_binary_description_has_the_same_paths() {
    let served: Vec<Arc<Resource>> = catalogue::resources().into_iter().map(Arc::new).collect();
    let bytes = openapi::binary(&openapi::v2(&served));
    let real = real().await;
    let paths = |bytes: &[u8]| named(&fields(fields(bytes)[&8][0])[&2]);
    let (ours, real) = (paths(&bytes), paths(&real));
    assert!(ours.len() > 100);
    for (path, item) in &ours {
        let (item, other) = (fields(item), fields(&real[path]));
        for method in [2, 3, 4, 5, 8] {
            let named = |operation: &&[u8]| text(fields(operation)[&5][0]);
            let operation = |item: &BTreeMap<u64, Vec<&[u8]>>| item.get(&method).map(|all| named(&all[0]));
            if item.contains_key(&method) {
                assert_eq!(operation(&item), operation(&other), "{path}");
            }
        }
    }
}
