//! PNG and APNG: chunks with their checksums, up to IEND. Source: PNG specification, third edition.

use super::{
    Damage, ENDS_EARLY, Facts, ReadableFormat, TRAILING,
    cursor::{Cursor, index},
    is_padding, orientation_of,
};

/// Maximum growth of a deflate stream when decompressed: 258 bytes from 2 bits.
const MAX_DEFLATE_GROWTH: u64 = 1032;

/// Walks a PNG file.
pub(super) fn walk(bytes: &[u8]) -> Result<Facts, Damage> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(8)?;
    let header = Chunk::read(&mut cursor)?;
    if &header.kind != b"IHDR" || !header.checksum_fits {
        return Err("its header chunk is missing or damaged");
    }
    let mut walk = Walk::start(header.content)?;
    loop {
        if cursor.rest().is_empty() {
            walk.facts.add_flaw("its end chunk is missing");
            break;
        }
        let chunk = Chunk::read(&mut cursor)?;
        if &chunk.kind == b"IEND" {
            if !is_padding(cursor.rest()) {
                walk.facts.add_flaw(TRAILING);
            }
            break;
        }
        walk.take(&chunk)?;
    }
    walk.finish()
}

struct Chunk<'a> {
    kind: [u8; 4],
    content: &'a [u8],
    checksum_fits: bool,
}

impl<'a> Chunk<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Damage> {
        let length = index(cursor.u32_be()?);
        let from_kind = cursor.rest();
        let kind = cursor.array()?;
        let content = cursor.take(length)?;
        let checked = from_kind.get(..length.saturating_add(4)).ok_or(ENDS_EARLY)?;
        let checksum_fits = crc32fast::hash(checked) == cursor.u32_be()?;
        Ok(Self { kind, content, checksum_fits })
    }

    /// True if decoders must understand the chunk to show the image.
    fn is_critical(&self) -> bool {
        self.kind.first().is_some_and(u8::is_ascii_uppercase)
    }
}

struct Walk {
    facts: Facts,
    samples: u64,
    needs_palette: bool,
    has_palette: bool,
    first_frame_is_default: bool,
    last_kind: [u8; 4],
    data_start: [u8; 2],
    data_length: usize,
}

impl Walk {
    fn start(header: &[u8]) -> Result<Self, Damage> {
        let mut cursor = Cursor::new(header);
        let (width, height) = (cursor.u32_be()?, cursor.u32_be()?);
        let [bits, color, compression, filter, interlace] = cursor.array()?;
        let samples: u8 = match (color, bits) {
            (0, 1 | 2 | 4 | 8 | 16) | (3, 1 | 2 | 4 | 8) => 1,
            (4, 8 | 16) => 2,
            (2, 8 | 16) => 3,
            (6, 8 | 16) => 4,
            _ => return Err("its header has an invalid color type and bit depth"),
        };
        if !cursor.rest().is_empty() || compression != 0 || filter != 0 || interlace > 1 {
            return Err("its header has an invalid compression, filter or interlace method");
        }
        let mut facts = Facts::still(ReadableFormat::Png, width, height);
        facts.bits = bits;
        // The decoder's output only, since it works on two rows; tRNS may add a sample.
        let output_samples = if matches!(color, 0 | 4) { 2 } else { 4 };
        facts.decoder_bytes_per_pixel = output_samples * if bits == 16 { 2 } else { 1 };
        Ok(Self {
            facts,
            samples: u64::from(samples),
            needs_palette: color == 3,
            has_palette: false,
            first_frame_is_default: false,
            last_kind: *b"IHDR",
            data_start: [0; 2],
            data_length: 0,
        })
    }

    fn take(&mut self, chunk: &Chunk<'_>) -> Result<(), Damage> {
        if !chunk.checksum_fits {
            if chunk.is_critical() {
                return Err("the checksum of a chunk is wrong");
            }
            self.facts.add_flaw("the checksum of an ancillary chunk is wrong");
        }
        match &chunk.kind {
            b"PLTE" => self.has_palette = !chunk.content.is_empty(),
            b"IDAT" => self.take_data(chunk.content),
            b"eXIf" => self.facts.orientation = orientation_of(chunk.content),
            b"acTL" if self.data_length == 0 => match Cursor::new(chunk.content).u32_be() {
                Ok(frames) if frames > 0 => self.facts.frames = frames,
                _ => self.facts.add_flaw("its animation has no frames"),
            },
            b"fcTL" if self.data_length == 0 => self.first_frame_is_default = true,
            b"IHDR" => return Err("it has two header chunks"),
            _ if chunk.is_critical() => return Err("it has a critical chunk of an unknown kind"),
            _ => {}
        }
        self.last_kind = chunk.kind;
        Ok(())
    }

    fn take_data(&mut self, content: &[u8]) {
        if self.data_length > 0 && &self.last_kind != b"IDAT" {
            self.facts.add_flaw("its image data is not in one piece");
        }
        for byte in content.iter().take(2_usize.saturating_sub(self.data_length)) {
            self.data_start = [self.data_start[1], *byte];
        }
        self.data_length = self.data_length.saturating_add(content.len());
    }

    fn finish(mut self) -> Result<Facts, Damage> {
        if self.data_length == 0 {
            return Err("it has no image data");
        }
        if self.needs_palette && !self.has_palette {
            return Err("its palette is missing");
        }
        if self.data_start[0] & 0x0f != 8 || !u16::from_be_bytes(self.data_start).is_multiple_of(31)
        {
            return Err("its image data does not start as a zlib stream");
        }
        let bits_per_row = u64::from(self.facts.width) * self.samples * u64::from(self.facts.bits);
        let raw = (1 + bits_per_row.div_ceil(8)).saturating_mul(u64::from(self.facts.height));
        if (self.data_length as u64).saturating_mul(MAX_DEFLATE_GROWTH) < raw {
            return Err("its image data is too short for its width and height");
        }
        // A still picture beside the animation is one more, and it is the one that decoders show.
        if self.facts.frames > 1 && !self.first_frame_is_default {
            self.facts.frames = self.facts.frames.saturating_add(1);
        }
        Ok(self.facts)
    }
}
