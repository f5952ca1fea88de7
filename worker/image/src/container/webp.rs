//! WebP: RIFF chunks. Sources: the WebP container specification; RFC 6386, section 9.1.

use super::{
    Damage, ENDS_EARLY, Facts, ReadableFormat, TRAILING,
    cursor::{Cursor, index},
    is_padding, orientation_of,
};

const ANIMATED: u8 = 0x02;

/// Walks a WebP file.
pub(super) fn walk(bytes: &[u8]) -> Result<Facts, Damage> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(4)?;
    let length = index(cursor.little_u32()?);
    let mut chunks = Cursor::new(cursor.take(length)?);
    chunks.take(4)?;

    let mut walk = Walk::default();
    while !chunks.rest().is_empty() {
        let kind = chunks.array()?;
        let length = index(chunks.little_u32()?);
        let content = chunks.take(length)?;
        if length % 2 == 1 && !chunks.rest().is_empty() {
            chunks.take(1)?;
        }
        walk.take(kind, content)?;
    }
    let mut facts = walk.finish()?;
    if !is_padding(cursor.rest()) {
        facts.add_flaw(TRAILING);
    }
    Ok(facts)
}

#[derive(Default)]
struct Walk {
    canvas: Option<(u32, u32)>,
    picture: Option<(u32, u32)>,
    lossy: bool,
    animated: bool,
    frames: u32,
    orientation: Option<image::metadata::Orientation>,
}

impl Walk {
    fn take(&mut self, kind: [u8; 4], content: &[u8]) -> Result<(), Damage> {
        let mut cursor = Cursor::new(content);
        match &kind {
            b"VP8X" if self.canvas.is_none() => {
                let [flags, _, _, _] = cursor.array()?;
                self.animated = flags & ANIMATED != 0;
                self.canvas = Some((cursor.little_u24()? + 1, cursor.little_u24()? + 1));
            }
            b"VP8 " if self.picture.is_none() => {
                self.lossy = true;
                self.picture = Some(lossy_dimensions(&mut cursor)?);
            }
            b"VP8L" if self.picture.is_none() => {
                self.picture = Some(lossless_dimensions(&mut cursor)?);
            }
            b"ANMF" => self.frames = self.frames.saturating_add(1),
            b"EXIF" if self.orientation.is_none() => {
                self.orientation = Some(orientation_of(content));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Facts, Damage> {
        let (width, height) = match (self.canvas, self.picture) {
            (Some(canvas), None) if self.animated && self.frames > 0 => canvas,
            (Some(canvas), Some(picture)) if canvas == picture => canvas,
            (None, Some(picture)) => picture,
            (Some(_), Some(_)) => return Err("its picture and its canvas differ in size"),
            (_, None) => return Err("it has no image data"),
        };
        let mut facts = Facts::still(ReadableFormat::WebP, width, height);
        facts.lossy = self.lossy;
        facts.frames = self.frames.max(1);
        facts.orientation = self.orientation.unwrap_or(facts.orientation);
        if self.animated && facts.frames == 1 {
            facts.add_flaw("it is an animation of one frame");
        }
        Ok(facts)
    }
}

fn lossy_dimensions(cursor: &mut Cursor<'_>) -> Result<(u32, u32), Damage> {
    let tag = cursor.little_u24()?;
    if tag & 1 != 0 || cursor.array()? != [0x9d, 0x01, 0x2a] {
        return Err("its picture does not start with a key frame");
    }
    let (width, height) = (cursor.little_u16()? & 0x3fff, cursor.little_u16()? & 0x3fff);
    if cursor.rest().len() < index(tag >> 5) {
        return Err(ENDS_EARLY);
    }
    Ok((u32::from(width), u32::from(height)))
}

fn lossless_dimensions(cursor: &mut Cursor<'_>) -> Result<(u32, u32), Damage> {
    if cursor.byte()? != 0x2f {
        return Err("its picture does not start as a lossless one");
    }
    let bits = cursor.little_u32()?;
    Ok(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}
