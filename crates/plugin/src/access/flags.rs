//! The flags that every command has, named as kubectl names them.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::print::age;

/// How long one call may take unless `--request-timeout` says otherwise: a person waits for it.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// What `--request-timeout=0` means, as nothing here waits for ever.
const LONGEST_CALL: Duration = Duration::from_secs(600);

/// In which form results are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For a person.
    #[default]
    #[value(skip)]
    Text,
    /// For a program.
    Json,
    /// For a program or a person.
    Yaml,
    /// For a person with a wide screen.
    Wide,
}

/// The flags that every command has.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Flags of every command")]
pub struct Flags {
    /// The namespace [default: the context's]
    #[arg(short, long, global = true, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The context of the kubeconfig to use
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig to use [default: KUBECONFIG, else ~/.kube/config]
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The cluster of the kubeconfig to use
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The user of the kubeconfig to use
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub as_user: Option<String>,
    /// Act as a member of this group; may be given several times
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    pub as_groups: Vec<String>,
    /// How long one call to the server may take [default: 30s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = age::parse)]
    pub request_timeout: Option<Duration>,
    /// The form of the result
    #[arg(short, long, global = true, value_name = "FORM")]
    pub output: Option<Output>,
}

impl Flags {
    /// How long one call may take.
    pub fn limit(&self) -> Duration {
        match self.request_timeout {
            None => CALL_LIMIT,
            Some(Duration::ZERO) => LONGEST_CALL,
            Some(limit) => limit.min(LONGEST_CALL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_bounded() {
        let limit = |seconds: Option<u64>| {
            Flags { request_timeout: seconds.map(Duration::from_secs), ..Flags::default() }.limit().as_secs()
        };
        assert_eq!([None, Some(5), Some(0), Some(9999)].map(limit), [30, 5, 600, 600]);
    }
}
