//! What Muster tells an action: the `MUSTER_…` environment.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Where the ledger listens, for clients and for followers.
pub const PORT: u16 = 7100;
/// How long a client waits at most, unless the parameter says otherwise.
const APPEND_TIMEOUT: Duration = Duration::from_secs(10);

/// What is wrong with the environment.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct Unusable {
    name: &'static str,
    problem: String,
}

/// Who must have an entry before it is acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Electorate {
    /// The volumes whose copies count. Not the members: one that lost its disk has its name, and none of what was counted by it.
    pub voters: BTreeSet<String>,
    /// How many of them must have it.
    pub copies: usize,
}

/// What an action is told.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The volume of this member, by which its copies are counted.
    pub volume: String,
    /// Where its data is.
    pub data: PathBuf,
    /// Where it listens.
    pub address: String,
    /// Where the primaries listen.
    pub primaries: Vec<String>,
    /// The term it is started for, in Muster's words.
    pub term: String,
    /// Who counts.
    pub electorate: Electorate,
    /// How long a client waits for enough copies.
    pub append_timeout: Duration,
}

impl Surroundings {
    /// From the environment of this process.
    pub fn read() -> Result<Self, Unusable> {
        Self::from(|name| std::env::var(name).ok())
    }

    /// The directory of the data, which is all that an action on a stopped member needs.
    pub fn data() -> Result<PathBuf, Unusable> {
        wanted(|name| std::env::var(name).ok(), "MUSTER_DATA").map(PathBuf::from)
    }

    fn from(variable: impl Fn(&str) -> Option<String> + Copy) -> Result<Self, Unusable> {
        let list = |name| words(&variable(name).unwrap_or_default());
        let host = wanted(variable, "MUSTER_ADDRESS")?;
        let parameters = variable("MUSTER_PARAMETERS").map(PathBuf::from);
        let voters: BTreeSet<String> = list("MUSTER_VOTER_VOLUMES").into_iter().collect();
        let copies = match variable("MUSTER_COPIES") {
            Some(text) => parsed("MUSTER_COPIES", &text)?,
            None => voters.len() / 2 + 1,
        };
        Ok(Self {
            volume: wanted(variable, "MUSTER_VOLUME_ID")?,
            data: wanted(variable, "MUSTER_DATA")?.into(),
            address: with_port(&host),
            primaries: list("MUSTER_PRIMARIES").iter().map(|host| with_port(host)).collect(),
            term: variable("MUSTER_TERM").unwrap_or_default(),
            electorate: Electorate { voters, copies },
            append_timeout: append_timeout(parameters)?,
        })
    }
}

fn wanted(variable: impl Fn(&str) -> Option<String>, name: &'static str) -> Result<String, Unusable> {
    let missing = || Unusable { name, problem: "it is not set; this is run by muster-agent".into() };
    variable(name).filter(|value| !value.is_empty()).ok_or_else(missing)
}

fn parsed<T: std::str::FromStr>(name: &'static str, text: &str) -> Result<T, Unusable> {
    text.trim().parse().map_err(|_| Unusable { name, problem: format!("{text:?} is not a number") })
}

fn append_timeout(parameters: Option<PathBuf>) -> Result<Duration, Unusable> {
    const NAME: &str = "append_timeout_seconds";
    let Some(file) = parameters.map(|directory| directory.join(NAME)).filter(|file| file.exists()) else {
        return Ok(APPEND_TIMEOUT);
    };
    let problem = |error: std::io::Error| Unusable { name: NAME, problem: error.to_string() };
    let text = std::fs::read_to_string(file).map_err(problem)?;
    parsed(NAME, &text).map(Duration::from_secs)
}

fn words(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// An address with a port, the ledger's own where it has none.
pub fn with_port(host: &str) -> String {
    let bare = host.parse::<std::net::IpAddr>();
    match bare {
        Ok(address) => std::net::SocketAddr::new(address, PORT).to_string(),
        Err(_) if host.contains(':') => host.to_owned(),
        Err(_) => format!("{host}:{PORT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Surroundings, Unusable> {
        Surroundings::from(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
        })
    }

    const NEEDED: [(&str, &str); 3] =
        [("MUSTER_VOLUME_ID", "v-0"), ("MUSTER_DATA", "/data"), ("MUSTER_ADDRESS", "127.0.0.2")];

    #[test]
    fn addresses_get_the_port() {
        let told =
            from(&[&NEEDED[..], &[("MUSTER_PRIMARIES", "127.0.0.3, ::1,host,host:9")]].concat()).unwrap();
        assert_eq!(told.address, "127.0.0.2:7100");
        assert_eq!(told.primaries, ["127.0.0.3:7100", "[::1]:7100", "host:7100", "host:9"]);
    }

    #[test]
    fn a_majority_of_the_voters_unless_told_otherwise() {
        let told = from(&[&NEEDED[..], &[("MUSTER_VOTER_VOLUMES", "v-0,v-1,v-2")]].concat()).unwrap();
        assert_eq!((told.electorate.voters.len(), told.electorate.copies), (3, 2));
        let told = from(&[&NEEDED[..], &[("MUSTER_VOTER_VOLUMES", "v-0"), ("MUSTER_COPIES", "1")]].concat())
            .unwrap();
        assert_eq!(told.electorate.copies, 1);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert_eq!(
            from(&NEEDED[1..]).unwrap_err().to_string(),
            "MUSTER_VOLUME_ID: it is not set; this is run by muster-agent"
        );
        let wrong = from(&[&NEEDED[..], &[("MUSTER_COPIES", "two")]].concat()).unwrap_err();
        assert_eq!(wrong.to_string(), "MUSTER_COPIES: \"two\" is not a number");
    }
}
