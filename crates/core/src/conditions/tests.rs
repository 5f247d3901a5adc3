//! Tests of the conditions toolkit.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use muster_api::names::{CLUSTER_CONDITIONS, ConditionType as T, MEMBER_CONDITIONS, Reason};
use proptest::prelude::*;

use super::*;
use crate::generation::Applied;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn condition(kind: T, truth: Truth, generation: i64) -> Condition {
    let mut list = Vec::new();
    set(&mut list, kind, Finding::new(truth, Reason::AsDesired, "text"), generation, at(0));
    list.remove(0)
}

fn with_reason(kind: T, truth: Truth, reason: Reason) -> Condition {
    Condition { reason: reason.into(), ..condition(kind, truth, 1) }
}

fn truths() -> impl Strategy<Value = Truth> {
    prop::sample::select(vec![Truth::True, Truth::False, Truth::Unknown])
}

mod setting {
    use super::*;

    #[test]
    fn an_equal_status_keeps_its_time_whatever_reason_and_message_do() {
        let mut list = Vec::new();
        set(&mut list, T::Ready, Finding::is_true(Reason::AsDesired, "one"), 1, at(10));
        set(&mut list, T::Ready, Finding::is_true(Reason::Parked, "two"), 2, at(20));
        let ready = get(&list, T::Ready).unwrap();
        assert_eq!(ready.last_transition_time, Time(at(10)));
        assert_eq!((ready.reason.as_str(), ready.message.as_str()), ("Parked", "two"));
        assert_eq!(ready.observed_generation, Some(2));
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn a_flip_moves_the_time() {
        let mut list = Vec::new();
        set(&mut list, T::Ready, Finding::is_true(Reason::AsDesired, ""), 1, at(10));
        set(&mut list, T::Ready, Finding::unknown(Reason::NotObserved, ""), 1, at(20));
        assert_eq!(get(&list, T::Ready).unwrap().last_transition_time, Time(at(20)));
        assert_eq!(get(&list, T::Ready).unwrap().status, "Unknown");
    }

    #[test]
    fn times_are_cut_to_the_second_as_they_are_stored() {
        let mut list = Vec::new();
        let now = Timestamp::new(10, 999_999_999).unwrap();
        set(&mut list, T::Ready, Finding::is_false(Reason::NotServing, ""), 1, now);
        assert_eq!(get(&list, T::Ready).unwrap().last_transition_time, Time(at(10)));
        let stored: Condition = serde_json::from_value(serde_json::to_value(&list[0]).unwrap()).unwrap();
        assert_eq!(stored, list[0]);
    }

    #[test]
    fn other_conditions_are_left_alone() {
        let mut list = vec![condition(T::Healthy, Truth::True, 1), condition(T::Ready, Truth::True, 1)];
        let healthy = list[0].clone();
        set(&mut list, T::Ready, Finding::is_false(Reason::NotServing, ""), 2, at(9));
        assert_eq!(list[0], healthy);
        assert_eq!(list.len(), 2);
    }

    #[test]
    fn truth_is_known_only_at_the_generation_asked_for() {
        for truth in [Truth::True, Truth::False, Truth::Unknown] {
            let list = [condition(T::Ready, truth, 3)];
            assert_eq!(truth_at(&list, T::Ready, 3), truth);
            assert_eq!(truth_at(&list, T::Ready, 2), Truth::Unknown);
            assert_eq!(truth_at(&list, T::Ready, 4), Truth::Unknown);
            assert_eq!(truth_at(&list, T::Healthy, 3), Truth::Unknown);
        }
        let silent = Condition { observed_generation: None, ..condition(T::Ready, Truth::True, 1) };
        assert_eq!(truth_at(&[silent], T::Ready, 0), Truth::Unknown);
    }

    #[test]
    fn a_garbled_status_is_no_knowledge() {
        assert_eq!(Truth::from_stored("True"), Truth::True);
        assert_eq!(Truth::from_stored("False"), Truth::False);
        for word in ["Unknown", "true", "", "yes"] {
            assert_eq!(Truth::from_stored(word), Truth::Unknown);
        }
    }

    #[test]
    fn equality_ignores_time_and_order_and_nothing_else() {
        let one = condition(T::Ready, Truth::True, 1);
        let two = condition(T::Healthy, Truth::True, 1);
        let later = Condition { last_transition_time: Time(at(99)), ..one.clone() };
        assert!(same(&[one.clone(), two.clone()], &[two.clone(), later]));
        let changes = [
            Condition { status: "False".into(), ..one.clone() },
            Condition { reason: "Other".into(), ..one.clone() },
            Condition { message: "other".into(), ..one.clone() },
            Condition { observed_generation: Some(2), ..one.clone() },
            two.clone(),
        ];
        for changed in changes {
            assert!(!same(std::slice::from_ref(&one), std::slice::from_ref(&changed)), "{changed:?}");
        }
        assert!(!same(std::slice::from_ref(&one), &[one.clone(), two.clone()]));
        assert!(!same(&[one.clone(), one.clone()], &[one.clone(), two]));
        assert!(same(&[], &[]));
    }

    proptest! {
        #[test]
        fn the_time_moves_exactly_when_the_status_flips(steps in prop::collection::vec((truths(), 0u8..3, 1i64..4), 1..20)) {
            let mut list = Vec::new();
            let mut expected = at(0);
            let mut last = None;
            for (second, (truth, reason, generation)) in (1i64..).zip(steps) {
                let finding = Finding::new(truth, Reason::ALL[usize::from(reason)], "");
                set(&mut list, T::Ready, finding, generation, at(second));
                if last != Some(truth) {
                    expected = at(second);
                }
                last = Some(truth);
                let ready = get(&list, T::Ready).unwrap();
                prop_assert_eq!(&ready.last_transition_time, &Time(expected));
                prop_assert_eq!(truth_at(&list, T::Ready, generation), truth);
            }
        }
    }
}

mod summarising {
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
}

mod resetting {
    use super::*;

    fn measured(truth: Truth) -> ClusterMeasurements {
        let finding = |text: &str| Finding::new(truth, Reason::Active, text);
        ClusterMeasurements {
            available: finding("Available"),
            healthy: finding("Healthy"),
            clustering_active: finding("ClusteringActive"),
            reconciliation_active: finding("ReconciliationActive"),
            recovering: finding("Recovering"),
            scaling_up: finding("ScalingUp"),
            scaling_down: finding("ScalingDown"),
            rolling_out: finding("RollingOut"),
        }
    }

    #[test]
    fn verdicts_become_unknown_and_measurements_are_restated() {
        for truth in [Truth::True, Truth::False, Truth::Unknown] {
            let mut list: Vec<Condition> =
                CLUSTER_CONDITIONS.iter().map(|kind| condition(*kind, Truth::True, 1)).collect();
            reset_cluster(&mut list, measured(truth), 2, at(50));
            assert_eq!(list.len(), CLUSTER_CONDITIONS.len());
            for c in &list {
                assert_eq!(c.observed_generation, Some(2), "{}", c.type_);
                if ["SpecValid", "InfrastructureReady", "ControlPlaneReady", "Ready"]
                    .contains(&c.type_.as_str())
                {
                    assert_eq!((c.status.as_str(), c.reason.as_str()), ("Unknown", "Reconciling"));
                    assert_eq!(c.message, "generation 2 is being applied");
                    assert_eq!(c.last_transition_time, Time(at(50)));
                } else {
                    assert_eq!((c.status.as_str(), c.message.as_str()), (truth.as_str(), c.type_.as_str()));
                }
            }
            assert_eq!(summarise_cluster(&list, 2).truth, Truth::Unknown);
        }
    }

    #[test]
    fn every_condition_of_a_fresh_cluster_is_there() {
        let mut list = Vec::new();
        reset_cluster(&mut list, measured(Truth::True), 1, at(0));
        for kind in CLUSTER_CONDITIONS {
            assert!(get(&list, *kind).is_some(), "{kind}");
        }
    }

    #[test]
    fn a_member_is_reset_alike() {
        let mut list: Vec<Condition> =
            MEMBER_CONDITIONS.iter().map(|kind| condition(*kind, Truth::True, 1)).collect();
        let now_is = MemberMeasurements {
            agent_connected: Finding::is_true(Reason::Connected, ""),
            joined: Finding::is_false(Reason::NotJoined, ""),
        };
        reset_member(&mut list, now_is, 2, at(0));
        let truth = |kind| truth_at(&list, kind, 2);
        for kind in [T::SpecValid, T::StorageReady, T::WorkloadReady, T::Ready] {
            assert_eq!(truth(kind), Truth::Unknown);
        }
        assert_eq!((truth(T::AgentConnected), truth(T::Joined)), (Truth::True, Truth::False));
        assert_eq!(list.len(), MEMBER_CONDITIONS.len());
    }
}

mod mirroring {
    use super::*;

    fn metadata(generation: i64) -> ObjectMeta {
        ObjectMeta { uid: Some("u".into()), generation: Some(generation), ..ObjectMeta::default() }
    }

    fn applied(generation: i64) -> Applied {
        Applied { uid: "u".into(), generation }
    }

    fn ask(generation: i64, observed: i64, list: &[Condition]) -> Finding {
        let metadata = metadata(generation);
        let child =
            Child { name: "m", metadata: &metadata, observed_generation: Some(observed), conditions: list };
        mirror(child, T::Ready, Some(&applied(2)))
    }

    #[test]
    fn a_current_childs_condition_is_repeated_with_its_name() {
        for truth in [Truth::True, Truth::False, Truth::Unknown] {
            let finding = ask(2, 2, &[condition(T::Ready, truth, 2)]);
            assert_eq!(finding, Finding { truth, reason: "AsDesired".into(), message: "m: text".into() });
        }
    }

    #[test]
    fn an_old_true_is_no_true() {
        let ready = condition(T::Ready, Truth::True, 2);
        let not_observed = ask(3, 2, std::slice::from_ref(&ready));
        assert_eq!(not_observed.truth, Truth::Unknown);
        assert_eq!(not_observed.message, "m has observed generation 2 of 3");
        let old = ask(3, 3, std::slice::from_ref(&ready));
        assert_eq!((old.truth, old.reason.as_str()), (Truth::Unknown, "NotObserved"));
        assert_eq!(old.message, "m reports Ready for another generation");
        assert_eq!(
            ask(1, 1, &[condition(T::Ready, Truth::True, 1)]).truth,
            Truth::Unknown,
            "older than applied"
        );
        let silent = ask(2, 2, &[]);
        assert_eq!((silent.truth, silent.message.as_str()), (Truth::Unknown, "m does not report Ready"));
    }

    #[test]
    fn a_foreign_reason_is_made_valid() {
        let odd = Condition { reason: "9 not valid!".into(), ..condition(T::Ready, Truth::False, 2) };
        assert_eq!(ask(2, 2, &[odd]).reason, "notvalid");
    }
}

mod messages {
    use super::*;

    #[test]
    fn a_message_is_cut_only_above_the_limit() {
        let fits = "é".repeat(MESSAGE_LIMIT);
        assert_eq!(message(fits.clone()), fits);
        let cut = message("é".repeat(MESSAGE_LIMIT + 1));
        assert_eq!(cut.chars().count(), MESSAGE_LIMIT);
        assert!(cut.ends_with("… (cut)"));
    }

    #[test]
    fn names_end_with_how_many_more() {
        let names_of = |n: usize| names(&(0..n).map(|i| format!("m{i}")).collect::<Vec<_>>());
        assert_eq!(names_of(0), "");
        assert_eq!(names_of(2), "m0, m1");
        assert_eq!(names_of(NAMES_LIMIT), "m0, m1, m2, m3, m4, m5, m6, m7, m8, m9");
        assert_eq!(names_of(NAMES_LIMIT + 3), "m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 3 more");
    }

    #[test]
    fn our_own_reasons_pass_unchanged() {
        for own in Reason::ALL {
            assert_eq!(reason(own.as_str()), own.as_str());
        }
        assert_eq!(reason(""), "Unspecified");
        assert_eq!(reason("Ends:"), "Ends");
        assert_eq!(reason("a:b,c_"), "a:b,c_");
        assert_eq!(reason(&"a".repeat(REASON_LIMIT + 1)).len(), REASON_LIMIT);
    }

    proptest! {
        #[test]
        fn any_reason_becomes_valid(word in ".{0,200}") {
            let valid = reason(&word);
            let ok = |c: char| c.is_ascii_alphanumeric() || c == '_';
            prop_assert!(valid.starts_with(|c: char| c.is_ascii_alphabetic()));
            prop_assert!(valid.ends_with(ok));
            prop_assert!(valid.chars().all(|c| ok(c) || c == ',' || c == ':'));
            prop_assert!(valid.len() <= REASON_LIMIT);
        }
    }
}
