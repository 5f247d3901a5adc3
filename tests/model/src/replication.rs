//! What applications do among themselves: writes, copies, and when a client has its answer.

use std::collections::BTreeMap;

use muster_api::names::Role;
use muster_core::manager::roster::Copies;

use crate::{App, Node};

/// The members of one cluster by name.
pub type Nodes = BTreeMap<String, Node>;

/// A follower holds what its primary does not have: it should never have been started beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPrefix {
    /// The follower.
    pub follower: String,
    /// The primary.
    pub primary: String,
}

impl std::fmt::Display for NoPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} follows {} though it is no prefix of it", self.follower, self.primary)
    }
}

/// Gives this write to this member; false if it takes none. Where more than one serve in one term, all of them get it at
/// once: such software orders writes before it answers.
pub fn write(nodes: &mut Nodes, name: &str, write: u64) -> bool {
    let Some(term) = nodes.get(name).and_then(Node::app).filter(|app| app.serving).map(|app| app.term) else {
        return false;
    };
    let together: Vec<String> = nodes
        .values()
        .filter(|node| node.app().is_some_and(|app| app.serving && app.term == term))
        .map(|node| node.name.clone())
        .collect();
    for other in &together {
        if let Some(node) = nodes.get_mut(other) {
            node.volume.log.push(write);
        }
    }
    for other in &together {
        let held = nodes.get(other).map(|node| (node.volume.uuid.clone(), node.volume.sequence()));
        if let (Some((uuid, sequence)), Some(app)) = (held, nodes.get_mut(name).and_then(Node::app_mut)) {
            app.confirmed.insert(uuid, sequence);
        }
    }
    true
}

/// A starting primary begins to serve: what it then holds is whole. None if it is none, or serves already. Beside others that
/// serve it has what was written since it was copied: such software orders writes for whoever is about to serve, too.
pub fn begin_serving<'a>(nodes: &'a mut Nodes, name: &str) -> Option<&'a Node> {
    let term = nodes.get(name)?.app()?.term;
    let beside = |node: &&Node| node.app().is_some_and(|app| app.serving && app.term == term);
    let written = nodes.values().find(beside).map(|node| node.volume.log.clone());
    let node = nodes.get_mut(name)?;
    if let Some(written) = written.filter(|written| written.starts_with(&node.volume.log)) {
        node.volume.log = written;
    }
    let (uuid, sequence) = (node.volume.uuid.clone(), node.volume.sequence());
    let app = node.agent.as_mut()?.app.as_mut()?;
    if app.role != Role::Primary || app.serving || app.copying {
        return None;
    }
    app.serving = true;
    app.synced = true;
    app.isolated = false;
    app.confirmed.insert(uuid, sequence);
    node.volume.complete = true;
    (node.volume.torn, node.volume.covered) = (false, false);
    node.volume.unreadable = false;
    node.volume.left = false;
    Some(node)
}

/// A follower fetches up to `most` writes from the primary it was started for, whose name is given back.
pub fn replicate(nodes: &mut Nodes, name: &str, most: usize) -> Result<Option<String>, NoPrefix> {
    let follows = |app: &&App| !app.serving && (app.role == Role::Secondary || app.copying);
    let Some(term) = nodes.get(name).and_then(Node::app).filter(follows).map(|app| app.term) else {
        return Ok(None);
    };
    let source = nodes.iter().find_map(|(primary, node)| {
        let app = node.app()?;
        let serves = app.role == Role::Primary && app.serving && app.term == term;
        (serves && primary != name).then(|| (primary.clone(), node.volume.log.clone()))
    });
    let Some((primary, source)) = source else { return Ok(None) };
    let Some(node) = nodes.get_mut(name) else { return Ok(None) };
    let held = node.volume.log.len();
    if node.app().is_some_and(|app| app.copying) {
        node.volume.log.clone_from(&source);
        node.volume.torn = false;
    } else if source.starts_with(&node.volume.log) {
        node.volume.log.extend(source.iter().skip(held).take(most));
    } else {
        return Err(NoPrefix { follower: name.to_owned(), primary });
    }
    let synced = node.volume.log.len() == source.len();
    if let Some(app) = node.app_mut() {
        app.synced = synced;
        app.copying = false;
    }
    if synced {
        node.volume.complete = true;
        node.volume.covered = false;
        node.volume.left = false;
    }
    let (uuid, sequence) = (node.volume.uuid.clone(), node.volume.sequence());
    if let Some(app) = nodes.get_mut(&primary).and_then(Node::app_mut) {
        app.confirmed.insert(uuid, sequence);
    }
    Ok(Some(primary))
}

/// A follower gives up what the primary it follows does not have, as software does that elects by itself: nobody was told
/// that it is kept.
pub fn roll_back(nodes: &mut Nodes, name: &str) {
    let Some(term) = nodes.get(name).and_then(Node::app).filter(|app| !app.serving).map(|app| app.term)
    else {
        return;
    };
    let serves = |node: &&Node| node.app().is_some_and(|app| app.serving && app.term == term);
    let Some(source) = nodes.values().find(serves).map(|node| node.volume.log.clone()) else { return };
    if let Some(node) = nodes.get_mut(name) {
        let log = &mut node.volume.log;
        let common = log.iter().zip(&source).take_while(|(a, b)| a == b).count();
        log.truncate(common);
    }
}

/// The writes whose clients this primary answers: those with enough copies, by the roster it uses.
pub fn acknowledged<'a>(nodes: &'a Nodes, name: &str, copies: Copies) -> &'a [u64] {
    let Some(node) = nodes.get(name) else { return &[] };
    let Some(app) = node.app().filter(|app| app.role == Role::Primary && app.serving) else { return &[] };
    let Some(roster) = app.roster.as_ref() else { return &[] };
    let mut held: Vec<u64> =
        roster.voters().map(|voter| app.confirmed.get(&voter.volume).copied().unwrap_or(0)).collect();
    held.sort_unstable_by(|a, b| b.cmp(a));
    let written = copies.written(held.len());
    let Some(safe) = held.get(written.saturating_sub(1)) else { return &[] };
    let safe = usize::try_from(*safe).unwrap_or_default().min(node.volume.log.len());
    &node.volume.log[..safe]
}
