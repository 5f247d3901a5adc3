//! Quantities: forms that are known, and properties over random ones. That a real API server agrees is proven in
//! `real_crds`.
#![cfg(test)] // so that the lints for tests hold in helper functions too

use std::cmp::Ordering;

use muster_api::Quantity;
use muster_api::limits::{QUANTITY_PATTERN, UNSIGNED_QUANTITY_PATTERN};
use proptest::prelude::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn canonical_forms_are_those_of_kubernetes() {
    let forms = [
        ("0", "0"),
        ("-0", "0"),
        ("0Gi", "0"),
        ("00012", "12"),
        ("+7", "7"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1.5", "1500m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("5.", "5"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("1023Ki", "1023Ki"),
        ("1Ei", "1Ei"),
        ("12e6", "12e6"),
        ("12E6", "12e6"),
        ("1e-5", "10e-6"),
        ("1200e1", "12e3"),
        ("1000e0", "1e3"),
        ("-2Gi", "-2Gi"),
        ("1E", "1E"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("9Ei", "9223372036854775807"),
        ("-9Ei", "-9223372036854775807"),
    ];
    for (text, canonical) in forms {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn a_decimal_beyond_exa_keeps_its_unit() {
    assert_eq!(quantity("1000E").to_string(), "1000E");
    assert_eq!(quantity("1000000000000000000000000").to_string(), "1000000E");
}

#[test]
fn what_is_not_a_quantity_is_refused() {
    let wrong = [
        "", "+", "-", ".", "Gi", "1 Gi", " 1", "1Gi ", "1gi", "1K", "1e", "1e+", "1e1.5", "1e100", "1eE",
        "1..2", "1.2.3", "--1", "+-1", "0x10", "1,5", "1Kii", "١", "1e٣", "1é",
    ];
    for text in wrong {
        assert!(text.parse::<Quantity>().is_err(), "{text:?} was accepted");
    }
    assert!("1".repeat(65).parse::<Quantity>().is_err());
}

#[test]
fn bytes_are_whole_and_held_within_their_type() {
    let amounts = [
        ("1Ki", 1024),
        ("1500m", 2),
        ("-1500m", -2),
        ("1n", 1),
        ("0", 0),
        ("9223372036854775807", i64::MAX),
        ("1e30", i64::MAX),
        ("-1e30", i64::MIN),
        ("-9223372036854775808", i64::MIN),
    ];
    for (text, bytes) in amounts {
        assert_eq!(quantity(text).bytes(), bytes, "{text}");
    }
    assert_eq!(Quantity::from_bytes(10 << 30).to_string(), "10Gi");
    assert_eq!(Quantity::from_bytes(1000).to_string(), "1k");
    assert_eq!(Quantity::from_bytes(2000).to_string(), "2000");
    assert_eq!(Quantity::from_bytes(i64::MIN).bytes(), i64::MIN);
}

#[test]
fn manifests_may_hold_an_integer_or_a_string() {
    let read = |json: &str| serde_json::from_str::<Quantity>(json);
    assert_eq!(read("10").unwrap(), quantity("10"));
    assert_eq!(read("-10").unwrap(), quantity("-10"));
    assert_eq!(read("18446744073709551615").unwrap(), quantity("18446744073709551615"));
    assert_eq!(read("\"10Gi\"").unwrap(), quantity("10Gi"));
    for wrong in ["1.5", "null", "true", "[]", "\"ten\""] {
        assert!(read(wrong).is_err(), "{wrong} was accepted");
    }
    assert_eq!(serde_json::to_string(&quantity("0.5")).unwrap(), "\"500m\"");
}

/// The parts of a quantity that is small enough for plain integers to be exact.
#[derive(Clone, Debug)]
struct Parts {
    negative: bool,
    whole: u32,
    fraction: String,
    suffix: &'static str,
}

impl Parts {
    fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let point = if self.fraction.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{}{}", self.whole, self.fraction, self.suffix)
    }

    /// The amount in billionths, by integer arithmetic alone.
    fn nanos(&self) -> i128 {
        let digits: i128 = format!("{}{}", self.whole, self.fraction).parse().unwrap();
        let places = u32::try_from(self.fraction.len()).unwrap();
        let (factor, divisor): (i128, i128) = match self.suffix {
            "n" => (1, 1_000_000_000),
            "u" => (1, 1_000_000),
            "m" => (1, 1000),
            "" => (1, 1),
            "k" | "e3" => (1000, 1),
            "G" | "E9" => (1_000_000_000, 1),
            "E" => (1_000_000_000_000_000_000, 1),
            "e-12" => (1, 1_000_000_000_000),
            "Ki" => (1 << 10, 1),
            "Gi" => (1 << 30, 1),
            "Ei" => (1 << 60, 1),
            other => panic!("{other}"),
        };
        let divisor = divisor * 10_i128.pow(places);
        let nanos = (digits * factor * 1_000_000_000 + divisor - 1) / divisor;
        let most = if self.suffix.ends_with('i') { i128::from(i64::MAX) * 1_000_000_000 } else { i128::MAX };
        let magnitude = nanos.min(most);
        if self.negative { -magnitude } else { magnitude }
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let suffixes =
        prop::sample::select(vec!["n", "u", "m", "", "k", "e3", "G", "E9", "E", "e-12", "Ki", "Gi", "Ei"]);
    // Small numbers meet each other more often; with 9 digits and an exa unit the model stays within an i128.
    let whole = prop_oneof![0_u32..20, 0_u32..3000, 0_u32..100_000];
    (any::<bool>(), whole, "[0-9]{0,4}", suffixes).prop_map(|(negative, whole, fraction, suffix)| Parts {
        negative,
        whole,
        fraction,
        suffix,
    })
}

proptest! {
    #[test]
    fn order_agrees_with_exact_arithmetic(a in parts(), b in parts()) {
        let (left, right) = (quantity(&a.text()), quantity(&b.text()));
        prop_assert_eq!(left.cmp(&right), a.nanos().cmp(&b.nanos()), "{} {}", a.text(), b.text());
        prop_assert_eq!(left == right, left.cmp(&right) == Ordering::Equal);
        prop_assert_eq!(left.is_positive(), a.nanos() > 0);
        prop_assert_eq!(left.is_zero(), a.nanos() == 0);
        let rounded = (a.nanos().abs() + 999_999_999) / 1_000_000_000 * a.nanos().signum();
        prop_assert_eq!(i128::from(left.bytes()), rounded.clamp(i64::MIN.into(), i64::MAX.into()));
    }

    #[test]
    fn what_the_schema_admits_parses_and_survives_printing(text in QUANTITY_PATTERN.trim_matches(['^', '$'])) {
        prop_assume!(text.len() <= 32);
        let parsed = quantity(&text);
        let printed = parsed.to_string();
        prop_assert_eq!(&quantity(&printed), &parsed, "{} printed as {}", text, printed);
        prop_assert_eq!(quantity(&printed).to_string(), printed);
        let json = serde_json::to_string(&parsed).unwrap();
        prop_assert_eq!(serde_json::from_str::<Quantity>(&json).unwrap(), parsed);
    }

    #[test]
    fn an_unsigned_quantity_is_never_negative(text in UNSIGNED_QUANTITY_PATTERN.trim_matches(['^', '$'])) {
        prop_assume!(text.len() <= 32);
        prop_assert!(quantity(&text) >= Quantity::default());
    }

    #[test]
    fn bytes_come_back(bytes in -i64::MAX..=i64::MAX) {
        prop_assert_eq!(Quantity::from_bytes(bytes).bytes(), bytes);
        prop_assert_eq!(quantity(&Quantity::from_bytes(bytes).to_string()).bytes(), bytes);
    }

    #[test]
    fn parsing_never_panics(text in "[-+0-9.eEinumkKMGTP]{0,40}|.{0,12}") {
        let _ = text.parse::<Quantity>();
    }
}
