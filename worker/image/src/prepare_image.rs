//! Preparation of one image, from its file to the bytes that are sent.

use super::{
    ImageError, ImageRules, PreparedImage, ReadableFormat,
    container::{self, Facts},
    decode::decode,
    encode::encode_within,
    format::describe_foreign,
    similarity_signature,
};
use bytes::Bytes;

/// Result of examining the container.
pub(super) enum Examined {
    /// The file is sent unchanged.
    Ready(PreparedImage),
    /// The file must be decoded and encoded again.
    NeedsWork(DecodeWork),
}

/// An image that must be decoded.
pub(super) struct DecodeWork {
    bytes: Bytes,
    facts: Facts,
    /// True if the file is sent unchanged, and is decoded for its signature alone.
    passes: bool,
}

impl DecodeWork {
    /// Decodes, shrinks, turns upright and encodes.
    pub fn execute(self, rules: &ImageRules) -> Result<PreparedImage, ImageError> {
        if self.passes {
            // An image that the judge can read is judged, with or without a signature.
            let picture = decode(&self.bytes, &self.facts).ok();
            let signature =
                picture.and_then(|picture| similarity_signature::from_picture(&picture.image));
            return Ok(PreparedImage { signature, ..unchanged(self.bytes, &self.facts) });
        }
        let mut picture = decode(&self.bytes, &self.facts)?;
        let (width, height) = rules.fit(self.facts.width, self.facts.height);
        // Shrinking comes before turning, so that fewer pixels are turned.
        picture.shrink(width, height)?;
        picture.image.apply_orientation(self.facts.orientation);
        let signature = similarity_signature::from_picture(&picture.image);
        let encoded = encode_within(picture, self.facts.lossy, rules)?;

        let mut notes = Vec::new();
        if self.facts.frames > 1 {
            notes.push(format!("first of {} frames", self.facts.frames));
        }
        if let Some(flaw) = self.facts.flaw {
            notes.push(format!("repaired: {flaw}"));
        }
        let (upright_width, upright_height) = self.facts.upright_dimensions();
        if (encoded.width, encoded.height) != (upright_width, upright_height) {
            notes.push(format!(
                "shrunk from {upright_width}x{upright_height} to {}x{}",
                encoded.width, encoded.height
            ));
        }
        if encoded.flattened {
            notes.push("transparency replaced by white".to_owned());
        }
        Ok(PreparedImage {
            bytes: encoded.bytes,
            media_type: encoded.format.media_type(),
            width: encoded.width,
            height: encoded.height,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            signature,
            unchanged: false,
        })
    }
}

/// Prepares an image. Pure and synchronous; takes milliseconds if pixels must be changed, so async
/// callers use [`super::PreparationPool`].
pub fn prepare(bytes: Bytes, rules: &ImageRules) -> Result<PreparedImage, ImageError> {
    match examine(bytes, rules)? {
        Examined::Ready(prepared) => Ok(prepared),
        Examined::NeedsWork(work) => work.execute(rules),
    }
}

/// Refuses a file that is not an image, or whose container is truncated or damaged. Decodes no
/// pixel.
pub fn check_container(bytes: &[u8]) -> Result<(), ImageError> {
    facts_of(bytes).map(drop)
}

/// Width and height of an image as a viewer shows it; `None` for a file that cannot be judged.
pub fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let facts = container::walk(ReadableFormat::from_bytes(bytes)?, bytes).ok()?;
    Some(facts.upright_dimensions())
}

/// The picture of a file, turned upright.
pub(super) fn decode_upright(bytes: &[u8]) -> Result<image::DynamicImage, ImageError> {
    let facts = facts_of(bytes)?;
    let mut picture = decode(bytes, &facts)?.image;
    picture.apply_orientation(facts.orientation);
    Ok(picture)
}

/// Examines the container only, without decoding a pixel.
pub(super) fn examine(bytes: Bytes, rules: &ImageRules) -> Result<Examined, ImageError> {
    let facts = facts_of(&bytes)?;
    let passes = may_pass(&facts, bytes.len(), rules);
    if !passes || rules.signatures {
        return Ok(Examined::NeedsWork(DecodeWork { bytes, facts, passes }));
    }
    Ok(Examined::Ready(unchanged(bytes, &facts)))
}

/// Facts in the container of a file.
pub(super) fn facts_of(bytes: &[u8]) -> Result<Facts, ImageError> {
    let format = ReadableFormat::from_bytes(bytes)
        .ok_or_else(|| ImageError::UnknownFormat { found: describe_foreign(bytes) })?;
    container::walk(format, bytes)
        .map_err(|damage| ImageError::Unreadable { format, reason: damage.to_owned() })
}

fn unchanged(bytes: Bytes, facts: &Facts) -> PreparedImage {
    PreparedImage {
        bytes,
        media_type: facts.format.media_type(),
        width: facts.width,
        height: facts.height,
        note: None,
        signature: None,
        unchanged: true,
    }
}

fn may_pass(facts: &Facts, length: usize, rules: &ImageRules) -> bool {
    facts.flaw.is_none()
        && facts.frames == 1
        && facts.bits == 8
        && !facts.cmyk
        && facts.orientation == image::metadata::Orientation::NoTransforms
        && rules.formats.contains(&facts.format)
        && length as u64 <= rules.max_bytes
        && rules.fit(facts.width, facts.height) == (facts.width, facts.height)
}
