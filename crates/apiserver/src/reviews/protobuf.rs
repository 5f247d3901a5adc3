//! Reviews in protobuf, the one form in which kubectl asks who it is and what it may do. Nothing else is read in it.

use serde_json::{Map, Value, json};

/// The content type of such a body.
pub const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// What every such body begins with.
const MAGIC: &[u8] = b"k8s\0";
/// A varint has no more than this many bytes.
const MAX_VARINT_BYTES: usize = 10;

/// What is read of a message: its fields by their numbers. All others are passed over.
type Shape = &'static [(u64, &'static str, Field)];

/// What a field holds.
#[derive(Clone, Copy)]
enum Field {
    Text,
    Texts,
    Message(Shape),
}

use Field::{Message, Text, Texts};

const ENVELOPE_TYPE: u64 = 1;
const ENVELOPE_CONTENT: u64 = 2;
const TYPE: Shape = &[(1, "apiVersion", Text), (2, "kind", Text)];
const RESOURCE: Shape = &[
    (1, "namespace", Text),
    (2, "verb", Text),
    (3, "group", Text),
    (4, "version", Text),
    (5, "resource", Text),
    (6, "subresource", Text),
    (7, "name", Text),
];
const OTHER: Shape = &[(1, "path", Text), (2, "verb", Text)];
const ACCESS: Shape = &[
    (1, "resourceAttributes", Message(RESOURCE)),
    (2, "nonResourceAttributes", Message(OTHER)),
    (3, "user", Text),
    (4, "groups", Texts),
    (6, "uid", Text),
];
const METADATA: Shape = &[(1, "name", Text), (3, "namespace", Text)];

/// What a review of this kind holds that is read.
fn shape(kind: &str) -> Option<Shape> {
    const ABOUT_ACCESS: Shape = &[(1, "metadata", Message(METADATA)), (2, "spec", Message(ACCESS))];
    const ABOUT_RULES: Shape =
        &[(1, "metadata", Message(METADATA)), (2, "spec", Message(&[(1, "namespace", Text)]))];
    const ABOUT_TOKENS: Shape = &[
        (1, "metadata", Message(METADATA)),
        (2, "spec", Message(&[(1, "token", Text), (2, "audiences", Texts)])),
    ];
    match kind {
        "SelfSubjectReview" => Some(&[(1, "metadata", Message(METADATA))]),
        "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview" => Some(ABOUT_ACCESS),
        "SelfSubjectRulesReview" => Some(ABOUT_RULES),
        "TokenReview" => Some(ABOUT_TOKENS),
        _ => None,
    }
}

/// The review as JSON; nothing if it is none, or broken.
pub fn read(body: &[u8]) -> Option<Value> {
    let envelope = body.strip_prefix(MAGIC)?;
    let (mut review, mut content) = (Map::new(), &[][..]);
    let mut rest = envelope;
    while !rest.is_empty() {
        let (number, value) = next(&mut rest)?;
        match number {
            ENVELOPE_TYPE => review = message(value, TYPE)?,
            ENVELOPE_CONTENT => content = value,
            _ => {}
        }
    }
    let kind = review.get("kind").and_then(Value::as_str)?;
    let content = message(content, shape(kind)?)?;
    review.extend(content);
    Some(Value::Object(review))
}

/// A message as an object. An empty text is one that was not set, a message without fields is one that was.
fn message(mut bytes: &[u8], shape: Shape) -> Option<Map<String, Value>> {
    let mut object = Map::new();
    while !bytes.is_empty() {
        let (number, value) = next(&mut bytes)?;
        let Some((_, name, field)) = shape.iter().find(|(known, ..)| *known == number) else { continue };
        let text = || Some(Value::from(std::str::from_utf8(value).ok()?));
        match field {
            Text if value.is_empty() => {}
            Text => drop(object.insert((*name).to_owned(), text()?)),
            Texts => {
                let texts = object.entry(*name).or_insert_with(|| json!([]));
                texts.as_array_mut()?.push(text()?);
            }
            Message(shape) => drop(object.insert((*name).to_owned(), message(value, shape)?.into())),
        }
    }
    Some(object)
}

/// The next field: its number, and its bytes where it has some.
fn next<'a>(bytes: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => {
            varint(bytes)?;
            &[]
        }
        1 => take(bytes, 8)?,
        2 => {
            let length = varint(bytes)?;
            take(bytes, usize::try_from(length).ok()?)?
        }
        5 => take(bytes, 4)?,
        _ => return None,
    };
    Some((key >> 3, value))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..MAX_VARINT_BYTES {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(7 * at).ok()?)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        let length = u8::try_from(value.len()).unwrap();
        [&[number << 3 | 2, length], value].concat()
    }

    fn review(kind: &str, content: &[u8]) -> Vec<u8> {
        let of = [field(1, b"authorization.k8s.io/v1"), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &of), field(2, content), field(3, b""), field(4, b"")].concat()
    }

    #[test]
    fn a_question_is_read_as_if_it_were_json() {
        let resource = [field(1, b""), field(2, b"create"), field(5, b"pods")].concat();
        let content = [field(1, b""), field(2, &field(1, &resource)), field(3, &[8, 0])].concat();
        let expected = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {},
            "spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}},
        });
        assert_eq!(read(&review("SelfSubjectAccessReview", &content)), Some(expected));
    }

    #[test]
    fn lists_are_read_item_by_item() {
        let spec = [field(3, b"bob"), field(4, b"a"), field(4, b"b")].concat();
        let read = read(&review("SubjectAccessReview", &field(2, &spec))).unwrap();
        assert_eq!(read["spec"], json!({"user": "bob", "groups": ["a", "b"]}));
    }

    #[test]
    fn what_is_no_review_or_cut_off_is_not_read() {
        let whole = review("SelfSubjectReview", &field(1, b""));
        assert!(read(&whole).is_some());
        assert_eq!(read(&review("Pod", b"")), None);
        assert_eq!(read(&whole[1..]), None);
        // Its last two fields say nothing, and may be missing.
        for length in (0..whole.len() - 4).filter(|length| *length != whole.len() - 8) {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
        assert_eq!(read(&[MAGIC, &[0xff; 20]].concat()), None);
    }
}
