//! BMP: the headers, and a check that the pixels they promise are there.

use super::{
    Damage, ENDS_EARLY, Facts, ReadableFormat,
    cursor::{Cursor, index},
};

/// Walks a BMP file.
pub(super) fn walk(bytes: &[u8]) -> Result<Facts, Damage> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(10)?;
    let start_of_pixels = index(cursor.little_u32()?);
    let (width, height, bits, compression) = if cursor.little_u32()? == 12 {
        let (width, height) = (cursor.little_u16()?, cursor.little_u16()?);
        let _planes = cursor.little_u16()?;
        (i64::from(width), i64::from(height), cursor.little_u16()?, 0)
    } else {
        let (width, height) = (signed(cursor.little_u32()?), signed(cursor.little_u32()?));
        let _planes = cursor.little_u16()?;
        (width, height, cursor.little_u16()?, cursor.little_u32()?)
    };
    let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height.unsigned_abs()))
    else {
        return Err("its width or height is invalid");
    };
    if !matches!(bits, 1 | 2 | 4 | 8 | 16 | 24 | 32) {
        return Err("its bits per pixel are invalid");
    }
    let row_bytes = (u64::from(width) * u64::from(bits)).div_ceil(32) * 4;
    let pixels = bytes.get(start_of_pixels..).ok_or(ENDS_EARLY)?;
    // 1 and 2 are run lengths; all other kinds store every pixel.
    let is_packed = matches!(compression, 1 | 2);
    if !is_packed && (pixels.len() as u64) < row_bytes.saturating_mul(u64::from(height)) {
        return Err("its pixels are fewer than its width and height promise");
    }
    let mut facts = Facts::still(ReadableFormat::Bmp, width, height);
    facts.decoder_bytes_per_pixel = 4;
    Ok(facts)
}

fn signed(value: u32) -> i64 {
    i64::from(value.cast_signed())
}
