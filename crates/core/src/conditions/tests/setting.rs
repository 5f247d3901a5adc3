//! Setting, reading and comparing conditions.

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
