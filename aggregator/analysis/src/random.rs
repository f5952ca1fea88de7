//! Reproducible random numbers for simulations.

use std::f64::consts::TAU;

/// `SplitMix64` (Steele, Lea and Flood 2014).
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// Returns a number below `bound`; a bias of `bound` / 2⁶⁴ does not matter.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Returns a pair of independent standard normal numbers (Box and Muller 1958).
    pub(crate) fn normal_pair(&mut self) -> (f64, f64) {
        let radius = (-2.0 * self.positive_share().ln()).sqrt();
        let (sine, cosine) = (TAU * self.positive_share()).sin_cos();
        (radius * cosine, radius * sine)
    }

    /// Returns a number above 0, up to 1.
    fn positive_share(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_samples_have_mean_0_and_deviation_1() {
        let mut random = SplitMix(7);
        let pairs: Vec<(f64, f64)> = (0..10_000).map(|_| random.normal_pair()).collect();
        let values = || pairs.iter().flat_map(|(one, other)| [*one, *other]);
        let mean = values().sum::<f64>() / 20_000.0;
        let variance = values().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
