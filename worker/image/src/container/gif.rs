//! GIF: blocks up to the trailer, frames counted. Source: GIF89a specification.

use super::{Damage, ENDS_EARLY, Facts, ReadableFormat, TRAILING, cursor::Cursor, is_padding};

/// Walks a GIF file.
pub(super) fn walk(bytes: &[u8]) -> Result<Facts, Damage> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(6)?;
    let (width, height) = (cursor.little_u16()?, cursor.little_u16()?);
    let [flags, _background, _aspect] = cursor.array()?;
    skip_color_table(&mut cursor, flags)?;

    let mut facts = Facts::still(ReadableFormat::Gif, u32::from(width), u32::from(height));
    facts.frames = 0;
    loop {
        match next_block(&mut cursor) {
            Ok(GifBlock::Frame) => facts.frames = facts.frames.saturating_add(1),
            Ok(GifBlock::Extension) => {}
            Ok(GifBlock::Trailer) => break,
            // The first image, which is the judged one, is complete.
            Err(_) if facts.frames > 0 => {
                facts.add_flaw(ENDS_EARLY);
                break;
            }
            Err(damage) => return Err(damage),
        }
    }
    if facts.frames == 0 {
        return Err("it has no image data");
    }
    if !is_padding(cursor.rest()) {
        facts.add_flaw(TRAILING);
    }
    Ok(facts)
}

enum GifBlock {
    Frame,
    Extension,
    Trailer,
}

fn next_block(cursor: &mut Cursor<'_>) -> Result<GifBlock, Damage> {
    match cursor.byte()? {
        0x2c => {
            cursor.take(8)?;
            let flags = cursor.byte()?;
            skip_color_table(cursor, flags)?;
            let _code_size = cursor.byte()?;
            skip_sub_blocks(cursor)?;
            Ok(GifBlock::Frame)
        }
        0x21 => {
            let _label = cursor.byte()?;
            skip_sub_blocks(cursor)?;
            Ok(GifBlock::Extension)
        }
        0x3b => Ok(GifBlock::Trailer),
        _ => Err("it has a block of an unknown kind"),
    }
}

fn skip_color_table(cursor: &mut Cursor<'_>, flags: u8) -> Result<(), Damage> {
    if flags & 0x80 != 0 {
        cursor.take(3 << ((flags & 0x07) + 1))?;
    }
    Ok(())
}

fn skip_sub_blocks(cursor: &mut Cursor<'_>) -> Result<(), Damage> {
    loop {
        match cursor.byte()? {
            0 => return Ok(()),
            length => cursor.take(usize::from(length))?,
        };
    }
}
