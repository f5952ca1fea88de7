//! JPEG: markers up to EOI, entropy-coded data skipped. Source: ITU-T T.81, annex B.

use super::{
    Damage, ENDS_EARLY, Facts, ReadableFormat, TRAILING, cursor::Cursor, is_padding, orientation_of,
};

/// Maximum number of scans. Real progressive files have about ten; each one may touch every block
/// of the image, so a file with thousands would occupy a decoder for minutes.
const MAX_SCANS: u32 = 100;

/// Walks a JPEG file.
pub(super) fn walk(bytes: &[u8]) -> Result<Facts, Damage> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(2)?;
    let mut walk = Walk::default();
    loop {
        let marker = walk.next_marker(&mut cursor)?;
        match marker {
            END => break,
            0x01 | 0xd0..=0xd7 => {}
            0xd8 => walk.note(TRAILING),
            _ => {
                let length = usize::from(cursor.u16_be()?);
                let content =
                    cursor.take(length.checked_sub(2).ok_or("a segment has no length")?)?;
                walk.take(marker, content)?;
                if marker == START_OF_SCAN {
                    walk.skip_scan(&mut cursor)?;
                }
            }
        }
    }
    if !is_padding(cursor.rest()) {
        walk.note(TRAILING);
    }
    walk.finish()
}

const END: u8 = 0xd9;
pub(super) const START_OF_SCAN: u8 = 0xda;

#[derive(Default)]
struct Walk {
    facts: Option<Facts>,
    orientation: Option<image::metadata::Orientation>,
    flaw: Option<&'static str>,
    blocks: u64,
    scans: u32,
    scanned: u64,
}

impl Walk {
    fn note(&mut self, flaw: &'static str) {
        self.flaw.get_or_insert(flaw);
    }

    fn next_marker(&mut self, cursor: &mut Cursor<'_>) -> Result<u8, Damage> {
        let garbage = memchr::memchr(0xff, cursor.rest()).ok_or(ENDS_EARLY)?;
        if garbage > 0 {
            self.note("it has bytes between its segments");
            cursor.take(garbage)?;
        }
        loop {
            match cursor.byte()? {
                0xff => {}
                0 => return Err("a marker is damaged"),
                marker => return Ok(marker),
            }
        }
    }

    fn take(&mut self, marker: u8, content: &[u8]) -> Result<(), Damage> {
        match marker {
            0xc0..=0xc2 => self.take_frame_header(marker == 0xc2, content)?,
            0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Err("its coding (lossless, hierarchical or arithmetic) is not supported");
            }
            0xe1 if self.orientation.is_none() && content.starts_with(b"Exif\0\0") => {
                self.orientation = Some(orientation_of(content));
            }
            START_OF_SCAN => {
                self.scans += 1;
                if self.facts.is_none() {
                    return Err("its image data comes before its header");
                }
                if self.scans > MAX_SCANS {
                    return Err("it has more than 100 scans");
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn take_frame_header(&mut self, progressive: bool, content: &[u8]) -> Result<(), Damage> {
        if self.facts.is_some() {
            return Err("it has two frame headers");
        }
        let mut cursor = Cursor::new(content);
        let bits = cursor.byte()?;
        let (height, width) = (u32::from(cursor.u16_be()?), u32::from(cursor.u16_be()?));
        let components = cursor.byte()?;
        if bits != 8 {
            return Err("it has more than 8 bits per sample, which is not supported");
        }
        if !matches!(components, 1 | 3 | 4) {
            return Err("its number of color components is not 1, 3 or 4");
        }
        let (mut across, mut down) = (1, 1);
        for _ in 0..components {
            let [_, sampling, _] = cursor.array()?;
            across = across.max(u32::from(sampling >> 4));
            down = down.max(u32::from(sampling & 0x0f));
        }
        self.blocks = u64::from(width.div_ceil(8 * across)) * u64::from(height.div_ceil(8 * down));
        let mut facts = Facts::still(ReadableFormat::Jpeg, width, height);
        facts.lossy = true;
        facts.cmyk = components == 4;
        // Output samples, and for progressive files two bytes more for each coefficient.
        facts.decoder_bytes_per_pixel = components * if progressive { 3 } else { 1 };
        self.facts = Some(facts);
        Ok(())
    }

    /// Skips entropy-coded data, in which 0xff is followed by 0 or a restart marker.
    fn skip_scan(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Damage> {
        loop {
            let data = memchr::memchr(0xff, cursor.rest()).ok_or(ENDS_EARLY)?;
            cursor.take(data)?;
            self.scanned = self.scanned.saturating_add(data as u64 + 1);
            match cursor.rest().get(1) {
                None => return Err(ENDS_EARLY),
                Some(0 | 0xd0..=0xd7) => cursor.take(2)?,
                Some(0xff) => cursor.take(1)?,
                Some(_) => return Ok(()),
            };
        }
    }

    fn finish(self) -> Result<Facts, Damage> {
        let mut facts = self.facts.ok_or("it has no image data")?;
        // Every block takes at least one bit in some scan.
        if self.scans == 0 || self.scanned.saturating_mul(8) < self.blocks {
            return Err("its image data is too short for its width and height");
        }
        facts.orientation = self.orientation.unwrap_or(facts.orientation);
        facts.flaw = self.flaw;
        Ok(facts)
    }
}
