//! Ratio of a provider's count of input tokens to the expected one, learned from its bills, to use
//! rate limits well. Money is always reserved by the bound.

use crate::cost_bounds::Bounds;
use std::sync::atomic::{AtomicU64, Ordering};

/// A ratio of 1.
const ONE: u64 = 1_000;
/// Divisor of the difference by which a bill lowers the ratio; a bill raises it immediately.
const LOWERING_DIVISOR: u64 = 32;
/// Minimum change of the ratio that is shared with other processes, in thousandths.
const MIN_SHARED_CHANGE: u64 = 20;

/// The ratio before the first bill. Reservations made before it keep their place when fewer tokens
/// turn out to be needed, so the bound, which may be a multiple, would slow down the first seconds
/// of many workers.
const FIRST: u64 = 1_250;

/// Billed input tokens over expected ones, in thousandths; 0 before the first bill.
#[derive(Debug, Default)]
pub struct TokenScale(AtomicU64);

impl TokenScale {
    /// The input tokens that a call counts with: the expected ones, corrected by the learned ratio,
    /// or a quarter more before the first bill.
    pub fn counted(&self, bounds: &Bounds) -> u64 {
        let expected = bounds.expected.input_tokens;
        let ratio = match self.0.load(Ordering::Relaxed) {
            0 => FIRST,
            ratio => ratio,
        };
        expected.saturating_mul(ratio).div_ceil(ONE).min(bounds.input_tokens)
    }

    /// Adopts the ratio that processes share.
    pub fn apply_shared(&self, shared: u64) {
        self.0.store(shared.max(1), Ordering::Relaxed);
    }

    /// True if a bill has been learned from.
    pub fn is_learned(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Learns from a bill; returns the ratio if other processes should know it.
    pub fn learn(&self, bounds: &Bounds, billed: u64) -> Option<u64> {
        let expected = bounds.expected.input_tokens.max(1);
        let ratio = billed.saturating_mul(ONE).div_ceil(expected).max(1);
        let follow =
            |known: u64| Some(ratio.max(known - known.saturating_sub(ratio) / LOWERING_DIVISOR));
        let known = match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, follow) {
            Ok(known) | Err(known) => known,
        };
        (ratio.abs_diff(known) > known.saturating_mul(MIN_SHARED_CHANGE) / ONE).then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::usage::{Money, Usage};

    fn bounds(expected: u64, most: u64) -> Bounds {
        Bounds {
            input_tokens: most,
            max_output_tokens: 0,
            worst_cost: Money::ZERO,
            worst_job_cost: Money::ZERO,
            expected: Usage { input_tokens: expected, ..Usage::default() },
            expected_cost: Money::ZERO,
        }
    }

    #[test]
    fn counts_have_a_quarter_margin_until_a_bill_corrects_them() {
        let scale = TokenScale::default();
        assert_eq!(scale.counted(&bounds(100, 200)), 125);
        assert_eq!(scale.counted(&bounds(100, 110)), 110, "never more than the bound");
        assert!(!scale.is_learned());
        scale.learn(&bounds(100, 200), 110);
        assert!(scale.is_learned());
        assert_eq!(scale.counted(&bounds(100, 200)), 110);
        assert_eq!(scale.counted(&bounds(1_000, 1_050)), 1_050);
    }

    #[test]
    fn scale_rises_immediately_and_falls_slowly() {
        let scale = TokenScale::default();
        let call = bounds(1_000, 9_000);
        scale.learn(&call, 1_000);
        scale.learn(&call, 1_500);
        assert_eq!(scale.counted(&call), 1_500);
        scale.learn(&call, 1_000);
        assert_eq!(scale.counted(&call), 1_485);
        for _ in 0..500 {
            scale.learn(&call, 1_000);
        }
        assert!(scale.counted(&call) < 1_050);
    }

    #[test]
    fn absurd_bills_do_not_overflow() {
        let scale = TokenScale::default();
        scale.learn(&bounds(0, 5), u64::MAX);
        assert_eq!(scale.counted(&bounds(u64::MAX, 5)), 5);
        scale.learn(&bounds(u64::MAX, 5), 0);
    }

    #[test]
    fn changed_ratio_is_shared() {
        let (scale, other) = (TokenScale::default(), TokenScale::default());
        let call = bounds(1_000, 9_000);
        assert_eq!(scale.learn(&call, 1_100), Some(1_100));
        assert_eq!(scale.learn(&call, 1_110), None);
        assert_eq!(scale.learn(&call, 900), Some(900));
        other.apply_shared(1_100);
        assert_eq!(other.counted(&call), 1_100);
    }
}
