//! Manually written verdicts.

use juror_types::id::Digest;
use serde_json::Value;
use std::collections::HashMap;

/// Recorded verdicts. A request is identified by the digests of its images, in order, and, where
/// items share images, by the digest of the text that distinguishes them (an item's code or style).
/// Further images after the recorded ones, as measured evidence adds them, do not change the
/// identity.
#[derive(Clone, Debug, Default)]
pub struct HandwrittenVerdicts(HashMap<(Vec<Digest>, Option<Digest>), Value>);

impl HandwrittenVerdicts {
    /// Creates an empty book.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a verdict; `text` is the [`item_text_digest`](crate::item_text_digest) of the item's
    /// code or style. Without one, the verdict applies to every request with these images that has
    /// no verdict of its own.
    pub fn insert(&mut self, images: &[Digest], text: Option<Digest>, reply: Value) {
        self.0.insert((images.to_vec(), text), reply);
    }

    /// True if there is no reply in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Verdict for a request with these images and this text: of those for a prefix of the images,
    /// the one for the longest.
    pub fn find(&self, images: &[Digest], text: Option<Digest>) -> Option<&Value> {
        let beginnings = (0..=images.len()).rev().filter_map(|length| images.get(..length));
        beginnings.map(<[Digest]>::to_vec).find_map(|known| {
            let exact = self.0.get(&(known.clone(), text));
            exact.or_else(|| self.0.get(&(known, None)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_distinguishes_requests_about_the_same_images() {
        let [image, right, wrong, other] =
            [b"a", b"b", b"c", b"d"].map(|text| Digest::from_content(text));
        let mut book = HandwrittenVerdicts::new();
        book.insert(&[image], Some(right), json!(10));
        book.insert(&[image], Some(wrong), json!(3));
        book.insert(&[image, other], None, json!(7));
        assert_eq!(book.find(&[image], Some(right)), Some(&json!(10)));
        assert_eq!(book.find(&[image], Some(wrong)), Some(&json!(3)));
        assert_eq!(book.find(&[image], None), None);
        assert_eq!(book.find(&[image, other], Some(wrong)), Some(&json!(7)));
        assert_eq!(book.find(&[other, image], None), None);
    }

    #[test]
    fn images_after_the_recorded_ones_do_not_change_the_request() {
        let [image, restyled, drawn] = [b"a", b"b", b"c"].map(|text| Digest::from_content(text));
        let mut book = HandwrittenVerdicts::new();
        book.insert(&[image], None, json!(10));
        book.insert(&[image, restyled], None, json!(7));
        assert_eq!(book.find(&[image, drawn], None), Some(&json!(10)));
        assert_eq!(book.find(&[image, restyled, drawn], None), Some(&json!(7)));
        assert_eq!(book.find(&[drawn, image], None), None);
    }
}
