//! Money as an integer of pico-dollars.

use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Sub, SubAssign},
    str::FromStr,
};

/// An amount of US dollars, exact to a millionth of a millionth; at most about 9.2 million dollars.
/// Sums saturate. Serialized as a decimal string, `"0.005927500"`, never as a float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Money(i64);

const PICO_PER_DOLLAR: i64 = 1_000_000_000_000;

const PICO_PER_NANO: u64 = 1_000;

impl Money {
    /// An amount of zero.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(i64::MAX);

    /// An amount of pico-dollars.
    pub const fn from_pico(pico: i64) -> Self {
        Self(pico)
    }

    /// The amount in pico-dollars.
    pub const fn pico(self) -> i64 {
        self.0
    }

    /// The product of a count and a unit price in pico-dollars, at most [`Money::MAX`].
    pub fn times(pico_each: u64, count: u64) -> Self {
        let product = u128::from(pico_each) * u128::from(count);
        Self(i64::try_from(product).unwrap_or(i64::MAX))
    }

    /// Returns the amount times `part` / `whole`, rounded up to a pico-dollar. `None` if `whole` is
    /// zero, or an amount is negative.
    pub fn scaled(self, part: Self, whole: Self) -> Option<Self> {
        let [amount, part, whole] = [self, part, whole].map(|money| u128::try_from(money.0).ok());
        let scaled = (amount? * part?).checked_add(whole? - u128::from(whole? > 0))?;
        i64::try_from(scaled.checked_div(whole?)?).ok().map(Self)
    }

    /// The amount of a decimal number in the notation of JSON (`5.9275e-3`), rounded up to a
    /// pico-dollar. `None` if it is negative, not a number, or beyond [`Money::MAX`].
    pub fn rounded_up(number: &str) -> Option<Self> {
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (number, 0_i32),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits: u128 = digits.parse().ok()?;
        // The number is digits × 10^shift pico-dollars.
        let shift = exponent.checked_add(12)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let power = 10_u128.checked_pow(shift.unsigned_abs());
        let pico = match (digits, shift < 0, power) {
            (0, ..) => 0,
            (digits, false, power) => digits.checked_mul(power?)?,
            (digits, true, Some(power)) => digits.div_ceil(power),
            (_, true, None) => 1,
        };
        i64::try_from(pico).ok().map(Self)
    }

    /// Approximate dollars, for display and ratios only.
    pub fn approximate_dollars(self) -> f64 {
        self.0 as f64 / PICO_PER_DOLLAR as f64
    }

    /// The exact amount for display, with two or more decimals.
    pub fn exact(self) -> String {
        let text = self.rounded(12);
        let zeros = text.bytes().rev().take(10).take_while(|digit| *digit == b'0').count();
        text.get(..text.len() - zeros).unwrap_or_default().to_owned()
    }

    /// The amount rounded away from zero to `places` decimals, for display.
    pub fn rounded(self, places: usize) -> String {
        let exponent = 12_u32.saturating_sub(u32::try_from(places.min(12)).unwrap_or(12));
        let unit = 10_u128.pow(exponent);
        let pico = u128::from(self.0.unsigned_abs()).div_ceil(unit) * unit;
        let whole = pico / PICO_PER_DOLLAR as u128;
        let fraction = pico % PICO_PER_DOLLAR as u128;
        let sign = if self.0 < 0 { "-" } else { "" };
        let digits: String = format!("{fraction:012}").chars().take(places.min(12)).collect();
        if digits.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{digits}") }
    }
}

impl fmt::Display for Money {
    /// Nine decimals, or twelve where nine are not exact.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = if self.0.unsigned_abs().is_multiple_of(PICO_PER_NANO) { 9 } else { 12 };
        formatter.write_str(&self.rounded(places))
    }
}

/// Text that is not an amount.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0:?} is not an amount in US dollars: use a decimal like 5 or 0.25, with at most 12 decimals and below 9000000"
)]
pub struct InvalidMoney(String);

impl FromStr for Money {
    type Err = InvalidMoney;

    fn from_str(text: &str) -> Result<Self, InvalidMoney> {
        parse(text).ok_or_else(|| InvalidMoney(text.chars().take(40).collect()))
    }
}

crate::serde_as_text::serde_as_text!(Money);

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

fn parse(text: &str) -> Option<Money> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let only_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    if !has_digits || !only_digits(whole) || !only_digits(fraction) || fraction.len() > 12 {
        return None;
    }
    let dollars: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let pico: i64 = format!("{fraction:0<12}").parse().ok()?;
    let amount = dollars.checked_mul(PICO_PER_DOLLAR)?.checked_add(pico)?;
    Some(Money(if negative { -amount } else { amount }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_round_trip_exactly() {
        for (text, pico, shown) in [
            ("5", 5 * PICO_PER_DOLLAR, "5.000000000"),
            ("0.0059275", 5_927_500_000, "0.005927500"),
            (".25", 250_000_000_000, "0.250000000"),
            ("-0.000000000001", -1, "-0.000000000001"),
        ] {
            let money: Money = text.parse().unwrap();
            assert_eq!(money.pico(), pico, "{text}");
            assert_eq!(money.to_string(), shown, "{text}");
            assert_eq!(money.to_string().parse::<Money>().unwrap(), money);
        }
    }

    #[test]
    fn invalid_amounts_are_refused() {
        for text in ["", ".", "-", "1e3", "1,5", "$5", "0.0000000000001", "99999999999", " 1"] {
            assert!(text.parse::<Money>().is_err(), "{text}");
        }
    }

    #[test]
    fn reported_amount_is_rounded_up_exactly() {
        for (number, pico) in [
            ("0.0059275", Some(5_927_500_000)),
            ("5.9275e-3", Some(5_927_500_000)),
            ("5.9275E-03", Some(5_927_500_000)),
            ("1e-13", Some(1)),
            ("1e-999", Some(1)),
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0e99", Some(0)),
            ("12", Some(12_000_000_000_000)),
            ("1.2e1", Some(12_000_000_000_000)),
            ("1e99", None),
            ("99999999", None),
            ("-1", None),
            ("None", None),
            ("", None),
            (".", None),
            ("1e", None),
        ] {
            assert_eq!(Money::rounded_up(number).map(Money::pico), pico, "{number}");
        }
    }

    #[test]
    fn displayed_amount_is_never_below_the_cost() {
        assert_eq!(Money::from_pico(1).rounded(2), "0.01");
        assert_eq!("1.999".parse::<Money>().unwrap().rounded(2), "2.00");
        assert_eq!("1.25".parse::<Money>().unwrap().rounded(2), "1.25");
        assert_eq!("7".parse::<Money>().unwrap().rounded(0), "7");
    }

    #[test]
    fn an_amount_is_scaled_by_a_ratio_and_rounded_up() {
        let scaled = |amount, part, whole| {
            Money::from_pico(amount)
                .scaled(Money::from_pico(part), Money::from_pico(whole))
                .map(Money::pico)
        };
        assert_eq!(scaled(10, 1, 3), Some(4));
        assert_eq!(scaled(9, 1, 3), Some(3));
        assert_eq!(scaled(i64::MAX, i64::MAX, i64::MAX), Some(i64::MAX));
        assert_eq!(scaled(i64::MAX, 2, 1), None);
        assert_eq!((scaled(1, 1, 0), scaled(-1, 1, 1)), (None, None));
    }

    #[test]
    fn sums_and_products_saturate() {
        assert_eq!(Money::times(u64::MAX, u64::MAX), Money::MAX);
        assert_eq!(Money::MAX + Money::from_pico(1), Money::MAX);
    }
}
