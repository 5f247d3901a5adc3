//! Exact decimal numbers of any size, with the few operations that quantities need.

use std::cmp::Ordering;
use std::ops::Neg;

/// `± digits × 10^exponent`, with neither leading nor trailing zeros among the digits; zero has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    /// Most significant first, each 0 to 9.
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// The number written as `whole.fraction`; both hold ASCII digits only.
    pub(crate) fn from_digits(whole: &str, fraction: &str) -> Self {
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte.wrapping_sub(b'0')).collect();
        let places = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
        Self { negative: false, digits, exponent: -places }.normalised()
    }

    fn normalised(mut self) -> Self {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent = self.exponent.saturating_add(1);
        }
        if self.digits.is_empty() { Self::default() } else { self }
    }

    /// The power of ten of the last digit that is not zero.
    pub(crate) fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Multiplies by `10^power`.
    pub(crate) fn times_ten_to_the(mut self, power: i32) -> Self {
        self.exponent = self.exponent.saturating_add(power);
        self.normalised()
    }

    /// Multiplies by `2^power`.
    pub(crate) fn times_two_to_the(mut self, power: i32) -> Self {
        for _ in 0..power {
            let mut carry = 0;
            for digit in self.digits.iter_mut().rev() {
                let doubled = *digit * 2 + carry;
                *digit = doubled % 10;
                carry = doubled / 10;
            }
            if carry > 0 {
                self.digits.insert(0, carry);
            }
        }
        self.normalised()
    }

    /// Rounds away from zero to a multiple of `10^exponent`.
    pub(crate) fn round_up(mut self, exponent: i32) -> Self {
        if self.exponent >= exponent {
            return self;
        }
        let dropped = usize::try_from(exponent - self.exponent).unwrap_or(usize::MAX);
        self.digits.truncate(self.digits.len().saturating_sub(dropped));
        self.exponent = exponent;
        // What was dropped was not zero, because a number has no trailing zeros.
        for digit in self.digits.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                return self.normalised();
            }
        }
        self.digits.insert(0, 1);
        self.normalised()
    }

    /// The digits of this number divided by `10^power`, which must leave a whole number.
    pub(crate) fn to_whole_string(&self, power: i32) -> String {
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        let zeros = usize::try_from(self.exponent - power).unwrap_or(0);
        let sign = if self.negative { "-" } else { "" };
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        format!("{sign}{digits}{}", "0".repeat(zeros))
    }

    /// The number, if it is whole and fits.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        let zeros = u32::try_from(self.exponent).ok()?;
        let sign = if self.negative { -1 } else { 1 };
        let mut number: i64 = 0;
        for digit in &self.digits {
            number = number.checked_mul(10)?.checked_add(sign * i64::from(*digit))?;
        }
        if number == 0 { Some(0) } else { number.checked_mul(10_i64.checked_pow(zeros)?) }
    }

    /// A whole number, held within what an `i64` can carry.
    pub(crate) fn to_i64_saturating(&self) -> i64 {
        self.as_i64().unwrap_or(if self.negative { i64::MIN } else { i64::MAX })
    }

    /// The sum, each part of it and itself held within what an `i64` can carry.
    pub(crate) fn plus_saturating(&self, other: &Self) -> Self {
        let (one, other) = (self.held(), other.held());
        let power = one.exponent.min(other.exponent).min(0);
        let scaled = |number: &Self| number.to_whole_string(power).parse::<i128>().unwrap_or(0);
        let sum = scaled(&one) + scaled(&other);
        let magnitude = Self::from_digits(&sum.unsigned_abs().to_string(), "").times_ten_to_the(power);
        if sum < 0 { -magnitude } else { magnitude }.held()
    }

    fn held(&self) -> Self {
        self.clone().clamp(Self::from(i64::MIN), Self::from(i64::MAX))
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        let size = |number: &Self| {
            let length = i32::try_from(number.digits.len()).unwrap_or(i32::MAX);
            if length == 0 { i32::MIN } else { length.saturating_add(number.exponent) }
        };
        // With the same first place, digits compare like fractions: a prefix is less.
        size(self).cmp(&size(other)).then_with(|| self.digits.cmp(&other.digits))
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        let magnitude = Self::from_digits(&number.unsigned_abs().to_string(), "");
        if number < 0 { -magnitude } else { magnitude }
    }
}

impl Neg for Decimal {
    type Output = Self;

    fn neg(mut self) -> Self {
        self.negative = !self.negative && !self.digits.is_empty();
        self
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
