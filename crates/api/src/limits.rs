//! Every bound and pattern of the API, each with its reason. The schema and the validation in Rust both read
//! them here.
//!
//! Bounds also keep the CEL rules affordable: the API server estimates the cost of a rule from the largest
//! value the schema admits.

/// Longest name of a `ReplicatedCluster`, so that `<cluster>-<pool>-<ordinal>` stays below
/// [`MEMBER_NAME_MAX`]: 30 + 1 + 15 + 1 + 3 = 50.
pub const CLUSTER_NAME_MAX: u32 = 30;
/// A DNS label that starts with a letter: Services are named after the cluster.
pub const CLUSTER_NAME_PATTERN: &str = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
/// Longest name of a `Member`: a StatefulSet with a longer one never gets a Pod, because its revision label
/// would pass 63 characters.
pub const MEMBER_NAME_MAX: u32 = 52;
/// A DNS label: it becomes the host name of a Pod.
pub const MEMBER_NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// Longest name of a pool.
pub const POOL_NAME_MAX: u32 = 15;
/// No dash, so that `<cluster>-<pool>-<ordinal>` reads one way only.
pub const POOL_NAME_PATTERN: &str = "^[a-z0-9]{1,15}$";
/// The ordinal at the end of a pool member's name: 0 to 9999, without leading zeros.
pub const ORDINAL_PATTERN: &str = "^(0|[1-9][0-9]{0,3})$";
/// Longest name of a `ReplicationEngine`: it becomes a label value.
pub const ENGINE_NAME_MAX: u32 = 63;
/// A DNS label.
pub const ENGINE_NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// Most members of one cluster, over all its pools; lists of names in status hold as many.
pub const MAX_MEMBERS: i32 = 512;
/// Most pools of one cluster.
pub const MAX_POOLS: u32 = 64;
/// Where a pool that is sized by free storage and has no `maxNodes` stops growing.
pub const DEFAULT_MAX_NODES: i32 = 32;
/// Most drivers of one cluster or engine.
pub const MAX_DRIVERS: u32 = 16;
/// Most replicas of one driver.
pub const MAX_DRIVER_REPLICAS: i32 = 512;
/// Most storage entries of one `Member`.
pub const MAX_STORAGE: u32 = 32;
/// Most tags of one storage entry.
pub const MAX_TAGS: u32 = 16;
/// Most replication targets of one cluster.
pub const MAX_TARGETS: u32 = 16;
/// Most addresses of one replication target.
pub const MAX_ADDRESSES: u32 = 16;
/// Most tolerations of one pool or member.
pub const MAX_TOLERATIONS: u32 = 32;
/// Most parameters of one cluster or engine.
pub const MAX_PARAMETERS: u32 = 256;
/// Longest value of one parameter.
pub const PARAMETER_VALUE_MAX: u32 = 1024;
/// Longest name of one parameter.
pub const PARAMETER_NAME_MAX: u32 = 63;
/// It becomes a file name and may become part of an environment variable's name.
pub const PARAMETER_NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_.-]{0,62}$";
/// Most annotations that a client Service may be given.
pub const MAX_ANNOTATIONS: u32 = 64;
/// Longest value of one annotation.
pub const ANNOTATION_VALUE_MAX: u32 = 4096;
/// Most entries in the requests, or in the limits, of one container.
pub const MAX_RESOURCES: u32 = 16;

/// Longest DNS label.
pub const DNS_LABEL_MAX: u32 = 63;
/// A DNS label.
pub const DNS_LABEL_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// Longest DNS subdomain: the name of a Secret, a ConfigMap, a claim, a storage class.
pub const DNS_SUBDOMAIN_MAX: u32 = 253;
/// A DNS subdomain.
pub const DNS_SUBDOMAIN_PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// Longest label value.
pub const LABEL_VALUE_MAX: u32 = 63;
/// A label value that is not empty.
pub const LABEL_VALUE_PATTERN: &str = "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";
/// Longest label key: a prefix of 253, a slash and 63.
pub const LABEL_KEY_MAX: u32 = 317;
/// Longest `host[:port]`.
pub const ADDRESS_MAX: u32 = 260;
/// `host[:port]`: a name, an IPv4 address, or an IPv6 address in brackets; a port from 1 to 65535.
pub const ADDRESS_PATTERN: &str = concat!(
    r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)",
    r"(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?$"
);
/// Longest path of a file or device.
pub const PATH_MAX: u32 = 255;
/// An absolute path without blanks, and without `..` being needed.
pub const PATH_PATTERN: &str = r"^/[A-Za-z0-9._/+:@=-]*$";
/// Longest file name.
pub const FILE_NAME_MAX: u32 = 253;
/// Longest version of an engine's software.
pub const VERSION_MAX: u32 = 63;
/// A version is a label value.
pub const VERSION_PATTERN: &str = LABEL_VALUE_PATTERN;
/// Longest image reference.
pub const IMAGE_MAX: u32 = 512;
/// Longest hash that `Member.spec.workload` carries.
pub const HASH_MAX: u32 = 64;
/// A hash in lower-case hexadecimal digits.
pub const HASH_PATTERN: &str = "^[0-9a-f]{1,64}$";
/// Longest quantity.
pub const QUANTITY_MAX: u32 = 32;
/// A quantity as Kubernetes writes it. Exponents have at most two digits: the API server's own comparison
/// expands the power, so a long exponent would be an attack on it.
pub const QUANTITY_PATTERN: &str =
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$";
/// The same without a minus sign: what a container asks for.
pub const UNSIGNED_QUANTITY_PATTERN: &str =
    r"^[+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$";

/// Most versions of one engine.
pub const MAX_VERSIONS: u32 = 32;
/// Most ports of one engine or container.
pub const MAX_PORTS: u32 = 16;
/// Highest TCP or UDP port.
pub const PORT_MAX: i32 = 65_535;
/// Most containers of one template.
pub const MAX_CONTAINERS: u32 = 8;
/// Most volumes of one template, and mounts of one container.
pub const MAX_VOLUMES: u32 = 32;
/// Most environment variables of one container.
pub const MAX_ENV: u32 = 64;
/// Longest value of one environment variable.
pub const ENV_VALUE_MAX: u32 = 4096;
/// The name of an environment variable.
pub const ENV_NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
/// Longest name of an environment variable.
pub const ENV_NAME_MAX: u32 = 128;
/// Most words of one command, or of its arguments.
pub const MAX_COMMAND: u32 = 64;
/// Longest word of a command: enough for a small inline script.
pub const COMMAND_WORD_MAX: u32 = 4096;
/// Most files of one engine: with [`FILE_MAX`] about a third of what an object may hold.
pub const MAX_FILES: u32 = 32;
/// Largest file of an engine, in characters.
pub const FILE_MAX: u32 = 16_384;
/// Most Secrets that one engine generates.
pub const MAX_SECRETS: u32 = 16;
/// Most keys of one generated Secret.
pub const MAX_SECRET_KEYS: u32 = 16;
/// Longest key of a Secret or ConfigMap.
pub const KEY_MAX: u32 = 253;
/// A key of a Secret or ConfigMap, and the name of a file.
pub const KEY_PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";
/// Shortest generated secret, in characters: 16 of 62 are more than 95 bits.
pub const SECRET_LENGTH_MIN: i32 = 16;
/// Longest generated secret, in characters.
pub const SECRET_LENGTH_MAX: i32 = 128;
/// Longest default or pattern of a parameter.
pub const PATTERN_MAX: u32 = 256;
/// Longest timeout, a week in seconds: `leave` may have to move all data.
pub const TIMEOUT_MAX: i32 = 604_800;
/// How long a running member may show no progress before it counts as failed, unless its engine says otherwise.
pub const STALL_TIMEOUT_DEFAULT: i32 = 1800;
/// Most capabilities that one container adds or drops.
pub const MAX_CAPABILITIES: u32 = 32;
/// Most terms, expressions or values in one selector.
pub const MAX_SELECTOR: u32 = 32;

/// Highest count in status: what its type can carry. The API server checks `int32` by itself, but says it in words that
/// nobody understands.
pub const COUNT_MAX: i32 = i32::MAX;
/// Longest name in a status list; names of objects, so longer than [`MEMBER_NAME_MAX`] is never written.
pub const STATUS_NAME_MAX: u32 = 253;
/// Longest one-word value in status: a phase, a reason, a role.
pub const WORD_MAX: u32 = 128;
/// Longest message in status.
pub const MESSAGE_MAX: u32 = 4096;
/// Most conditions of one object.
pub const MAX_CONDITIONS: u32 = 32;
/// Most attributes of one failure domain.
pub const MAX_ATTRIBUTES: u32 = 16;
/// Most devices in a Member's status.
pub const MAX_DEVICES: u32 = 128;
/// Longest `history` or `position`: what the engine prints is cut there.
pub const POSITION_MAX: u32 = 1024;
/// Longest term, `<epoch>.<n>+<id>`: two numbers of at most 19 digits, and a member's number of at most 10.
pub const TERM_MAX: u32 = 50;
/// A term: `<epoch>.<n>`, or `<epoch>.<n>+<id>` where the member of that number became primary without a command.
pub const TERM_PATTERN: &str = r"^([0-9]{1,19}\.[0-9]{1,19}(\+[0-9]{1,10})?)?$";
/// Longest digest of a recovery.
pub const DIGEST_MAX: u32 = 128;
/// Longest id of a request.
pub const REQUEST_ID_MAX: u32 = 63;
/// A time as Muster writes it, in UTC. Stricter than `date-time`, which lets through offsets that do not exist.
pub const TIME_PATTERN: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$";
/// Highest user or group id.
pub const ID_MAX: i64 = 2_147_483_647;
/// A path within a volume: no leading slash.
pub const RELATIVE_PATH_PATTERN: &str = r"^[A-Za-z0-9._+:@=-][A-Za-z0-9._/+:@=-]*$";
/// How long a generated secret is unless the engine says otherwise.
pub const SECRET_LENGTH_DEFAULT: i32 = 32;
