//! Groups of near-equal inputs by their signatures.

use super::MAX_GROUPS;
use juror_types::similarity_signature::SimilaritySignature;
use std::collections::HashMap;

/// Groups of signatures near their first member: the distance to it is bounded, so groups do not
/// grow along chains.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearGroups {
    leaders: Vec<SimilaritySignature>,
    /// Groups by one byte of their leader and its position. Two signatures of eight bytes that
    /// differ in at most seven bits have a byte in common.
    by_byte: HashMap<(usize, u8), Vec<usize>>,
}

impl NearGroups {
    /// The number of the group with the nearest first member; a new one where none is near, and
    /// none beyond the maximum number of groups.
    pub(crate) fn number(&mut self, signature: SimilaritySignature) -> Option<usize> {
        let bytes = || signature.bytes().into_iter().enumerate();
        let candidates = bytes().filter_map(|place| self.by_byte.get(&place)).flatten();
        let distances = candidates.filter_map(|number| {
            let distance = self.leaders.get(*number)?.distance(signature);
            (distance <= SimilaritySignature::MAX_DISTANCE).then_some((distance, *number))
        });
        if let Some((_, number)) = distances.min() {
            return Some(number);
        }
        let number = self.leaders.len();
        if number >= MAX_GROUPS {
            return None;
        }
        self.leaders.push(signature);
        for place in bytes() {
            self.by_byte.entry(place).or_default().push(number);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_near_the_first_member_join_its_group() {
        let mut groups = NearGroups::default();
        let first = 0x0123_4567_89ab_cdef_u64;
        assert_eq!(groups.number(SimilaritySignature::new(first)), Some(0));
        // Seven bits in seven different bytes leave one byte alone.
        let seven: u64 = (0..7).map(|byte| 1 << (8 * byte)).sum();
        assert_eq!(groups.number(SimilaritySignature::new(first ^ seven)), Some(0));
        let eight: u64 = (0..8).map(|byte| 1 << (8 * byte)).sum();
        assert_eq!(groups.number(SimilaritySignature::new(first ^ eight)), Some(1));
        // Near both: the nearer one.
        assert_eq!(groups.number(SimilaritySignature::new(first ^ eight ^ 1)), Some(1));
        assert_eq!(groups.number(SimilaritySignature::new(!first)), Some(2));
    }
}
