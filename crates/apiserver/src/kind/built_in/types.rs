//! The Go types behind the built-in kinds. The API description does not tell all that is needed to read an object as the
//! server does: which fields are pointers, and which are left out when they are empty.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The fields of every struct, in the form that `tools/kubernetes/fields` prints.
const TYPES: &str = include_str!("data/types.json");

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text {
        name: String,
    },
    Integer {
        name: String,
        is_wide: bool,
    },
    Float,
    Bool,
    Bytes,
    Pointer(Box<Type>),
    List {
        name: String,
        item: Box<Type>,
    },
    Map {
        name: String,
        value: Box<Type>,
    },
    /// A struct, by the name of its definition.
    Struct(String),
    /// What reads itself.
    Special(Special),
}

/// Types that read themselves from JSON in a way of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Time,
    MicroTime,
    Quantity,
    /// The amount of a resource: coarser than other quantities.
    Resource,
    IntOrString,
    /// Any JSON.
    Raw,
    SchemaOrList,
    SchemaOrBool,
    SchemaOrTexts,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// How many fields are before it.
    pub(crate) place: usize,
    pub(crate) of: Type,
    /// Whether it is left out when it is empty.
    pub(crate) omit_empty: bool,
    /// Whether it is left out when it is what it is without being set.
    pub(crate) omit_zero: bool,
    /// The embedded structs that it is a field of, which messages name.
    pub(crate) embedded: Vec<String>,
}

/// The fields of a struct by their names.
pub(crate) type Struct = BTreeMap<String, Field>;

/// The struct of a definition.
pub(crate) fn struct_of(definition: &str) -> Option<&'static Struct> {
    named_struct_of(definition).map(|(_, of)| of)
}

/// The same, with its name in Go.
pub(crate) fn named_struct_of(definition: &str) -> Option<(&'static str, &'static Struct)> {
    static ALL: LazyLock<BTreeMap<String, Struct>> = LazyLock::new(|| {
        let read: BTreeMap<String, Vec<Vec<String>>> = serde_json::from_str(TYPES).unwrap_or_default();
        let structs = read.into_iter().map(|(name, fields)| {
            let fields = fields.iter().enumerate();
            (name, fields.filter_map(|(place, words)| Field::read(place, words)).collect())
        });
        structs.collect()
    });
    ALL.get_key_value(definition).map(|(name, of)| (short_name(name), of))
}

/// The definition of a kind.
pub(crate) fn definition(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    match group.split('.').next() {
        None | Some("") => format!("io.k8s.api.core.{version}.{kind}"),
        Some("apiextensions") => {
            format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}.{kind}")
        }
        Some(first) => format!("io.k8s.api.{first}.{version}.{kind}"),
    }
}

/// A struct's name in Go: the last part of its definition's.
pub(crate) fn short_name(definition: &str) -> &str {
    definition.rsplit('.').next().unwrap_or(definition)
}

impl Field {
    /// Whether it is left out when it is not given, whatever else there is.
    pub(crate) fn is_left_out(&self) -> bool {
        self.omit_zero || self.omit_empty && !matches!(self.of, Type::Struct(_) | Type::Special(_))
    }

    /// Its name, its type, and the embedded structs that it is a field of.
    fn read(place: usize, words: &[String]) -> Option<(String, Self)> {
        let [name, text, embedded @ ..] = words else { return None };
        let of = text.trim_start_matches(['?', '0']);
        let flags = &text[..text.len() - of.len()];
        let field = Self {
            place,
            of: Type::read(of),
            omit_empty: flags.contains('?'),
            omit_zero: flags.contains('0'),
            embedded: embedded.to_vec(),
        };
        Some((name.clone(), field))
    }
}

impl Type {
    fn read(text: &str) -> Self {
        let (name, text) = match text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((name, rest)) => (name, rest),
            None => ("", text),
        };
        let named = |usual: String| if name.is_empty() { usual } else { name.to_owned() };
        if text == "[]uint8" {
            Self::Bytes
        } else if let Some(rest) = text.strip_prefix('*') {
            Self::Pointer(Box::new(Self::read(rest)))
        } else if let Some(rest) = text.strip_prefix("[]") {
            let item = Self::read(rest);
            Self::List { name: named(format!("[]{}", item.name())), item: Box::new(item) }
        } else if let Some((key, rest)) = text.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            let value = Self::read(rest);
            Self::Map { name: named(format!("map[{key}]{}", value.name())), value: Box::new(value) }
        } else {
            Self::simple(text)
        }
    }

    fn simple(text: &str) -> Self {
        let (kind, name) = text.split_once(':').unwrap_or((text, text));
        match kind {
            "string" => Self::Text { name: name.to_owned() },
            "int32" | "int64" => Self::Integer { name: name.to_owned(), is_wide: kind == "int64" },
            "float64" => Self::Float,
            "bool" => Self::Bool,
            _ => match short_name(kind) {
                "Time" => Self::Special(Special::Time),
                "MicroTime" => Self::Special(Special::MicroTime),
                "Quantity" => Self::Special(Special::Quantity),
                "IntOrString" => Self::Special(Special::IntOrString),
                "RawExtension" | "JSON" | "FieldsV1" => Self::Special(Special::Raw),
                "JSONSchemaPropsOrArray" => Self::Special(Special::SchemaOrList),
                "JSONSchemaPropsOrBool" => Self::Special(Special::SchemaOrBool),
                "JSONSchemaPropsOrStringArray" => Self::Special(Special::SchemaOrTexts),
                _ => Self::Struct(kind.to_owned()),
            },
        }
    }

    /// The type as Go prints it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Text { name }
            | Self::Integer { name, .. }
            | Self::List { name, .. }
            | Self::Map { name, .. } => name.clone(),
            Self::Float => "float64".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Bytes => "[]uint8".to_owned(),
            Self::Pointer(of) => format!("*{}", of.name()),
            Self::Struct(definition) => {
                let mut parts = definition.rsplit('.');
                let (kind, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                format!("{package}.{kind}")
            }
            Self::Special(special) => special.name().to_owned(),
        }
    }
}

impl Special {
    fn name(self) -> &'static str {
        match self {
            Self::Time => "v1.Time",
            Self::MicroTime => "v1.MicroTime",
            Self::Quantity | Self::Resource => "resource.Quantity",
            Self::IntOrString => "intstr.IntOrString",
            Self::Raw => "v1.JSON",
            Self::SchemaOrList => "v1.JSONSchemaPropsOrArray",
            Self::SchemaOrBool => "v1.JSONSchemaPropsOrBool",
            Self::SchemaOrTexts => "v1.JSONSchemaPropsOrStringArray",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(definition: &str, name: &str) -> &'static Field {
        &struct_of(definition).unwrap()[name]
    }

    #[test]
    fn fields_have_their_types() {
        let replicas = field("io.k8s.api.apps.v1.DeploymentSpec", "replicas");
        assert!(replicas.omit_empty && matches!(&replicas.of, Type::Pointer(of) if of.name() == "int32"));
        assert_eq!(field("io.k8s.api.core.v1.PodSpec", "containers").of.name(), "[]v1.Container");
        assert!(!field("io.k8s.api.core.v1.PodSpec", "containers").omit_empty);
        assert_eq!(field("io.k8s.api.core.v1.ResourceRequirements", "limits").of.name(), "v1.ResourceList");
        assert_eq!(field("io.k8s.api.core.v1.PodSpec", "restartPolicy").of.name(), "v1.RestartPolicy");
        assert_eq!(field("io.k8s.api.core.v1.Secret", "data").of.name(), "map[string][]uint8");
        assert!(field("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "creationTimestamp").omit_zero);
    }

    #[test]
    fn every_struct_that_is_named_is_there() {
        fn inner(of: &Type) -> &Type {
            match of {
                Type::Pointer(of) | Type::List { item: of, .. } | Type::Map { value: of, .. } => inner(of),
                other => other,
            }
        }
        let all: BTreeMap<String, Vec<Vec<String>>> = serde_json::from_str(TYPES).unwrap();
        for (name, fields) in &all {
            for words in fields {
                let (field, of) = Field::read(0, words).unwrap();
                if let Type::Struct(of) = inner(&of.of) {
                    assert!(all.contains_key(of), "{name}.{field}: {of}");
                }
            }
        }
    }
}
