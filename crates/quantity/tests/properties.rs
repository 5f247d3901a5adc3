//! Quantities over random texts, held against plain integers.
#![cfg(test)] // so that the lints for tests hold in helper functions too

use muster_quantity::{MILLI, NANO, Quantity, canonical};
use proptest::prelude::*;

/// What a quantity is in billionths, by plain arithmetic; none where that is not exact.
fn nanos(sign: i128, whole: u32, fraction: &str, suffix: &str) -> i128 {
    let decimals = u32::try_from(fraction.len()).unwrap();
    let digits: i128 = format!("{whole}{fraction}").parse().unwrap();
    let up = |number: i128, divisor: i128| number / divisor + i128::from(number % divisor != 0);
    let scaled = match suffix {
        "Ki" => digits << 10,
        "Mi" => digits << 20,
        "Gi" => digits << 30,
        "n" => return sign * up(digits, 10_i128.pow(decimals)),
        "u" => return sign * up(digits * 1_000, 10_i128.pow(decimals)),
        "m" => return sign * up(digits * 1_000_000, 10_i128.pow(decimals)),
        "k" | "e3" => digits * 1_000,
        "M" | "E6" => digits * 1_000_000,
        _ => digits,
    };
    sign * up(scaled * 1_000_000_000, 10_i128.pow(decimals))
}

prop_compose! {
    fn parts()(
        negative in any::<bool>(), whole in 0..100_000u32, fraction in "[0-9]{0,11}",
        suffix in prop::sample::select(vec!["", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "e3", "E6", "e0"]),
    ) -> (String, i128) {
        let point = if fraction.is_empty() { "" } else { "." };
        let text = format!("{}{whole}{point}{fraction}{suffix}", if negative { "-" } else { "" });
        (text, nanos(if negative { -1 } else { 1 }, whole, &fraction, suffix))
    }
}

fn read(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn they_compare_and_add_as_numbers_do(one in parts(), other in parts()) {
        let (first, second) = (read(&one.0), read(&other.0));
        prop_assert_eq!(first.cmp(&second), one.1.cmp(&other.1));
        prop_assert_eq!(first.sign(), one.1.cmp(&0));
        prop_assert_eq!(first.is_whole(), one.1 % 1_000_000_000 == 0);
        prop_assert_eq!(first.plus(&second), read(&format!("{}n", one.1 + other.1)));
    }

    #[test]
    fn what_is_printed_is_the_same_amount_and_printed_the_same_again(one in parts()) {
        let quantity = read(&one.0);
        let printed = quantity.to_string();
        prop_assert_eq!(&read(&printed), &quantity);
        prop_assert_eq!(&read(&printed).to_string(), &printed);
        prop_assert_eq!(&quantity.as_kubernetes_prints(), &printed);
    }

    #[test]
    fn what_a_server_gives_back_stays_as_it_is(one in parts(), finest in prop::sample::select(vec![NANO, MILLI])) {
        let given = canonical(&one.0, finest).unwrap();
        prop_assert_eq!(&canonical(&given, finest).unwrap(), &given);
        prop_assert_eq!(read(&given), read(&one.0).rounded_up(finest));
    }

    #[test]
    fn any_text_is_read_or_refused_everywhere_alike(text in "[+-]?[0-9]{0,30}[.]?[0-9]{0,30}[eEinumkKMGTP]{0,3}[+-]?[0-9]{0,11}") {
        prop_assert_eq!(text.parse::<Quantity>().is_ok(), canonical(&text, NANO).is_ok());
        if let Ok(quantity) = text.parse::<Quantity>() {
            prop_assert_eq!(read(&quantity.to_string()), quantity);
        }
    }
}

#[test]
fn quantities_have_one_form() {
    for (text, printed) in [
        ("1000m", "1"),
        ("1024Ki", "1Mi"),
        ("1.5", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("0.5", "500m"),
        ("0", "0"),
        ("00", "0"),
        ("0Gi", "0"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1000e3", "1e6"),
        ("100m", "100m"),
        ("+5", "+5"),
        ("2048", "2048"),
        ("1000", "1k"),
        ("0.1n", "1n"),
        ("-1000m", "-1"),
        ("512Mi", "512Mi"),
        ("1023Ki", "1023Ki"),
        ("8Ki", "8Ki"),
        ("0.5Ki", "512"),
        ("9Ei", "9223372036854775807"),
        (".5", "500m"),
        ("1e50", "100e48"),
        ("1.500", "1.500"),
        ("1234567.891Mi", "1294538260873216m"),
        ("10Pi", "10Pi"),
        ("100Pi", "100Pi"),
        ("0.001Ki", "1024m"),
        ("0.00001Ki", "10240u"),
        ("1.", "1."),
        ("1000E", "1"),
        ("Ki", "0"),
    ] {
        assert_eq!(canonical(text, NANO).as_deref(), Ok(printed), "{text}");
    }
    for text in ["", "x", "1x", "1Kim", "1 Gi", "1e"] {
        assert!(canonical(text, NANO).is_err(), "{text}");
    }
    assert_eq!(canonical("1.5m", MILLI).as_deref(), Ok("2m"));
    assert_eq!(read("1000E").to_string(), "1000E");
}
