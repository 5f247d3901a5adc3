//! What actions say, read strictly: what does not make sense is not known.

use muster_api::names::Role;
use muster_core::manager::report::Activity;
use muster_core::manager::stamp::Stamp;
use muster_protocol::{Device, MAX_DEVICES, MAX_FAILURE_BYTES};
use serde::Deserialize;

use crate::memory::Position;

/// `status` exits so when the application runs as secondary.
pub const SECONDARY: i32 = 0;
/// `status` exits so when the application runs as primary, as OCF agents do.
pub const PRIMARY: i32 = 8;
/// `status` exits so when the application is stopped.
pub const STOPPED: i32 = 7;
/// The highest sequence: more does not fit where people's software counts.
const SEQUENCE_MAX: u64 = i64::MAX as u64;

#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    history: String,
    sequence: u64,
    #[serde(default)]
    position: String,
    #[serde(default)]
    empty: bool,
}

/// What `sequence` says. A bare number says nothing of emptiness: then there is nothing if it is 0 and there are no files.
pub fn sequence(said: &[u8], no_files: bool) -> Option<Position> {
    let said = std::str::from_utf8(said).ok()?.trim();
    let position = if said.starts_with('{') {
        let Answered { history, sequence, position, empty } = serde_json::from_str(said).ok()?;
        Position { history, sequence, position, empty }
    } else {
        let digits = !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit());
        let sequence = digits.then(|| said.parse().ok()).flatten()?;
        Position { sequence, empty: sequence == 0 && no_files, ..Position::default() }
    };
    let sensible = position.sequence <= SEQUENCE_MAX && !(position.empty && position.sequence > 0);
    sensible.then_some(position)
}

/// What `status` says of a running application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Said {
    /// What it is busy with.
    pub state: Option<Word>,
    /// Which history the data belongs to, where the engine knows it while it runs.
    pub history: Option<String>,
    /// How far the data is.
    pub sequence: Option<u64>,
    /// The engine's own words for that.
    pub position: Option<String>,
    /// How far it is behind the primary.
    pub lag_seconds: Option<u64>,
    /// Whether it has all that the primary has.
    pub synced: bool,
    /// The component of the cluster that it sees itself in.
    pub view: Option<String>,
    /// The same component once more, where the engine counts those that had a quorum.
    pub component: Option<Component>,
    /// A figure that moves while there is progress.
    pub progress: u64,
    /// For people.
    pub message: String,
    /// The version of the roster by which it counts copies, `<epoch>.<n>`, where the engine can tell.
    pub roster: Option<String>,
}

/// A component of the cluster that has a quorum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Component {
    /// One more than that of the component before it, in which most of its members were.
    pub number: u64,
    /// Who is in it, in the engine's words.
    pub members: String,
    /// How often it was without a quorum until then, where the engine counts that: it may be over before anyone asks.
    #[serde(default)]
    pub interruptions: u64,
}

impl Component {
    /// Whether it was made of members of this one that had no quorum, though others of them may have gone on: it is the very next one, so
    /// it was not joined, and not everyone is in it who could have.
    pub fn may_rival(&self, before: &Self) -> bool {
        self.number == before.number.saturating_add(1) && self.members != before.members
    }
}

/// What an application is busy with, in the engine's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    /// It starts, or repairs itself.
    Starting,
    /// It fetches what it lacks.
    Joining,
    /// It serves, and feeds another.
    Donor,
    /// It serves.
    Serving,
    /// It has no quorum.
    Isolated,
}

impl Word {
    /// The same, in reports.
    pub const fn activity(self) -> Activity {
        match self {
            Self::Starting => Activity::Starting,
            Self::Joining => Activity::Joining,
            Self::Donor => Activity::Donor,
            Self::Serving => Activity::Serving,
            Self::Isolated => Activity::Isolated,
        }
    }
}

/// What a run of `status` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The application runs in this role.
    Runs(Role, Said),
    /// It says that it does not run, though its process lives.
    Stopped,
    /// It has failed, or says what nobody understands.
    Failed(String),
}

/// What this exit and this output mean.
pub fn status(code: Option<i32>, said: &[u8]) -> Status {
    let role = match code {
        Some(SECONDARY) => Role::Secondary,
        Some(PRIMARY) => Role::Primary,
        Some(STOPPED) => return Status::Stopped,
        _ => return Status::Failed(message(said)),
    };
    let text = String::from_utf8_lossy(said);
    let text = text.trim();
    if !text.starts_with('{') {
        // Without more words it does what its role asks; that it has everything it did not say.
        return Status::Runs(role, Said { message: cut(text), ..Said::default() });
    }
    match serde_json::from_str::<Said>(text) {
        Ok(said) if said.sequence.is_some_and(|sequence| sequence > SEQUENCE_MAX) => {
            Status::Failed("its sequence is too high".to_owned())
        }
        Ok(said) => Status::Runs(role, Said { message: cut(&said.message), ..said }),
        Err(error) => Status::Failed(format!("what it says makes no sense: {error}")),
    }
}

impl Said {
    /// What it is busy with.
    pub fn activity(&self) -> Activity {
        self.state.map_or(Activity::Serving, Word::activity)
    }

    /// The component in which it has a quorum. While it fetches what it lacks it may tell of those that it missed, so it has to serve.
    pub fn quorum(&self) -> Option<&Component> {
        let serves = matches!(self.activity(), Activity::Serving | Activity::Donor);
        self.component.as_ref().filter(|_| serves)
    }

    /// The roster it says that it uses.
    pub fn roster(&self) -> Option<Stamp> {
        let (epoch, n) = self.roster.as_ref()?.split_once('.')?;
        Some(Stamp::new(epoch.parse().ok()?, n.parse().ok()?))
    }
}

/// The message of a status that failed, if it is one.
fn message(said: &[u8]) -> String {
    let said_so = serde_json::from_slice::<Said>(said).map(|said| said.message);
    cut(&said_so.unwrap_or_else(|_| String::from_utf8_lossy(said).trim().to_owned()))
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_FAILURE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// What `freeStorage` says, in bytes.
pub fn free_storage(said: &[u8]) -> Option<u64> {
    std::str::from_utf8(said).ok()?.trim().parse().ok()
}

/// What `devices` says.
pub fn devices(said: &[u8]) -> Option<Vec<Device>> {
    let mut devices: Vec<Device> = serde_json::from_slice(said).ok()?;
    devices.truncate(MAX_DEVICES);
    Some(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sequence: u64, empty: bool) -> Position {
        Position { sequence, empty, ..Position::default() }
    }

    #[test]
    fn a_sequence_is_json_or_a_bare_number() {
        let said = br#"{"history":"h","sequence":123,"position":"p","empty":false}"#;
        let position = Position { history: "h".into(), sequence: 123, position: "p".into(), empty: false };
        assert_eq!(sequence(said, true), Some(position));
        assert_eq!(sequence(b" 42\n", true), Some(at(42, false)));
        assert_eq!((sequence(b"0", true), sequence(b"0", false)), (Some(at(0, true)), Some(at(0, false))));
        assert_eq!(sequence(b"9223372036854775807", false), Some(at(i64::MAX as u64, false)));
    }

    #[test]
    fn what_makes_no_sense_is_not_known() {
        for said in [
            "",
            "-1",
            "+1",
            "1.5",
            "0x1",
            "9223372036854775808",
            "99999999999999999999999",
            "1 2",
            "{}",
            "null",
            r#"{"sequence":-1}"#,
            r#"{"sequence":"1"}"#,
            r#"{"sequence":5,"empty":true}"#,
            r#"{"sequence":1"#,
        ] {
            assert_eq!(sequence(said.as_bytes(), true), None, "{said}");
        }
    }

    #[test]
    fn a_status_is_an_exit_code_and_perhaps_words() {
        let plain = |role| Status::Runs(role, Said::default());
        assert_eq!(status(Some(0), b""), plain(Role::Secondary));
        assert_eq!(status(Some(8), b"\n"), plain(Role::Primary));
        assert_eq!(status(Some(7), b""), Status::Stopped);
        assert_eq!(status(Some(1), br#"{"message":"no"}"#), Status::Failed("no".into()));
        assert_eq!(status(None, b"killed"), Status::Failed("killed".into()));
        let said = br#"{"state":"donor","sequence":5,"lagSeconds":2,"synced":true,"view":"v","progress":9,"roster":"5.2","x":1}"#;
        let Status::Runs(Role::Primary, said) = status(Some(8), said) else { panic!("it runs") };
        assert_eq!(
            (said.activity(), said.sequence, said.roster()),
            (Activity::Donor, Some(5), Some(Stamp::new(5, 2)))
        );
        assert!(matches!(status(Some(0), br#"{"state":"dancing"}"#), Status::Failed(_)));
        assert!(matches!(status(Some(0), br#"{"sequence":9223372036854775808}"#), Status::Failed(_)));
    }
}
