//! Traces about who is accounted for, and what was read when.

use jiff::SignedDuration;
use muster_api::names::BlockedBy;
use muster_core::manager::command::{Action, Answer, Command, Judge, Refusal, Verdict};
use muster_core::manager::decide::Effect;
use muster_core::manager::fencing::{FenceKind, Standing};
use muster_core::manager::report::Instance;
use muster_core::manager::requests::{Directive, SWITCHOVER_LIMIT};
use muster_core::manager::roster::Copies;
use muster_core::manager::stamp::Stamp;

use super::super::world::World;

use super::{PERSON, formed};

#[test]
fn positions_read_before_fence() {
    let mut world = formed(5, Copies::Majority);
    world.hear(0);
    let write = world.write("a").expect("it serves");
    world.replicate("c", 9);
    world.replicate("e", 9);
    assert!(world.acknowledged.contains(&write), "three of five hold it");
    world.power_off("a");
    world.see_terminated(0, "a", PERSON);
    world.lead(0);
    assert_eq!(world.orders(0), [], "every position is of a time before the fence");
    assert!(world.last(0).ask);
    let elected = world.elect(0);
    assert!(["c", "e"].contains(&elected.as_str()));
    world.begin_serving(&elected);
}

#[test]
fn old_fence_reused() {
    let mut world = formed(3, Copies::Majority);
    world.power_off("a");
    let new = world.elect_leader();
    world.see_terminated(new, "a", PERSON);
    // It returns, is not heard by the new leader, and has not heard of it: it obeys the old one.
    world.leaders[new].cut_off.insert("a".into());
    world.power_on("a");
    world.hear(new);
    assert_eq!(world.leaders[new].observed.standing("a"), Standing::Silent { expired: true });
    world.lead(new);
    assert_eq!(world.blocked_by(new), Some(BlockedBy::MemberMissing));
    assert_eq!(world.orders(new), []);
}

#[test]
fn unanswered_promote() {
    let mut world = formed(4, Copies::Majority);
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("d".into()), from: "a".into(), deadline });
    assert_eq!(world.elect(0), "d");
    world.messages.clear();
    world.begin_serving("d");
    world.leaders[0].lose("d");
    // d serves; its last report says secondary; a, demoted, would be there.
    for _ in 0..5 {
        world.now += SignedDuration::from_secs(31);
        world.lead(0);
        assert!(
            world.last(0).orders.iter().all(|order| !order.action.begins_term()),
            "{:?}",
            world.orders(0)
        );
    }
    assert_eq!(world.leaders[0].observed.standing("d"), Standing::Unanswered);
    assert_eq!(world.blocked_by(0), Some(BlockedBy::SeedUnconfirmed));
}

#[test]
fn pod_uid_latch() {
    let mut world = formed(3, Copies::Majority);
    let new = world.elect_leader();
    world.power_off("a");
    world.hear(new);
    world.see_terminated(new, "a", FenceKind::Terminated);
    world.hear(new);
    assert_eq!(world.leaders[new].observed.standing("a"), Standing::Fenced(FenceKind::Terminated));
    // The container is up again in the same Pod: the proof is of another run, and is gone.
    world.leaders[new].cut_off.insert("a".into());
    world.power_on("a");
    world.leaders[new].observed.lift_fence("a");
    world.hear(new);
    world.lead(new);
    assert_eq!(world.orders(new), []);
    assert_eq!(world.blocked_by(new), Some(BlockedBy::MemberMissing));
}

#[test]
fn stop_on_full_disk_undone() {
    // The stop was obeyed and could not be written: it is remembered in memory.
    let stop = Answer { stamp: Stamp::new(1, 8), succeeded: true };
    let judge =
        Judge { member: "a", instance: Instance(1), epoch: 1, last: Some(stop), empty: false, left: false };
    let delayed = Command {
        stamp: Stamp::new(1, 7),
        instance: Instance(1),
        member: "a".into(),
        roster: None,
        action: Action::Promote,
    };
    let refused = Refusal::OldNumber { got: delayed.stamp, last: stop.stamp };
    assert_eq!(judge.judge(&delayed), Verdict::Refuse(refused));
}

#[test]
fn pause_forgets_seed() {
    let mut world = World::new(2, Copies::Majority);
    world.hear(0);
    world.lead(0);
    world.hear(0);
    world.lead(0);
    assert_eq!(world.orders(0), [("a", "seed")]);
    let seed = world.messages.clone();
    world.messages.clear();
    // Pause and resume: what was sent stays sent.
    let observed = world.leaders[0].observed.clone().resumed();
    world.leaders[0].observed = observed;
    world.hear(0);
    world.lead(0);
    assert_eq!(world.orders(0), []);
    assert_eq!(world.leaders[0].observed.standing("a"), Standing::Unanswered);
    // A new operator goes on with the seed that the mark names, and the delayed one is refused.
    let leader = world.elect_leader();
    world.hear(leader);
    world.lead(leader);
    assert_eq!(world.orders(leader), [("a", "seed")]);
    world.deliver_all();
    world.begin_serving("a");
    let history = world.nodes["a"].volume.history.clone();
    world.messages = seed;
    world.deliver_all();
    assert_eq!(world.nodes["a"].volume.history, history);
    // And on data no new history is ever formed.
    let forming = Command {
        stamp: Stamp::new(9, 9),
        instance: Instance(1),
        member: "a".into(),
        roster: None,
        action: Action::Seed { forming: true },
    };
    let judge = Judge { member: "a", instance: Instance(1), epoch: 1, last: None, empty: false, left: false };
    assert_eq!(judge.judge(&forming), Verdict::Refuse(Refusal::NotEmpty));
}

#[test]
fn switchover_into_missing_data() {
    let mut world = formed(3, Copies::Fixed(1));
    world.power_off("c");
    let deadline = world.now + SWITCHOVER_LIMIT;
    world.leaders[0].observed.directive =
        Some(Directive::Switchover { to: Some("b".into()), from: "a".into(), deadline });
    world.see_terminated(0, "c", PERSON);
    for _ in 0..4 {
        world.hear(0);
        world.command(0);
        assert!(world.orders(0).iter().all(|(_, action)| *action != "demote" && *action != "stop"));
    }
    assert_eq!(world.serving(), Some("a"));
    world.now = deadline;
    world.hear(0);
    world.lead(0);
    assert!(world.last(0).effects.iter().any(|effect| matches!(effect, Effect::RequestEnded(Err(_)))));
}
