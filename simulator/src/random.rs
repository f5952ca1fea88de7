//! Reproducible pseudo-random numbers, the same on every machine and in every version.

/// SplitMix64: small, fast, and stable, unlike the generators of a library.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to just below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to `bound` - 1; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// One of the elements.
    pub(crate) fn pick<'a, T>(&mut self, elements: &'a [T]) -> Option<&'a T> {
        elements.get(usize::try_from(self.below(elements.len() as u64)).ok()?)
    }
}

/// Combines two seeds, so that a change of either changes the result.
pub(crate) fn mix(one: u64, other: u64) -> u64 {
    Random::new(one ^ other.rotate_left(32)).next() ^ other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_sequence_is_stable() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert!((0.0..1.0).contains(&random.unit()));
        assert_eq!(random.below(0), 0);
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
