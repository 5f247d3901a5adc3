//! Messages and reasons that fit.

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
