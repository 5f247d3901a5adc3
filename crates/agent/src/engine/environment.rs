//! What actions are told, beside what the container's environment says already (`MUSTER_CLUSTER`, `MUSTER_DATA` and so on).
//!
//! | variable | meaning |
//! |---|---|
//! | `MUSTER_ACTION` | the action that this is |
//! | `MUSTER_ID` | this member's number in the cluster, from 1, never given twice; absent until a roster says it |
//! | `MUSTER_VOLUME_ID` | the uuid of the volume, as it is in the roster |
//! | `MUSTER_ROSTER` | a file with the newest roster, as JSON |
//! | `MUSTER_ROSTER_VERSION` | its version; an application that counts copies says it back in `status`, once it counts by it |
//! | `MUSTER_VOTERS`, `MUSTER_COPIES` | the members whose copies count, separated by commas, and how many of them must hold a write before it is acknowledged |
//! | `MUSTER_VOTER_VOLUMES` | their volumes, in the same order. An application that counts copies counts by these: a member on a new disk has not what its name stands for |
//! | `MUSTER_PEERS`, `MUSTER_PRIMARIES` | the addresses of the other members, and of those of them that serve as primary, separated by commas |
//! | `MUSTER_MEMBERS` | the other members with their names, `name=address`, separated by commas |
//! | `MUSTER_ROLE` | `primary` or `secondary`: the role that the application has, or is started in |
//! | `MUSTER_TERM` | the term that it serves in, or that of the primary it is started for |
//! | `MUSTER_HISTORY` | the history of the data: what `sequence` said, the primary's for a full copy, or a new one that the engine may use for its own |
//! | `MUSTER_FORMING`, `MUSTER_COPY` | `true` when a new history begins; when the data was thrown away and is to be copied as a whole |
//! | `MUSTER_DEVICE`, `MUSTER_DEVICE_PATH`, `MUSTER_DEVICE_TAGS` | of `addDevice`: the device |

use muster_api::names::{Action, Role};
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::Term;
use muster_protocol::Neighbour;

use crate::memory::Memory;

/// Of what the agent knows, what every action is told.
pub struct Told<'a> {
    /// The action.
    pub action: Action,
    /// What the agent remembers.
    pub memory: &'a Memory,
    /// Where the roster is.
    pub roster: String,
    /// How many copies a write needs.
    pub copies: Copies,
    /// The other members, as the last command named them.
    pub peers: &'a [Neighbour],
    /// The role of the application.
    pub role: Option<Role>,
    /// Its term.
    pub term: Option<Term>,
    /// The history of the data.
    pub history: &'a str,
}

impl Told<'_> {
    /// As variables.
    pub fn variables(&self) -> Vec<(String, String)> {
        let named = |peer: &Neighbour| format!("{}={}", peer.member, peer.address);
        let members: Vec<String> = self.peers.iter().map(named).collect();
        let addresses = |wanted: fn(&Neighbour) -> bool| {
            let peers = self.peers.iter().filter(|peer| wanted(peer));
            peers.map(|peer| peer.address.as_str()).collect::<Vec<_>>().join(",")
        };
        let mut all = vec![
            pair("ACTION", self.action.to_string()),
            pair("VOLUME_ID", self.memory.volume.clone()),
            pair("ROSTER", self.roster.clone()),
            pair("PEERS", addresses(|_| true)),
            pair("PRIMARIES", addresses(|peer| peer.primary)),
            pair("MEMBERS", members.join(",")),
            pair("HISTORY", self.history.to_owned()),
        ];
        if let Some(roster) = &self.memory.roster {
            let voters: Vec<&str> = roster.voters().map(|voter| voter.member.as_str()).collect();
            all.push(pair("ROSTER_VERSION", roster.version.to_string()));
            all.push(pair("COPIES", self.copies.written(voters.len()).to_string()));
            all.push(pair("VOTERS", voters.join(",")));
            let volumes: Vec<&str> = roster.voters().map(|voter| voter.volume.as_str()).collect();
            all.push(pair("VOTER_VOLUMES", volumes.join(",")));
        }
        all.extend(self.memory.id.map(|id| pair("ID", id.to_string())));
        all.extend(self.role.map(|role| pair("ROLE", role.to_string())));
        all.extend(self.term.map(|term| pair("TERM", term.to_string())));
        all
    }
}

/// A variable of ours.
pub fn pair(name: &str, value: String) -> (String, String) {
    (format!("MUSTER_{name}"), value)
}
