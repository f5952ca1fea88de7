//! Search for small patches of a picture in another one.

use crate::{
    bounds::{pixels_of, shifted, shifts_within},
    raster::{Raster, channel_difference},
};

/// Contrast of neighbors above which both are at an edge, in levels.
const MIN_CONTRAST: u8 = 20;
/// Maximum number of pixels sampled from a patch.
const MAX_SAMPLES: usize = 56;
/// Maximum number of samples from which a patch is searched for at given places.
const MAX_ANCHORS: usize = 6;
/// Maximum distance from a likely shift at which a patch is searched too, in pixels across and down.
const NEAR: i32 = 12;
/// Mean difference of the samples at a good place, in levels.
const GOOD: u32 = 6;

/// A patch with enough contrast to be found again.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    /// Its pixels at edges, and those beside them.
    samples: Vec<[i32; 2]>,
}

impl Patch {
    /// The patch of a box (left, top, right, bottom); `None` if the box has too little contrast.
    pub fn new(picture: &Raster, bounds: [i32; 4]) -> Option<Self> {
        let is_edge = |&[x, y]: &[i32; 2]| {
            let near = [(1, 0), (0, 1), (-1, 0), (0, -1)];
            let mut near = near.iter().filter_map(|&(dx, dy)| picture.get(x + dx, y + dy));
            near.any(|near| channel_difference(picture.at(x, y), near) > MIN_CONTRAST)
        };
        let edge_pixels: Vec<[i32; 2]> = picture.places_in(bounds).filter(is_edge).collect();
        let step = edge_pixels.len().div_ceil(MAX_SAMPLES).max(1);
        let samples: Vec<[i32; 2]> = edge_pixels.into_iter().step_by(step).collect();
        (samples.len() >= 10).then_some(Self { samples })
    }

    /// The shift at which another picture shows the patch; `None` if it is not found within
    /// `reach`, nor near a likely shift, which may lie farther away. The likelier ones come first.
    pub fn find(
        &self,
        from: &Raster,
        to: &Raster,
        reach: [i32; 2],
        likely: &[[i32; 2]],
    ) -> Option<[i32; 2]> {
        let allowed = 14 * self.samples.len() as u32;
        let mut best = (self.cost(from, to, [0, 0], allowed)?, [0, 0]);
        if best.0 <= 2 * self.samples.len() as u32 {
            return Some([0, 0]);
        }
        let expected = likely.first().copied().unwrap_or_default();
        let mut compare = |shift: [i32; 2]| {
            if let Some(cost) = self.cost(from, to, shift, best.0.min(allowed))
                && (cost, rank(shift, expected)) < (best.0, rank(best.1, expected))
            {
                best = (cost, shift);
            }
            best
        };
        for shift in likely {
            if compare(*shift).0 == 0 {
                return Some(*shift);
            }
        }
        let near = reach.map(|most| most.min(NEAR));
        let places = likely
            .iter()
            .flat_map(|&[dx, dy]| shifts_within(near).map(move |[x, y]| [x + dx, y + dy]));
        // Prefer near matches: rows of a list repeat.
        if let Some((cost, shift)) = places.map(&mut compare).last()
            && cost <= GOOD * self.samples.len() as u32
        {
            return Some(shift);
        }
        for shift in shifts_within(reach) {
            compare(shift);
        }
        (best.0 < allowed).then_some(best.1)
    }

    /// True if another picture shows the patch anywhere, up to a mean difference in levels.
    pub fn is_anywhere(&self, from: &Raster, to: &Raster, max_difference: u32) -> bool {
        let first = self.samples.first().copied().unwrap_or_default();
        let mut shifts = pixels_of(shifted(to.bounds(), first.map(|part| -part)));
        let limit = max_difference * self.samples.len() as u32;
        shifts.any(|shift| self.cost(from, to, shift, limit).is_some_and(|cost| cost <= limit))
    }

    /// Shifts at which another picture shows the patch up to a mean difference in levels, with one
    /// of its pixels at one of these places; each after the sum of its differences.
    pub fn shifts_to(
        &self,
        from: &Raster,
        to: &Raster,
        max_difference: u32,
        places: impl Iterator<Item = [i32; 2]>,
    ) -> impl Iterator<Item = (u32, [i32; 2])> {
        let limit = max_difference * self.samples.len() as u32;
        let step = self.samples.len().div_ceil(MAX_ANCHORS).max(1);
        let anchors: Vec<_> = self.samples.iter().copied().step_by(step).collect();
        let shifts = places.flat_map(move |[x, y]| {
            let anchors = anchors.clone().into_iter();
            anchors.map(move |[own_x, own_y]| [x - own_x, y - own_y])
        });
        shifts.filter_map(move |shift| {
            let cost = self.cost(from, to, shift, limit).filter(|cost| *cost <= limit)?;
            Some((cost, shift))
        })
    }

    /// True if the samples are equal at a shift.
    pub fn is_exact(&self, from: &Raster, to: &Raster, [dx, dy]: [i32; 2]) -> bool {
        self.samples.iter().all(|&[x, y]| {
            to.get(x + dx, y + dy).is_some_and(|to| channel_difference(from.at(x, y), to) <= 2)
        })
    }

    /// The sum of differences at a shift; none above a limit.
    fn cost(&self, from: &Raster, to: &Raster, [dx, dy]: [i32; 2], limit: u32) -> Option<u32> {
        let mut total = 0;
        for &[x, y] in &self.samples {
            let other = to.get(x + dx, y + dy)?;
            total += u32::from(channel_difference(from.at(x, y), other));
            if total > limit {
                return Some(limit + 1);
            }
        }
        Some(total)
    }
}

/// Order of shifts with equal costs: the nearest to the expected one first, then from the top left.
fn rank([dx, dy]: [i32; 2], [across, down]: [i32; 2]) -> [i32; 3] {
    [(dx - across).abs() + (dy - down).abs(), dy, dx]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_found_where_it_went() {
        let mut from = Raster::filled(100, 60, [255; 3]);
        from.fill([20, 20, 12, 4], [0; 3]);
        from.fill([22, 26, 3, 6], [0; 3]);
        let mut to = Raster::filled(100, 60, [255; 3]);
        to.fill([25, 18, 12, 4], [0; 3]);
        to.fill([27, 24, 3, 6], [0; 3]);
        let patch = Patch::new(&from, [16, 16, 40, 36]).unwrap();
        assert_eq!(patch.find(&from, &to, [12, 12], &[]), Some([5, -2]));
        for likely in [[5, -2], [-5, 2], [0, 0], [90, 0]] {
            assert_eq!(patch.find(&from, &to, [12, 12], &[likely]), Some([5, -2]));
        }
        assert_eq!(patch.find(&from, &from, [12, 12], &[]), Some([0, 0]));
        assert_eq!(patch.find(&from, &Raster::filled(100, 60, [255; 3]), [12, 12], &[]), None);
        assert!(Patch::new(&from, [60, 0, 90, 20]).is_none());
    }
}
