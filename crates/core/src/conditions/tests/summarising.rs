//! Ready out of its inputs.

use super::*;

const INPUTS: [T; 4] = [T::SpecValid, T::InfrastructureReady, T::ControlPlaneReady, T::Available];
const MEMBER: [T; 5] = [T::SpecValid, T::StorageReady, T::WorkloadReady, T::AgentConnected, T::Joined];

fn all_true(kinds: &[T]) -> Vec<Condition> {
    kinds.iter().map(|kind| condition(*kind, Truth::True, 1)).collect()
}

#[test]
fn ready_is_true_when_all_inputs_are() {
    let ready = summarise_cluster(&all_true(&INPUTS), 1);
    assert_eq!((ready.truth, ready.reason.as_str()), (Truth::True, "AsDesired"));
    assert_eq!(summarise_member(&all_true(&MEMBER), 1).truth, Truth::True);
}

#[test]
fn ready_is_false_by_the_first_false_in_order() {
    for (i, kind) in INPUTS.iter().enumerate() {
        let mut list = all_true(&INPUTS);
        for later in &INPUTS[i..] {
            let text = format!("{later} is bad");
            set(&mut list, *later, Finding::is_false(Reason::Invalid, text), 1, at(0));
        }
        let ready = summarise_cluster(&list, 1);
        assert_eq!((ready.truth, ready.reason.as_str()), (Truth::False, "Invalid"));
        assert_eq!(ready.message, format!("{kind}: {kind} is bad"));
    }
}

#[test]
fn a_false_outweighs_an_unknown_before_it() {
    let mut list = all_true(&INPUTS);
    set(&mut list, T::SpecValid, Finding::unknown(Reason::Reconciling, ""), 1, at(0));
    set(&mut list, T::Available, Finding::is_false(Reason::NotServing, ""), 1, at(0));
    assert_eq!(summarise_cluster(&list, 1).truth, Truth::False);
}

#[test]
fn ready_is_unknown_when_one_input_is_unknown_absent_or_old() {
    for i in 0..INPUTS.len() {
        let mut absent = all_true(&INPUTS);
        absent.remove(i);
        assert_eq!(summarise_cluster(&absent, 1).truth, Truth::Unknown);
        for old in [condition(INPUTS[i], Truth::True, 0), condition(INPUTS[i], Truth::False, 2)] {
            let mut list = all_true(&INPUTS);
            list[i] = old;
            let ready = summarise_cluster(&list, 1);
            assert_eq!((ready.truth, ready.reason.as_str()), (Truth::Unknown, "NotObserved"));
            assert_eq!(ready.message, format!("not known yet: {}", INPUTS[i]));
        }
    }
}

#[test]
fn after_a_reset_it_says_reconciling() {
    let mut list = all_true(&INPUTS);
    set(&mut list, T::SpecValid, Finding::unknown(Reason::Reconciling, ""), 1, at(0));
    assert_eq!(summarise_cluster(&list, 1).reason, "Reconciling");
    set(&mut list, T::ControlPlaneReady, Finding::unknown(Reason::AgentsUnreachable, ""), 1, at(0));
    assert_eq!(summarise_cluster(&list, 1).reason, "NotObserved");
}

#[test]
fn stopped_clustering_makes_it_unknown_whatever_else_is_known() {
    for truth in [Truth::True, Truth::False] {
        for generation in [0, 1] {
            let mut list = all_true(&INPUTS);
            list[0] = condition(T::SpecValid, truth, 1);
            list.push(condition(T::ClusteringActive, Truth::False, generation));
            let ready = summarise_cluster(&list, 1);
            assert_eq!((ready.truth, ready.reason.as_str()), (Truth::Unknown, "ClusteringStopped"));
        }
    }
    for active in [Truth::True, Truth::Unknown] {
        let mut list = all_true(&INPUTS);
        list.push(condition(T::ClusteringActive, active, 1));
        assert_eq!(summarise_cluster(&list, 1).truth, Truth::True);
    }
}

#[test]
fn a_parked_cluster_is_ready() {
    let parked = || {
        vec![
            condition(T::SpecValid, Truth::True, 1),
            with_reason(T::InfrastructureReady, Truth::True, Reason::Parked),
            with_reason(T::ControlPlaneReady, Truth::True, Reason::Parked),
            with_reason(T::Available, Truth::False, Reason::Parked),
        ]
    };
    let ready = summarise_cluster(&parked(), 1);
    assert_eq!((ready.truth, ready.reason.as_str()), (Truth::True, "Parked"));
    for i in 0..4 {
        let mut list = parked();
        list[i].observed_generation = Some(0);
        assert_ne!(summarise_cluster(&list, 1).truth, Truth::True, "{i} is old");
        let mut list = parked();
        list[i].status = "Unknown".into();
        assert_ne!(summarise_cluster(&list, 1).truth, Truth::True, "{i} is unknown");
    }
    for i in 1..4 {
        let mut list = parked();
        list[i].reason = "Other".into();
        assert_ne!(summarise_cluster(&list, 1).truth, Truth::True, "{i} is not parked");
    }
    let mut stopped = parked();
    stopped.push(condition(T::ClusteringActive, Truth::False, 1));
    assert_eq!(summarise_cluster(&stopped, 1).truth, Truth::Unknown);
}

#[test]
fn a_member_is_ready_by_its_own_five() {
    for (i, kind) in MEMBER.iter().enumerate() {
        let mut list = all_true(&MEMBER);
        list[i] = condition(*kind, Truth::False, 1);
        assert_eq!(summarise_member(&list, 1).truth, Truth::False);
        list[i] = condition(*kind, Truth::True, 2);
        assert_eq!(summarise_member(&list, 1).truth, Truth::Unknown);
    }
}

proptest! {
    #[test]
    fn it_never_invents_a_true(inputs in prop::collection::vec((truths(), 0i64..3, any::<bool>()), 4), active in truths()) {
        let mut list: Vec<Condition> = Vec::new();
        for (kind, (truth, generation, present)) in INPUTS.iter().zip(&inputs) {
            if *present {
                list.push(condition(*kind, *truth, *generation));
            }
        }
        list.push(condition(T::ClusteringActive, active, 1));
        let here = |i: usize| if inputs[i].1 == 1 && inputs[i].2 { inputs[i].0 } else { Truth::Unknown };
        let expected = if active == Truth::False {
            Truth::Unknown
        } else if (0..4).any(|i| here(i) == Truth::False) {
            Truth::False
        } else if (0..4).any(|i| here(i) == Truth::Unknown) {
            Truth::Unknown
        } else {
            Truth::True
        };
        prop_assert_eq!(summarise_cluster(&list, 1).truth, expected);
    }
}
