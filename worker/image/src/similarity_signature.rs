//! Signatures of pictures: nearly equal pictures have signatures that differ in few bits.

use image::DynamicImage;
use juror_types::similarity_signature::SimilaritySignature;

/// Minimum number of set bits: pictures of one color have hardly any, and would all be near each
/// other.
const MIN_BITS: u32 = 16;

/// The difference hash (dHash) of an upright picture: shrunk to 9 by 8 gray pixels, one bit for
/// each that is lighter than its right neighbor. `None` if the picture is mostly of one color.
pub(super) fn from_picture(picture: &DynamicImage) -> Option<SimilaritySignature> {
    let small = picture.thumbnail_exact(9, 8).into_luma8();
    let rows = small.as_raw().chunks(9);
    let falls = rows.flat_map(|row| row.windows(2).map(|pair| pair.first() > pair.last()));
    let bits = falls.fold(0_u64, |bits, fall| bits << 1 | u64::from(fall));
    let is_telling = (MIN_BITS..=64 - MIN_BITS).contains(&bits.count_ones());
    is_telling.then(|| SimilaritySignature::new(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, Luma};

    fn checks(side: u32, shade: u8) -> DynamicImage {
        let dark = |x: u32, y: u32| (x / side + y / side).is_multiple_of(2);
        let shade = |x, y| Luma([if dark(x, y) { shade } else { 250 }]);
        GrayImage::from_fn(180, 160, shade).into()
    }

    #[test]
    fn near_equal_images_have_near_signatures_and_flat_ones_none() {
        let (first, paler) = (from_picture(&checks(40, 10)), from_picture(&checks(40, 90)));
        let distance = first.unwrap().distance(paler.unwrap());
        assert!(distance <= SimilaritySignature::MAX_DISTANCE, "{distance}");
        let other = from_picture(&checks(20, 10)).unwrap();
        assert!(first.unwrap().distance(other) > SimilaritySignature::MAX_DISTANCE);
        assert_eq!(from_picture(&GrayImage::from_pixel(180, 160, Luma([255])).into()), None);
    }
}
