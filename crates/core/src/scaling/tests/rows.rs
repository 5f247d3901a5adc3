//! Each row of the table, at its exact boundaries.

use super::*;

const AT_SIZE: Decision = Decision::Hold(Hold::AtSize);

#[test]
fn nodes_is_exactly_that_many() {
    assert_eq!(ask(Threshold::Nodes(3), &[]), create(&[0, 1, 2]), "at once");
    assert_eq!(ask(Threshold::Nodes(3), &[joined(0, 9)]), create(&[1, 2]));
    assert_eq!(ask(Threshold::Nodes(2), &[joined(0, 9), joined(1, 9)]), AT_SIZE);
    assert_eq!(ask(Threshold::Nodes(1), &[joined(0, 9), joined(1, 9), joined(2, 9)]), remove(2));
    assert_eq!(ask(Threshold::Nodes(0), &[joined(0, 9)]), remove(0));
}

#[test]
fn nodes_needs_no_reports() {
    let members = [silent(0), silent(1)];
    assert_eq!(ask(Threshold::Nodes(3), &members), create(&[2]));
    assert_eq!(ask(Threshold::Nodes(1), &members), remove(1));
    assert_eq!(changed(Threshold::Nodes(1), &members, Some(at(200))).decision, remove(1));
    assert_eq!(full(Threshold::Nodes(1), &members).free, Free::Missing(vec![name(0), name(1)]));
}

#[test]
fn one_removal_at_a_time_but_creation_at_once() {
    let members = [joined(0, 9), joined(1, 9), leaving(2)];
    assert_eq!(ask(Threshold::Nodes(1), &members), Decision::Hold(Hold::Leaving(name(2))));
    assert_eq!(ask(Threshold::Nodes(2), &members), AT_SIZE, "the leaving one is not counted");
    assert_eq!(ask(Threshold::Nodes(3), &members), create(&[3]), "its ordinal is not free yet");
    assert_eq!(ask(bounds(Some(3), None, None, None), &members), create(&[3]));
    let max = bounds(None, Some(1), None, None);
    assert_eq!(ask(max, &members), Decision::Hold(Hold::Leaving(name(2))));
}

#[test]
fn a_replacement_takes_the_next_free_ordinal() {
    let members = [joined(0, 9), joined(2, 9)];
    assert_eq!(ask(Threshold::Nodes(4), &members), create(&[1, 3]));
    let reserved = BTreeSet::from([1, 4]);
    let pool = Pool {
        name: "a",
        threshold: Threshold::Nodes(4),
        members: &members,
        reserved: &reserved,
        changed_at: None,
    };
    let advice = advise_pool(&pool, Around { holders_elsewhere: 0, room: 9 });
    assert_eq!(advice.decision, create(&[3, 5]), "a forgotten member's claim still has that name");
}

#[test]
fn min_nodes_is_met_at_once_whatever_is_reported() {
    let min = bounds(Some(3), Some(5), None, None);
    assert_eq!(ask(min, &[]), create(&[0, 1, 2]));
    assert_eq!(ask(min, &[silent(0)]), create(&[1, 2]));
    assert_eq!(ask(min, &[joined(0, 0), joined(1, 0), joined(2, 0)]), AT_SIZE);
    assert_eq!(changed(min, &[joined(0, 0)], Some(at(200))).decision, create(&[1, 2]));
}

#[test]
fn above_max_nodes_one_goes_at_a_time() {
    let max = bounds(Some(1), Some(2), None, None);
    let three = [joined(0, 0), joined(1, 0), joined(2, 0)];
    assert_eq!(ask(max, &three), remove(2));
    assert_eq!(ask(max, &three[..2]), AT_SIZE);
    let blind = [joined(0, 0), joined(1, 0), silent(2)];
    assert_eq!(ask(max, &blind), Decision::Hold(Hold::FreeUnknown(vec![name(2)])));
}

#[test]
fn the_next_change_waits_for_newer_reports() {
    let max = bounds(Some(1), Some(1), None, None);
    let two = [joined(0, 0), joined(1, 0)];
    assert_eq!(changed(max, &two, Some(at(99))).decision, remove(1));
    assert_eq!(changed(max, &two, None).decision, remove(1));
    let waits = Decision::Hold(Hold::AwaitingReports(vec![name(0), name(1)]));
    assert_eq!(changed(max, &two, Some(at(100))).decision, waits, "equal is not newer");
    let one_new =
        [PoolMember { free: Some(FreeReport { bytes: 0, at: at(101) }), ..joined(0, 0) }, joined(1, 0)];
    assert_eq!(
        changed(max, &one_new, Some(at(100))).decision,
        Decision::Hold(Hold::AwaitingReports(vec![name(1)]))
    );
    let irrelevant = [one_new[0].clone(), disabled(joined(1, 0)), creating(2)];
    assert_eq!(changed(max, &irrelevant, Some(at(100))).decision, remove(2));
}

#[test]
fn without_a_minimum_it_grows_to_max_nodes_one_by_one() {
    let max = bounds(None, Some(2), None, None);
    assert_eq!(ask(max, &[]), create(&[0]));
    assert_eq!(ask(max, &[creating(0)]), Decision::Hold(Hold::Joining(vec![name(0)])));
    assert_eq!(ask(max, &[joined(0, 0)]), create(&[1]));
    assert_eq!(ask(max, &[joined(0, 0), joined(1, 0)]), AT_SIZE);
    let useless = PoolMember { gain: Some(Gain::Measured { raised: 0 }), ..joined(0, 0) };
    assert_eq!(ask(max, &[useless]), create(&[1]), "it does not grow for storage, so gain does not matter");
    assert_eq!(ask(UNBOUNDED, &[joined(0, 0)]), AT_SIZE);
}

#[test]
fn without_a_minimum_it_grows_until_free_storage_max() {
    let free = bounds(None, None, None, Some(150));
    assert_eq!(ask(free, &[]), create_for_storage(0, 0));
    assert_eq!(ask(free, &[joined(0, 149)]), create_for_storage(1, 149));
    assert_eq!(ask(free, &[joined(0, 150)]), AT_SIZE);
    assert_eq!(
        ask(free, &[joined(0, 50), creating(1)]),
        AT_SIZE,
        "being created it counts with its capacity"
    );
    assert_eq!(ask(free, &[joined(0, 49), creating(1)]), Decision::Hold(Hold::Joining(vec![name(1)])));
    let bounded = bounds(None, Some(1), None, Some(150));
    assert_eq!(ask(bounded, &[joined(0, 1)]), Decision::Hold(Hold::AtMaximum { limit: 1 }));
    let with_min = bounds(Some(1), None, None, Some(150));
    assert_eq!(ask(with_min, &[joined(0, 1)]), AT_SIZE, "with a minimum that row does not apply");
}

#[test]
fn below_free_storage_min_it_grows() {
    let free = bounds(Some(1), Some(3), Some(50), None);
    assert_eq!(ask(free, &[joined(0, 49)]), create_for_storage(1, 49));
    assert_eq!(ask(free, &[joined(0, 50)]), AT_SIZE);
    assert_eq!(ask(free, &[joined(0, 0), creating(1)]), AT_SIZE, "100 are on their way");
    let high = bounds(None, Some(3), Some(101), None);
    assert_eq!(ask(high, &[joined(0, 0), creating(1)]), Decision::Hold(Hold::Joining(vec![name(1)])));
    let full_pool = [joined(0, 1), joined(1, 1), joined(2, 1)];
    assert_eq!(ask(free, &full_pool), Decision::Hold(Hold::AtMaximum { limit: 3 }));
}

#[test]
fn only_enabled_members_give_free_storage() {
    let free = bounds(None, Some(9), Some(50), None);
    let members = [joined(0, 10), disabled(joined(1, 90)), by_hand("extra", 30)];
    assert_eq!(ask(free, &members), create_for_storage(2, 40));
    assert_eq!(full(free, &members).free, Free::Known(40));
    let unseen = [joined(0, 10), disabled(silent(1)), by_hand("extra", 40)];
    assert_eq!(ask(free, &unseen), AT_SIZE, "a disabled member need not report");
    let blind = [joined(0, 10), PoolMember { free: None, ..by_hand("extra", 0) }];
    assert_eq!(ask(free, &blind), Decision::Hold(Hold::FreeUnknown(vec!["extra".into()])));
    let idle = [joined(0, 10), disabled(creating(1))];
    assert_eq!(ask(free, &idle), create_for_storage(2, 10), "a disabled member is not waited for");
    assert_eq!(full(free, &[creating(0)]).free, Free::Known(0), "status shows what is free now");
    assert_eq!(full(free, &[joined(0, 7), leaving(1)]).free, Free::Known(7));
}

#[test]
fn a_pool_sized_by_storage_stops_at_32() {
    let free = bounds(None, None, Some(10_000), None);
    let members: Vec<PoolMember> = (0..32).map(|n| joined(n, 1)).collect();
    assert_eq!(ask(free, &members), Decision::Hold(Hold::AtMaximum { limit: 32 }));
    assert_eq!(ask(free, &members[..31]), create_for_storage(31, 31));
    let more = bounds(None, Some(33), Some(10_000), None);
    assert_eq!(ask(more, &members), create_for_storage(32, 32));
    let mut with_extra = members[..31].to_vec();
    with_extra.push(by_hand("extra", 1));
    assert_eq!(ask(free, &with_extra), create_for_storage(31, 32), "one made by hand is not counted");
}

#[test]
fn a_member_that_brought_nothing_stops_growth() {
    let free = bounds(None, None, Some(1000), None);
    let raised = |raised| PoolMember { gain: Some(Gain::Measured { raised }), ..joined(1, 9) };
    assert_eq!(ask(free, &[joined(0, 9), raised(9)]), Decision::Hold(Hold::NoGain(name(1))));
    assert_eq!(ask(free, &[joined(0, 9), raised(-5)]), Decision::Hold(Hold::NoGain(name(1))));
    assert_eq!(ask(free, &[joined(0, 9), raised(10)]), create_for_storage(2, 18), "a tenth is enough");
    assert_eq!(
        ask(free, &[joined(0, 9), PoolMember { stage: Stage::Leaving, ..raised(0) }]),
        Decision::Hold(Hold::Leaving(name(1)))
    );
}

#[test]
fn the_gain_is_measured_on_newer_reports() {
    let free = bounds(None, None, Some(1000), None);
    let fresh = PoolMember { gain: Some(Gain::Pending { before: 20 }), ..joined(1, 9) };
    let members = [joined(0, 20), fresh];
    let advice = full(free, &members);
    assert_eq!(advice.measured, Some((name(1), 9)));
    assert_eq!(advice.decision, Decision::Hold(Hold::NoGain(name(1))));
    let too_early = changed(free, &members, Some(at(100)));
    assert_eq!(too_early.measured, None);
    let better = [joined(0, 21), members[1].clone()];
    assert_eq!(full(free, &better).measured, Some((name(1), 10)));
    assert_eq!(full(free, &better).decision, create_for_storage(2, 30));
    let blind = [silent(0), members[1].clone()];
    assert_eq!(full(free, &blind).measured, None);
    let going = [joined(0, 20), members[1].clone(), leaving(2)];
    assert_eq!(full(free, &going).measured, None);
    let waiting = [joined(0, 20), PoolMember { stage: Stage::Creating, ..members[1].clone() }];
    assert_eq!(full(free, &waiting).measured, None, "not before it joined");
}

#[test]
fn above_free_storage_max_it_shrinks_if_it_need_not_grow_again() {
    let free = bounds(Some(1), None, Some(50), Some(140));
    let pair = |a, b| [joined(0, a), joined(1, b)];
    assert_eq!(ask(free, &pair(75, 75)), remove(1), "50 are left");
    assert_eq!(ask(free, &pair(75, 74)), Decision::Hold(Hold::WouldGrowAgain(name(1))));
    assert_eq!(ask(free, &pair(70, 70)), AT_SIZE, "140 is not above 140");
    assert_eq!(ask(free, &[joined(0, 500)]), AT_SIZE, "not below minNodes");
    let no_floor = bounds(None, None, Some(50), Some(140));
    assert_eq!(ask(no_floor, &[joined(0, 150)]), remove(0));
}

#[test]
fn without_a_minimum_shrinking_stops_where_growing_would_begin() {
    let free = bounds(None, None, None, Some(140));
    let trio = |a, b, c| [joined(0, a), joined(1, b), joined(2, c)];
    assert_eq!(ask(free, &trio(80, 80, 80)), remove(2), "140 are left");
    assert_eq!(ask(free, &trio(80, 80, 79)), Decision::Hold(Hold::WouldGrowAgain(name(2))));
}

#[test]
fn data_that_would_not_fit_stays() {
    let free = bounds(Some(1), None, None, Some(30));
    assert_eq!(ask(free, &[joined(0, 40), joined(1, 59)]), Decision::Hold(Hold::WouldGrowAgain(name(1))));
    assert_eq!(ask(free, &[joined(0, 40), joined(1, 60)]), remove(1));
    let large = PoolMember { capacity: 200, ..joined(1, 60) };
    assert_eq!(ask(free, &[joined(0, 40), large]), Decision::Hold(Hold::WouldGrowAgain(name(1))));
}

#[test]
fn nobody_to_remove_for_storage_is_said() {
    let free = bounds(Some(0), None, None, Some(30));
    assert_eq!(ask(free, &[disabled(joined(0, 0)), by_hand("extra", 90)]), Decision::Hold(Hold::NobodyMayGo));
    assert_eq!(ask(free, &[by_hand("extra", 90)]), AT_SIZE, "minNodes is 0 and so is the pool");
}

#[test]
fn a_full_cluster_creates_no_more() {
    let reserved = BTreeSet::new();
    let ask = |room| {
        let pool = Pool {
            name: "a",
            threshold: Threshold::Nodes(3),
            members: &[],
            reserved: &reserved,
            changed_at: None,
        };
        advise_pool(&pool, Around { holders_elsewhere: 0, room }).decision
    };
    assert_eq!(ask(0), Decision::Hold(Hold::ClusterFull));
    assert_eq!(ask(2), create(&[0, 1]));
    assert_eq!(ask(3), create(&[0, 1, 2]));
}

#[test]
fn ordinals_end_at_9999() {
    let reserved: BTreeSet<u32> = (0..9998).collect();
    let ask = |members: &[PoolMember]| {
        let threshold = Threshold::Nodes(3);
        let pool = Pool { name: "a", threshold, members, reserved: &reserved, changed_at: None };
        advise_pool(&pool, Around { holders_elsewhere: 0, room: 9 }).decision
    };
    assert_eq!(ask(&[]), create(&[9998, 9999]));
    assert_eq!(ask(&[joined(9998, 0), joined(9999, 0)]), Decision::Hold(Hold::ClusterFull));
}

mod who_goes {
    use super::*;

    /// Who goes when the pool has one too many; `elsewhere` members outside hold data.
    fn goes(members: &[PoolMember], elsewhere: usize) -> Decision {
        let reserved = BTreeSet::new();
        let wanted = u32::try_from(members.iter().filter(|m| m.counts()).count()).unwrap() - 1;
        let threshold = Threshold::Nodes(wanted);
        let pool = Pool { name: "a", threshold, members, reserved: &reserved, changed_at: None };
        advise_pool(&pool, Around { holders_elsewhere: elsewhere, room: 9 }).decision
    }

    fn failed(member: PoolMember) -> PoolMember {
        PoolMember { failed: true, ..member }
    }

    #[test]
    fn never_joined_and_failed_first_then_the_highest_ordinal() {
        assert_eq!(goes(&[joined(10, 0), joined(9, 0)], 1), remove(10), "by number, not by text");
        assert_eq!(goes(&[joined(2, 0), creating(1), joined(0, 0)], 1), remove(1));
        assert_eq!(goes(&[joined(2, 0), failed(joined(1, 0)), joined(0, 0)], 1), remove(1));
        assert_eq!(goes(&[failed(joined(0, 0)), creating(1), joined(2, 0)], 1), remove(1));
        assert_eq!(goes(&[failed(joined(2, 0)), creating(1), joined(3, 0)], 1), remove(2));
    }

    #[test]
    fn a_primary_only_after_a_switchover_and_only_if_no_other_may() {
        assert_eq!(goes(&[joined(0, 0), primary(joined(1, 0))], 1), remove(0));
        let last = Decision::Remove { member: name(1), switchover_first: true };
        assert_eq!(goes(&[disabled(joined(0, 0)), primary(joined(1, 0))], 1), last);
        assert_eq!(goes(&[primary(joined(0, 0)), primary(joined(1, 0))], 1), last);
    }

    #[test]
    fn never_a_disabled_member_or_one_made_by_hand() {
        assert_eq!(goes(&[joined(0, 0), disabled(joined(1, 0))], 1), remove(0));
        let all = [disabled(joined(0, 0)), disabled(joined(1, 0)), by_hand("extra", 0)];
        assert_eq!(goes(&all, 1), Decision::Hold(Hold::NobodyMayGo));
    }

    #[test]
    fn never_the_last_holder_of_data() {
        let empty = |n| PoolMember { data: Data::None, ..joined(n, 0) };
        assert_eq!(goes(&[empty(0), joined(1, 0)], 0), remove(0));
        assert_eq!(goes(&[joined(0, 0), joined(1, 0)], 0), remove(1), "the other still holds it");
        assert_eq!(goes(&[joined(0, 0)], 0), Decision::Hold(Hold::NobodyMayGo));
        assert_eq!(goes(&[joined(0, 0)], 1), remove(0));
        assert_eq!(goes(&[joined(1, 0), disabled(joined(0, 0))], 0), remove(1), "a disabled holder holds");
    }
}
