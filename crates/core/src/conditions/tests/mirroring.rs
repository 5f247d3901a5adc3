//! A child's condition on its parent.

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
    assert_eq!(ask(1, 1, &[condition(T::Ready, Truth::True, 1)]).truth, Truth::Unknown, "older than applied");
    let silent = ask(2, 2, &[]);
    assert_eq!((silent.truth, silent.message.as_str()), (Truth::Unknown, "m does not report Ready"));
}

#[test]
fn a_foreign_reason_is_made_valid() {
    let odd = Condition { reason: "9 not valid!".into(), ..condition(T::Ready, Truth::False, 2) };
    assert_eq!(ask(2, 2, &[odd]).reason, "notvalid");
}
