//! The names that rules may use.

/// Functions of the language, and of the libraries that the server has, as far as the evaluator has them. Operators
/// have names that are no words.
const FUNCTIONS: [&str; 109] = [
    "add",
    "asApproximateFloat",
    "asInteger",
    "bool",
    "byte",
    "bytes",
    "charAt",
    "cidr",
    "compareTo",
    "contains",
    "containsCIDR",
    "containsIP",
    "date",
    "datetime",
    "distinct",
    "dns1035Label",
    "dns1035LabelPrefix",
    "dns1123Label",
    "dns1123LabelPrefix",
    "dns1123Subdomain",
    "dns1123SubdomainPrefix",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "equivalent",
    "family",
    "find",
    "findAll",
    "first",
    "flatten",
    "format",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getEscapedPath",
    "getFullYear",
    "getHost",
    "getHostname",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getPort",
    "getQuery",
    "getScheme",
    "getSeconds",
    "hasValue",
    "indexOf",
    "int",
    "intersects",
    "ip",
    "isCIDR",
    "isCanonical",
    "isGlobalUnicast",
    "isGreaterThan",
    "isIP",
    "isInteger",
    "isLessThan",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isLoopback",
    "isQuantity",
    "isSemver",
    "isSorted",
    "isURL",
    "isUnspecified",
    "join",
    "labelValue",
    "last",
    "lastIndexOf",
    "lowerAscii",
    "major",
    "masked",
    "matches",
    "max",
    "min",
    "minor",
    "named",
    "none",
    "of",
    "ofNonZeroValue",
    "or",
    "orValue",
    "patch",
    "prefixLength",
    "qualifiedName",
    "quantity",
    "range",
    "replace",
    "reverse",
    "semver",
    "sign",
    "size",
    "slice",
    "sort",
    "split",
    "startsWith",
    "string",
    "sub",
    "substring",
    "sum",
    "timestamp",
    "trim",
    "uint",
    "upperAscii",
    "url",
    "validate",
];
const MORE_FUNCTIONS: [&str; 5] = ["quote", "type", "uri", "uuid", "value"];

/// Types, as values.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// What may stand before the dot of a function's name.
const NAMESPACES: [&str; 6] = ["format", "ip", "lists", "optional", "sets", "strings"];

/// All functions that are no operators.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().chain(MORE_FUNCTIONS)
}

/// Whether there is a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    let is_operator = name.starts_with(|c: char| !c.is_ascii_alphabetic());
    is_operator || FUNCTIONS.contains(&name) || MORE_FUNCTIONS.contains(&name)
}

/// Whether the name is one of a type.
pub(super) fn is_type(name: &str) -> bool {
    TYPES.contains(&name)
}

/// Whether functions are grouped under this name.
pub(super) fn is_namespace(name: &str) -> bool {
    NAMESPACES.contains(&name)
}
