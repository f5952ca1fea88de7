//! JPEG: quantization tables and sampling of the components. Source: ITU-T T.81, annex B.

use super::{cursor::Cursor, jpeg::START_OF_SCAN};

const QUANTIZATION_TABLES: u8 = 0xdb;
const ADOBE: u8 = 0xee;

/// Places of the coefficients of a block, row by row, in the order of a file: ITU-T T.81, figure A.6.
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Divisors of the coefficients of a block, row by row.
pub(in super::super) type QuantizationTable = [u16; 64];

/// Headers of a picture of brightness and two colors.
#[derive(Default)]
pub(in super::super) struct JpegHeaders {
    tables: [Option<QuantizationTable>; 4],
    /// Brightness, blueness, redness.
    pub components: Option<[Component; 3]>,
}

/// A component of the picture.
#[derive(Clone, Copy)]
pub(in super::super) struct Component {
    /// Samples across and down, in units of those of the coarsest component.
    pub sampling: (u8, u8),
    /// Number of its quantization table.
    pub table: u8,
}

/// Headers before the first scan; `None` if they are damaged, or of red, green and blue.
pub(in super::super) fn jpeg_headers(bytes: &[u8]) -> Option<JpegHeaders> {
    let mut headers = JpegHeaders::default();
    headers.read(bytes)?;
    Some(headers)
}

impl JpegHeaders {
    /// The quantization table of a component.
    pub fn table(&self, component: Component) -> Option<QuantizationTable> {
        self.tables.get(usize::from(component.table)).copied().flatten()
    }

    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(bytes);
        cursor.take(2).ok()?;
        loop {
            let [0xff, marker] = cursor.array().ok()? else { return None };
            if marker == START_OF_SCAN {
                return Some(());
            }
            let length = usize::from(cursor.u16_be().ok()?).checked_sub(2)?;
            let mut content = Cursor::new(cursor.take(length).ok()?);
            match marker {
                QUANTIZATION_TABLES => self.read_tables(&mut content)?,
                0xc0..=0xc2 => self.read_frame(&mut content)?,
                // The last byte is 0 where components are red, green and blue.
                ADOBE
                    if content.rest().starts_with(b"Adobe")
                        && content.rest().last() == Some(&0) =>
                {
                    return None;
                }
                _ => {}
            }
        }
    }

    fn read_tables(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        while let Ok(head) = content.byte() {
            let mut table = [0; 64];
            for place in ZIGZAG {
                let divisor =
                    if head >> 4 == 0 { content.byte().map(u16::from) } else { content.u16_be() };
                *table.get_mut(usize::from(place))? = divisor.ok()?;
            }
            *self.tables.get_mut(usize::from(head & 15))? = Some(table);
        }
        Some(())
    }

    fn read_frame(&mut self, content: &mut Cursor<'_>) -> Option<()> {
        // Precision, height and width.
        content.take(5).ok()?;
        if content.byte().ok()? != 3 {
            return None;
        }
        let mut component = || {
            let [_, sampling, table] = content.array().ok()?;
            Some(Component { sampling: (sampling >> 4, sampling & 15), table })
        };
        self.components = Some([component()?, component()?, component()?]);
        Some(())
    }
}
