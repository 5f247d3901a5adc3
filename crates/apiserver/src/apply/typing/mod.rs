//! What the fields of a kind are to those who share it: which lists and maps are owned item by item, and by which
//! keys, and which are owned as a whole.

mod empty;
mod metadata;
mod schema;

pub use empty::empty_object;
pub(crate) use schema::reference;

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::PathElement;
use super::literal::Literal;

/// The types of one kind in one version.
#[derive(Clone, Debug)]
pub struct Typing {
    root: TypeRef,
    named: BTreeMap<String, Type>,
}

/// A schema that cannot be turned into types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub(crate) String);

#[derive(Clone, Debug, PartialEq)]
enum TypeRef {
    Inline(Box<Type>),
    /// A definition, perhaps with its own word on whether it is owned as a whole.
    Named {
        name: String,
        atomic: Option<bool>,
    },
    /// Whatever the value is; objects field by field, lists as a whole.
    Deduced,
    /// Whatever the value is, as a whole.
    Whole,
}

/// What a value may be. More than one if the schema does not say.
#[derive(Clone, Debug, Default, PartialEq)]
struct Type {
    scalar: Option<Scalar>,
    list: Option<ListType>,
    map: Option<MapType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Numeric,
    Text,
    Boolean,
    Any,
}

#[derive(Clone, Debug, PartialEq)]
struct ListType {
    items: Items,
    element: TypeRef,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// The list is one value.
    Whole,
    /// Each value of the list is an item of its own.
    Set,
    /// Items are told apart by these fields.
    Keyed(Vec<String>),
}

#[derive(Clone, Debug, PartialEq)]
struct MapType {
    fields: BTreeMap<String, Field>,
    /// The type of fields without a name in the schema; none if there may be none.
    others: Option<TypeRef>,
    atomic: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    of: TypeRef,
    default: Option<Value>,
}

/// A type as it is met on the way through a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'t> {
    typing: &'t Typing,
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<ListView<'t>>,
    pub(crate) map: Option<MapView<'t>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ListView<'t> {
    typing: &'t Typing,
    pub(crate) items: &'t Items,
    element: &'t TypeRef,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MapView<'t> {
    typing: &'t Typing,
    of: MapOf<'t>,
    pub(crate) atomic: bool,
}

#[derive(Clone, Copy, Debug)]
enum MapOf<'t> {
    Declared(&'t MapType),
    Any(&'static TypeRef),
}

static DEDUCED: TypeRef = TypeRef::Deduced;
static WHOLE: TypeRef = TypeRef::Whole;
static WHOLE_ITEMS: Items = Items::Whole;

impl Typing {
    /// Types for a kind without a schema.
    pub fn deduced() -> Self {
        Self { root: TypeRef::Deduced, named: BTreeMap::new() }
    }

    pub(crate) fn view(&self) -> View<'_> {
        self.resolve(&self.root)
    }

    fn nothing(&self) -> View<'_> {
        View { typing: self, scalar: None, list: None, map: None }
    }

    fn anything(&self, others: &'static TypeRef) -> View<'_> {
        let atomic = *others == TypeRef::Whole;
        let list = ListView { typing: self, items: &WHOLE_ITEMS, element: &WHOLE };
        let map = MapView { typing: self, of: MapOf::Any(others), atomic };
        View { typing: self, scalar: Some(Scalar::Any), list: Some(list), map: Some(map) }
    }

    fn resolve<'t>(&'t self, of: &'t TypeRef) -> View<'t> {
        match of {
            TypeRef::Deduced => self.anything(&DEDUCED),
            TypeRef::Whole => self.anything(&WHOLE),
            TypeRef::Inline(inline) => self.open(inline),
            TypeRef::Named { name, atomic } => {
                let mut view = self.named.get(name).map_or_else(|| self.nothing(), |named| self.open(named));
                if let (Some(map), Some(atomic)) = (&mut view.map, atomic) {
                    map.atomic = *atomic;
                }
                view
            }
        }
    }

    fn open<'t>(&'t self, of: &'t Type) -> View<'t> {
        let list = of.list.as_ref();
        let map = of.map.as_ref();
        View {
            typing: self,
            scalar: of.scalar,
            list: list.map(|list| ListView { typing: self, items: &list.items, element: &list.element }),
            map: map.map(|map| MapView { typing: self, of: MapOf::Declared(map), atomic: map.atomic }),
        }
    }
}

/// The form in which a value is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'t> {
    Map(MapView<'t>),
    Scalar(Scalar),
    List(ListView<'t>),
}

impl<'t> View<'t> {
    /// The type narrowed to what the value is, if that is allowed.
    pub(crate) fn narrowed(self, value: Option<&Value>) -> Self {
        let none = self.typing.nothing();
        match value {
            Some(Value::Object(_)) if self.map.is_some() => Self { map: self.map, ..none },
            Some(Value::Array(_)) if self.list.is_some() => Self { list: self.list, ..none },
            Some(Value::String(_) | Value::Number(_) | Value::Bool(_)) if self.scalar.is_some() => {
                Self { scalar: self.scalar, ..none }
            }
            _ => self,
        }
    }

    /// Whether two narrowings of one type are the same.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let forms = |view: &Self| (view.scalar.is_some(), view.list.is_some(), view.map.is_some());
        forms(self) == forms(other)
    }

    /// The form to walk; none if the schema has no type for the value.
    pub(crate) fn form(self) -> Option<Form<'t>> {
        let map = self.map.map(Form::Map);
        map.or(self.scalar.map(Form::Scalar)).or(self.list.map(Form::List))
    }
}

impl<'t> MapView<'t> {
    /// The type of a field, whether the schema names it or not.
    pub(crate) fn field(&self, name: &str) -> View<'t> {
        let of = match self.of {
            MapOf::Any(others) => Some(others),
            MapOf::Declared(map) => map.fields.get(name).map(|field| &field.of).or(map.others.as_ref()),
        };
        of.map_or_else(|| self.typing.nothing(), |of| self.typing.resolve(of))
    }

    /// Whether the schema names this field.
    pub(crate) fn declares(&self, name: &str) -> bool {
        matches!(self.of, MapOf::Declared(map) if map.fields.contains_key(name))
    }

    /// Whether fields that the schema does not name may be there.
    pub(crate) fn open(&self) -> bool {
        !matches!(self.of, MapOf::Declared(MapType { others: None, .. }))
    }

    /// Whether the schema says nothing of the fields.
    pub(crate) fn is_unknown(&self) -> bool {
        match self.of {
            MapOf::Any(others) => *others == TypeRef::Deduced,
            MapOf::Declared(map) => {
                let untyped = |of: &TypeRef| match of {
                    TypeRef::Inline(of) => of.scalar == Some(Scalar::Any),
                    of => *of == TypeRef::Deduced,
                };
                map.fields.is_empty() && map.others.as_ref().is_some_and(untyped)
            }
        }
    }

    fn default_of(&self, name: &str) -> Option<&'t Value> {
        match self.of {
            MapOf::Any(_) => None,
            MapOf::Declared(map) => map.fields.get(name)?.default.as_ref(),
        }
    }
}

impl<'t> ListView<'t> {
    /// The type of the items.
    pub(crate) fn element(&self) -> View<'t> {
        self.typing.resolve(self.element)
    }

    /// Whether the list is one value.
    pub(crate) fn atomic(&self) -> bool {
        *self.items == Items::Whole
    }

    /// How an item is told from the others.
    pub(crate) fn identify(&self, item: &Value) -> Result<PathElement, String> {
        match self.items {
            Items::Whole => Err("invalid indexing of non-associative list".into()),
            Items::Set => set_item(item),
            Items::Keyed(keys) => self.keyed_item(keys, item),
        }
    }

    fn keyed_item(&self, keys: &[String], item: &Value) -> Result<PathElement, String> {
        let fields = match item {
            Value::Object(fields) => fields,
            Value::Null => return Err("associative list with keys may not have a null element".into()),
            _ => return Err("associative list with keys may not have non-map elements".into()),
        };
        let declared = self.element().map;
        let mut found = Vec::new();
        for key in keys {
            if let Some(value) = fields.get(key) {
                found.push((key.clone(), value.clone()));
            } else {
                let Some(map) = declared else {
                    let reason = "associative list may not have non-map types";
                    return Err(format!("couldn't find default value for {key}: {reason}"));
                };
                found.extend(map.default_of(key).map(|default| (key.clone(), default.clone())));
            }
        }
        if found.is_empty() {
            let keys: Vec<_> = keys.iter().map(|key| super::literal::quoted(key)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have \
                 default values for any key fields)",
                keys.join(" ")
            ));
        }
        Ok(PathElement::keyed(found))
    }
}

fn set_item(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".into()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".into()),
        value => Ok(PathElement::Value(Literal(value.clone()))),
    }
}

#[cfg(test)]
mod tests;
