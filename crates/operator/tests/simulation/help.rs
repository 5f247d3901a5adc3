//! A person who helps where status says that it waits for one, and only where it may: what was never lost must come back by
//! itself.

use std::time::Duration;

use muster_core::manager::requests::Ask;
use serde_json::Value;

use super::happenings::Harm;
use super::samples::{CLUSTER, NAMESPACE};
use super::world::World;

/// How long a person waits before helping, and before helping again: longer than Muster takes for anything.
const WAITS: Duration = Duration::from_secs(300);

/// Does what status advises, if it is about data that is lost.
pub(crate) async fn help(world: &mut World, harm: &mut Harm, elapsed: Duration) {
    if elapsed < harm.helped + WAITS {
        return;
    }
    let status = world.oracle.cluster(|cluster| cluster.map(|it| it["status"].clone())).unwrap_or_default();
    // Where every member has to have a copy, nothing has enough of them without the disk that is gone, until a person says so.
    let lost = harm.wiped.iter().filter(|_| world.gives_as_reason("Healthy", "VolumeLost"));
    let forget = lost.map(|member| Ask::Forget { members: vec![member.clone()] }).next();
    let Some(ask) = advice(&status).or(forget) else { return };
    assert!(
        harm.wiped.is_some() || harm.loss_allowed,
        "a person is asked for ({ask:?}), and no data was lost:\n{}",
        world.describe()
    );
    harm.helped = elapsed;
    world.note(&format!("a person helps: {ask:?}"));
    world.fleet.accept_loss(NAMESPACE, CLUSTER, true);
    world.ask(ask).await;
}

/// What a person would ask for.
fn advice(status: &Value) -> Option<Ask> {
    let errant = status["members"]["errant"].as_array().and_then(|all| all.first()).and_then(Value::as_str);
    if let Some(member) = errant {
        return Some(Ask::Rejoin { member: member.to_owned(), discard: true });
    }
    let recovery = &status["recovery"];
    // Software that elects by itself is not blocked by Muster, and yet lacks a quorum until a person says who goes on.
    recovery["blockedBy"].as_str().or(recovery["unblock"].as_str())?;
    let reported = recovery["reported"].as_array().cloned().unwrap_or_default();
    let place =
        |it: &Value| (it["empty"] != true, it["term"].as_str().map(str::to_owned), it["sequence"].as_u64());
    let best = reported.iter().max_by_key(|it| place(it))?;
    let seed = best["member"].as_str().map(str::to_owned);
    Some(Ask::Recover { seed, accept_data_loss: true, replicas: None })
}
