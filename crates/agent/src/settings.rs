//! What the agent is told by the environment of its container (docs/decisions/0009).
//!
//! Beside what a Pod says there are two variables for other places: `MUSTER_AGENT_LISTEN` and `MUSTER_PROBE_LISTEN`, each `address:port`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use muster_protocol::{AGENT_PORT, PROBE_PORT};
use serde::Deserialize;

/// Why the environment is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A variable is not there.
    #[error(
        "{0} is not set; the agent runs in a Pod that the operator made, or where its environment is given by hand"
    )]
    Missing(&'static str),
    /// A variable makes no sense.
    #[error("{name} is {value:?}: {why}")]
    Senseless {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What the agent is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cluster.
    pub cluster: String,
    /// The member.
    pub member: String,
    /// Their namespace.
    pub namespace: String,
    /// The Pod; none on a host of its own.
    pub pod_uid: Option<String>,
    /// Where the application's data is.
    pub data: PathBuf,
    /// The root of the volume, beside which the agent keeps its own.
    pub volume: PathBuf,
    /// Where the engine's description is.
    pub config: PathBuf,
    /// Where the agent's certificate is.
    pub tls: PathBuf,
    /// The storage of the member.
    pub storage: Vec<Storage>,
    /// Where the operator reaches it.
    pub listen: SocketAddr,
    /// Where probes reach it.
    pub probes: SocketAddr,
    /// The agent's own program, by which children are started.
    pub program: PathBuf,
    /// Whether every child of this process is the agent's: so it is where the agent is a program of its own.
    pub alone: bool,
}

/// One entry of the member's storage.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Storage {
    /// The device or claim, as the Member names it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// For the engine.
    #[serde(default)]
    pub tags: Vec<String>,
}

impl Settings {
    /// From variables, and the agent's own program.
    pub fn read(
        variable: impl Fn(&'static str) -> Option<String>,
        program: PathBuf,
    ) -> Result<Self, SettingsError> {
        let needed =
            |name| variable(name).filter(|text| !text.is_empty()).ok_or(SettingsError::Missing(name));
        let directory = |name| needed(name).map(PathBuf::from);
        let address = match variable("MUSTER_ADDRESS").filter(|text| !text.is_empty()) {
            Some(text) => parse("MUSTER_ADDRESS", text)?,
            None => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        };
        let listener = |name, port| match variable(name).filter(|text| !text.is_empty()) {
            Some(text) => parse(name, text),
            None => Ok(SocketAddr::new(address, port)),
        };
        let storage = match variable("MUSTER_STORAGE").filter(|text| !text.is_empty()) {
            Some(text) => serde_json::from_str(&text).map_err(|error| SettingsError::Senseless {
                name: "MUSTER_STORAGE",
                value: text,
                why: error.to_string(),
            })?,
            None => Vec::new(),
        };
        Ok(Self {
            cluster: needed("MUSTER_CLUSTER")?,
            member: needed("MUSTER_MEMBER")?,
            namespace: needed("MUSTER_NAMESPACE")?,
            pod_uid: variable("MUSTER_POD_UID").filter(|text| !text.is_empty()),
            data: directory("MUSTER_DATA")?,
            volume: directory("MUSTER_VOLUME")?,
            config: directory("MUSTER_CONFIG")?,
            tls: directory("MUSTER_TLS")?,
            storage,
            listen: listener("MUSTER_AGENT_LISTEN", AGENT_PORT)?,
            probes: listener("MUSTER_PROBE_LISTEN", PROBE_PORT)?,
            program,
            alone: true,
        })
    }
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &'static str,
    value: String,
) -> Result<T, SettingsError> {
    value.parse().map_err(|error: T::Err| SettingsError::Senseless { name, why: error.to_string(), value })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of_a_pod() -> BTreeMap<&'static str, &'static str> {
        BTreeMap::from([
            ("MUSTER_CLUSTER", "orders"),
            ("MUSTER_MEMBER", "orders-a-0"),
            ("MUSTER_NAMESPACE", "shop"),
            ("MUSTER_POD_UID", "u"),
            ("MUSTER_ADDRESS", "10.0.0.7"),
            ("MUSTER_DATA", "/var/lib/x"),
            ("MUSTER_VOLUME", "/muster/volume"),
            ("MUSTER_CONFIG", "/muster/config"),
            ("MUSTER_TLS", "/muster/tls"),
            ("MUSTER_STORAGE", r#"[{"name":"data-orders-a-0","path":"/muster/volume"}]"#),
        ])
    }

    fn read(variables: &BTreeMap<&'static str, &'static str>) -> Result<Settings, SettingsError> {
        Settings::read(|name| variables.get(name).map(|text| (*text).to_owned()), "/muster-agent".into())
    }

    #[test]
    fn a_pod_says_it_all() {
        let settings = read(&of_a_pod()).unwrap();
        assert_eq!(settings.listen, "10.0.0.7:7443".parse().unwrap());
        assert_eq!(settings.probes, "10.0.0.7:7080".parse().unwrap());
        assert_eq!(settings.storage[0].name, "data-orders-a-0");
    }

    #[test]
    fn elsewhere_other_listeners_can_be_named() {
        let mut variables = of_a_pod();
        variables.insert("MUSTER_AGENT_LISTEN", "127.0.0.1:0");
        variables.remove("MUSTER_ADDRESS");
        let settings = read(&variables).unwrap();
        assert_eq!(settings.listen, "127.0.0.1:0".parse().unwrap());
        assert_eq!(settings.probes, "0.0.0.0:7080".parse().unwrap());
    }

    #[test]
    fn what_is_missing_or_senseless_is_named() {
        for name in ["MUSTER_CLUSTER", "MUSTER_MEMBER", "MUSTER_NAMESPACE", "MUSTER_DATA", "MUSTER_TLS"] {
            let mut variables = of_a_pod();
            variables.remove(name);
            assert!(read(&variables).unwrap_err().to_string().starts_with(name));
        }
        for name in ["MUSTER_ADDRESS", "MUSTER_AGENT_LISTEN", "MUSTER_STORAGE"] {
            let mut variables = of_a_pod();
            variables.insert(name, "nonsense");
            assert!(read(&variables).unwrap_err().to_string().starts_with(name));
        }
    }
}
