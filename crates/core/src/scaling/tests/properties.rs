//! Properties of the advice: it leads to rest, stays within bounds, never oscillates, and holds where it is
//! blind.

use proptest::prelude::*;

use super::simulation::{Engine, World};
use super::*;

fn engines() -> impl Strategy<Value = Engine> {
    prop::sample::select(vec![Engine::Sharded, Engine::FullCopy])
}

/// Valid thresholds, as the CRD admits them.
fn thresholds() -> impl Strategy<Value = Threshold> {
    let counts = (prop::option::of(0u32..6), prop::option::of(1u32..6));
    let free = (prop::option::of(1u128..400), prop::option::of(1u128..300));
    prop_oneof![
        1 => (0u32..8).prop_map(Threshold::Nodes),
        5 => (counts, free).prop_filter_map("at least one field", |((min, more), (free_min, free_more))| {
            let threshold = bounds(
                min,
                more.map(|m| min.unwrap_or(0) + m),
                free_min,
                free_more.map(|m| free_min.unwrap_or(0) + m),
            );
            (threshold != UNBOUNDED).then_some(threshold)
        }),
    ]
}

/// Any pool of up to eight, whatever its members' states.
fn members() -> impl Strategy<Value = Vec<PoolMember>> {
    let stages = prop::sample::select(vec![Stage::Creating, Stage::Leaving, Stage::Joined, Stage::Joined]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let free = prop::option::weighted(0.9, 0u128..=100);
    let member = (stages, flags, free, 0u8..3).prop_map(|(stage, (enabled, failed, primary), free, made)| {
        let ordinal = (made > 0).then_some(0);
        let data = if stage == Stage::Joined { Data::Holds } else { Data::None };
        let free = free.map(|bytes| FreeReport { bytes, at: at(100) });
        PoolMember { ordinal, stage, enabled, failed, primary, data, free, ..joined(0, 0) }
    });
    prop::collection::vec(member, 0..8).prop_map(|mut all| {
        for (n, member) in (0u32..).zip(&mut all) {
            member.name = name(n);
            member.ordinal = member.ordinal.map(|_| n);
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Advice followed leads to rest, and at rest the same question gets the same answer.
    #[test]
    fn stable(engine in engines(), threshold in thresholds(), data in 0u128..500, count in 0u32..10) {
        let mut world = World::new(engine, threshold, data, count);
        world.settle();
        let size = world.count();
        for _ in 0..5 {
            world.report();
            prop_assert!(!world.step());
            prop_assert_eq!(world.count(), size);
        }
    }

    /// With the same data the pool goes one way only: it never grows after it shrank, nor shrinks after it
    /// grew.
    #[test]
    fn never_oscillates(engine in engines(), threshold in thresholds(), data in 0u128..500, count in 0u32..40) {
        let sizes = World::new(engine, threshold, data, count).settle();
        let grew = sizes.windows(2).any(|pair| pair[1] > pair[0]);
        let shrank = sizes.windows(2).any(|pair| pair[1] < pair[0]);
        prop_assert!(!(grew && shrank), "{sizes:?}");
    }

    /// Whatever the data does, the size stays within its bounds once it got there, and never passes them on
    /// the way.
    #[test]
    fn within_bounds(
        engine in engines(),
        threshold in thresholds(),
        course in prop::collection::vec(0u128..2000, 1..8),
        count in 0u32..40,
    ) {
        let mut world = World::new(engine, threshold, course[0], count);
        for data in course {
            world.data = data;
            world.report();
            let start = world.count();
            let sizes = world.settle();
            let (low, high) = match threshold {
                Threshold::Nodes(nodes) => (nodes, nodes),
                Threshold::Bounds { min_nodes, max_nodes, .. } => {
                    (min_nodes.unwrap_or(0), max_nodes.unwrap_or(GROWTH_LIMIT.max(min_nodes.unwrap_or(0)).max(start)))
                }
            };
            // Without a minimum nothing forces the last holder of data out.
            let low = low.min(*sizes.last().unwrap_or(&0)).max(low.min(1));
            for size in &sizes {
                prop_assert!(*size >= low.min(start) && *size <= high.max(start), "{sizes:?} in {low}..={high}");
            }
            let last = *sizes.last().unwrap_or(&0);
            prop_assert!(last <= high.max(1), "{sizes:?} above {high}");
            prop_assert_eq!(world.threshold.desired_nodes(last).min(last), last.min(high));
        }
    }

    /// Where an enabled joined member does not report, nothing changes but to meet `nodes` and `minNodes`.
    #[test]
    fn a_missing_report_holds(threshold in thresholds(), mut all in members(), which in any::<prop::sample::Index>()) {
        prop_assume!(!all.is_empty());
        let index = which.index(all.len());
        all[index] = PoolMember { name: all[index].name.clone(), ordinal: all[index].ordinal, ..silent(0) };
        let advice = full(threshold, &all);
        let Threshold::Bounds { min_nodes, .. } = threshold else { return Ok(()) };
        match advice.decision {
            Decision::Hold(Hold::FreeUnknown(names)) => prop_assert!(names.contains(&all[index].name)),
            Decision::Hold(Hold::Leaving(_)) => {}
            Decision::Create { ordinals, free_before } => {
                prop_assert_eq!(free_before, None);
                prop_assert_eq!(advice.nodes + u32::try_from(ordinals.len()).unwrap(), min_nodes.unwrap_or(0));
            }
            other => prop_assert!(false, "{other:?}"),
        }
        let named = matches!(advice.free, Free::Missing(names) if names.contains(&all[index].name));
        prop_assert!(named);
    }

    /// Whoever is removed is one of the pool's own, enabled, not on its way out, and not the last holder of
    /// data.
    #[test]
    fn only_who_may_go_goes(threshold in thresholds(), all in members(), elsewhere in 0usize..2) {
        let reserved = BTreeSet::new();
        let pool = Pool { name: "a", threshold, members: &all, reserved: &reserved, changed_at: None };
        let advice = advise_pool(&pool, Around { holders_elsewhere: elsewhere, room: 100 });
        if let Decision::Remove { member, switchover_first } = advice.decision {
            let gone = all.iter().find(|m| m.name == member).unwrap();
            prop_assert!(gone.ordinal.is_some() && gone.enabled && gone.stage != Stage::Leaving);
            prop_assert_eq!(gone.primary, switchover_first);
            let holders = elsewhere + all.iter().filter(|m| m.data == Data::Holds).count();
            prop_assert!(gone.data == Data::None || holders > 1);
            if gone.primary {
                let others = all.iter().filter(|m| !m.primary && m.ordinal.is_some() && m.enabled);
                let could = others.filter(|m| m.stage != Stage::Leaving).filter(|m| m.data == Data::None || holders > 1);
                prop_assert_eq!(could.count(), 0);
            }
        }
    }

    /// Created ordinals are new, ascending and the lowest that are free.
    #[test]
    fn created_ordinals_are_the_next_free(threshold in thresholds(), all in members()) {
        if let Decision::Create { ordinals, .. } = full(threshold, &all).decision {
            let taken: BTreeSet<u32> = all.iter().filter_map(|m| m.ordinal).collect();
            let expected: Vec<u32> = (0..).filter(|n| !taken.contains(n)).take(ordinals.len()).collect();
            prop_assert_eq!(ordinals, expected);
        }
    }
}
