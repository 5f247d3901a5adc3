//! A pool that follows the advice, with both sorts of engine: sharded, where a removed member's data moves to
//! the others, and full-copy, where every member holds all of it.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Sharded,
    FullCopy,
}

/// A pool in a small world of its own, where a second passes at every step.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) threshold: Threshold,
    pub(super) data: u128,
    pub(super) members: Vec<PoolMember>,
    changed_at: Option<Timestamp>,
    second: i64,
}

impl World {
    pub(super) fn new(engine: Engine, threshold: Threshold, data: u128, count: u32) -> Self {
        let members = (0..count).map(|n| joined(n, 0)).collect();
        let mut world = Self { engine, threshold, data, members, changed_at: None, second: 1 };
        world.report();
        world
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.members.len()).unwrap()
    }

    pub(super) fn advice(&self) -> PoolAdvice {
        let reserved = BTreeSet::new();
        let pool = Pool {
            name: "a",
            threshold: self.threshold,
            members: &self.members,
            reserved: &reserved,
            changed_at: self.changed_at,
        };
        advise_pool(&pool, Around { holders_elsewhere: 0, room: 512 })
    }

    /// Everyone joined reports, one second later. Shards are of equal size, to the byte.
    pub(super) fn report(&mut self) {
        self.second += 1;
        let count = self.members.iter().filter(|m| m.stage == Stage::Joined).count().max(1) as u128;
        let joined = self.members.iter_mut().filter(|m| m.stage == Stage::Joined);
        for (index, member) in (0u128..).zip(joined) {
            let used = match self.engine {
                Engine::Sharded => self.data / count + u128::from(index < self.data % count),
                Engine::FullCopy => self.data,
            };
            let bytes = member.capacity.saturating_sub(used);
            member.free = Some(FreeReport { bytes, at: at(self.second) });
        }
    }

    /// Does what the advice says, up to the end of that change; false when it was to hold.
    pub(super) fn step(&mut self) -> bool {
        let advice = self.advice();
        if let Some((name, raised)) = advice.measured {
            let member = self.members.iter_mut().find(|m| m.name == name).unwrap();
            member.gain = Some(Gain::Measured { raised });
        }
        match advice.decision {
            Decision::Hold(Hold::AwaitingReports(_)) => panic!("reports are newer here"),
            Decision::Hold(_) => return false,
            Decision::Create { ordinals, free_before } => {
                for ordinal in ordinals {
                    let gain = free_before.map(|before| Gain::Pending { before });
                    self.members.push(PoolMember { gain, ..joined(ordinal, 0) });
                }
            }
            Decision::Remove { member, .. } => self.members.retain(|m| m.name != member),
        }
        self.changed_at = Some(at(self.second));
        self.report();
        true
    }

    /// Follows the advice until it is to hold; returns the sizes passed through.
    pub(super) fn settle(&mut self) -> Vec<u32> {
        let mut sizes = vec![self.count()];
        for _ in 0..600 {
            if !self.step() {
                return sizes;
            }
            sizes.push(self.count());
        }
        panic!("it never comes to rest: {:?}", &sizes[..40]);
    }
}

#[test]
fn a_sharded_pool_grows_to_its_minimum_and_rests() {
    let mut world = World::new(Engine::Sharded, bounds(None, None, Some(150), Some(400)), 60, 1);
    assert_eq!(world.settle(), [1, 2, 3], "40, 140, 240");
    world.data = 10;
    world.report();
    assert_eq!(world.settle(), [3], "290 is below 400");
}

#[test]
fn a_sharded_pool_shrinks_as_far_as_it_may_and_rests() {
    let mut world = World::new(Engine::Sharded, bounds(Some(2), None, Some(150), Some(200)), 40, 6);
    assert_eq!(world.settle(), [6, 5, 4, 3, 2], "560 … 160");
}

#[test]
fn a_full_copy_pool_stops_when_members_bring_nothing() {
    let mut world = World::new(Engine::FullCopy, bounds(None, None, Some(1000), None), 95, 1);
    assert_eq!(world.settle(), [1, 2]);
    assert_eq!(world.advice().decision, Decision::Hold(Hold::NoGain(name(1))));
}

#[test]
fn a_report_older_than_the_change_holds() {
    let mut world = World::new(Engine::Sharded, bounds(None, None, Some(150), None), 60, 1);
    assert!(world.step());
    for member in &mut world.members {
        member.free = member.free.map(|report| FreeReport { at: world.changed_at.unwrap(), ..report });
    }
    assert_eq!(world.advice().decision, Decision::Hold(Hold::AwaitingReports(vec![name(0), name(1)])));
}
