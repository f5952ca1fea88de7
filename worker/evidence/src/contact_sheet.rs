//! Contact sheet of the regions that differ: each enlarged under its number, the screenshot above
//! the render.

use crate::{
    picture_pair::PicturePair,
    raster::{Raster, Rgb},
};
use juror_types::evidence::{EvidenceRegion, PixelBox};

/// Maximum number of regions on a sheet.
const MAX_CROPS: usize = 6;
/// Maximum number of regions beside each other.
const MAX_COLUMNS: usize = 3;
/// Maximum width and height of a sheet in pixels: providers that shrink pictures to a shortest side
/// of 768 leave it as it is.
const MAX_SHEET: [u32; 2] = [1536, 768];
/// Enlargements of a crop, the first that its cell has room for.
const ENLARGEMENTS: [u32; 3] = [3, 2, 1];
/// Pixels of the pictures around a region that are shown with it.
const MARGIN: u32 = 8;
/// Pixels of the sheet between cells.
const GAP: u32 = 8;
/// Height of the strip of a cell's number, in pixels of the sheet.
const NUMBER_STRIP: u32 = 24;
/// Height of the line between the two crops of a cell, in pixels of the sheet.
const LINE: u32 = 3;

const PAPER: Rgb = [255; 3];
const INK: Rgb = [20; 3];

/// Digits in rows of three dots.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];
/// Side of a digit's dot and width of a digit with the space behind it, in pixels of the sheet.
const DOT: u32 = 4;
const DIGIT_WIDTH: u32 = 4 * DOT;

impl PicturePair<'_> {
    /// The contact sheet of the worst regions, numbered from 1 in the order of `regions`; `None`
    /// without regions.
    pub fn contact_sheet(&self, regions: &[EvidenceRegion]) -> Option<Raster> {
        let worst = worst(regions);
        let room = max_crop_size(worst.len());
        let cells = worst.iter().map(|(number, region)| self.cell(*number, region, room));
        let cells: Vec<Raster> = cells.collect();
        (!cells.is_empty()).then(|| sheet(&cells))
    }

    fn cell(&self, number: usize, region: &EvidenceRegion, room: [u32; 2]) -> Raster {
        let crops = [&self.alignment.screenshot, self.drawing]
            .map(|picture| fitted(crop(picture, region.render_box), room));
        let digits = number.to_string();
        let width = crops.iter().map(Raster::width).max().unwrap_or_default();
        let width = width.max(digits.len() as u32 * DIGIT_WIDTH);
        let height = crops.iter().map(Raster::height).sum::<u32>();
        let mut cell = Raster::filled(width, NUMBER_STRIP + height + LINE, PAPER);
        write_number(&mut cell, &digits);
        let [above, below] = &crops;
        let line = NUMBER_STRIP + above.height();
        cell.paste(above, [0, NUMBER_STRIP]);
        cell.fill([0, line, width, LINE], INK);
        cell.paste(below, [0, line + LINE]);
        cell
    }
}

/// Maximum width and height of a contact sheet of pictures of this size.
pub fn max_sheet_size([width, height]: [u32; 2]) -> [u32; 2] {
    let [most, ..] = ENLARGEMENTS;
    let sizes = (1..=MAX_CROPS).map(|count| {
        let [room_across, room_down] = max_crop_size(count);
        let across = room_across.min(width.saturating_mul(most)).max(DIGIT_WIDTH);
        let down = NUMBER_STRIP + LINE + 2 * room_down.min(height.saturating_mul(most));
        let [columns, rows] = grid(count);
        [columns * (across + GAP) + GAP, rows * (down + GAP) + GAP]
    });
    sizes.fold([0; 2], |[a, b], [c, d]| [a.max(c), b.max(d)])
}

/// The regions that differ most, by area and color, with their numbers and in their order.
fn worst(regions: &[EvidenceRegion]) -> Vec<(usize, &EvidenceRegion)> {
    let weight = |region: &EvidenceRegion| region.share * region.delta_e;
    let mut numbered: Vec<(usize, &EvidenceRegion)> = (1..).zip(regions).collect();
    numbered.sort_by(|(_, one), (_, other)| weight(other).total_cmp(&weight(one)));
    numbered.truncate(MAX_CROPS);
    numbered.sort_by_key(|(number, _)| *number);
    numbered
}

/// Columns and rows for `count` crops.
fn grid(count: usize) -> [u32; 2] {
    [count.clamp(1, MAX_COLUMNS) as u32, count.div_ceil(MAX_COLUMNS).max(1) as u32]
}

/// Maximum width and height of each crop on a sheet for `count` crops.
fn max_crop_size(count: usize) -> [u32; 2] {
    let ([columns, rows], [width, height]) = (grid(count), MAX_SHEET);
    let across = (width - GAP) / columns - GAP;
    let down = (height - GAP) / rows - GAP;
    [across, (down - NUMBER_STRIP - LINE) / 2]
}

/// A region of a picture with its margin.
fn crop(picture: &Raster, [x, y, width, height]: PixelBox) -> Raster {
    let from = [x, y].map(|start| start.saturating_sub(MARGIN));
    let until = |start: u32, length: u32, end: u32| {
        start.saturating_add(length).saturating_add(MARGIN).min(end)
    };
    let until = [until(x, width, picture.width()), until(y, height, picture.height())];
    let [left, top] = from.map(|start| start as i32);
    let [right, bottom] = until;
    let size = [right.saturating_sub(left as u32), bottom.saturating_sub(top as u32)];
    picture.window([-left, -top], size, PAPER)
}

/// A crop as large as its room allows: enlarged, or halved until it fits.
fn fitted(mut crop: Raster, [width, height]: [u32; 2]) -> Raster {
    let fits = |crop: &Raster, factor: u32| {
        crop.width().saturating_mul(factor) <= width
            && crop.height().saturating_mul(factor) <= height
    };
    if let Some(factor) = ENLARGEMENTS.into_iter().find(|factor| fits(&crop, *factor)) {
        return crop.enlarged(factor);
    }
    while !fits(&crop, 1) && crop.width().min(crop.height()) > 1 {
        crop = crop.halved();
    }
    crop.window([0, 0], [crop.width().min(width), crop.height().min(height)], PAPER)
}

/// Cells in rows, each as wide as the widest one.
fn sheet(cells: &[Raster]) -> Raster {
    let across = cells.iter().map(Raster::width).max().unwrap_or_default() + GAP;
    let rows: Vec<(&[Raster], u32)> = cells
        .chunks(MAX_COLUMNS)
        .map(|row| (row, row.iter().map(Raster::height).max().unwrap_or_default() + GAP))
        .collect();
    let [columns, _] = grid(cells.len());
    let height = rows.iter().map(|(_, height)| height).sum::<u32>();
    let mut sheet = Raster::filled(columns * across + GAP, height + GAP, PAPER);
    let mut top = GAP;
    for (row, height) in rows {
        for (column, cell) in (0..).zip(row) {
            sheet.paste(cell, [GAP + column * across, top]);
        }
        top += height;
    }
    sheet
}

fn write_number(cell: &mut Raster, digits: &str) {
    for (place, digit) in (0..).zip(digits.bytes()) {
        let dots = DIGITS.get(usize::from(digit.wrapping_sub(b'0'))).copied().unwrap_or_default();
        for (row, dots) in (0..).zip(dots) {
            for column in (0..3).filter(|column| dots & (0b100 >> column) != 0) {
                let left = place * DIGIT_WIDTH + column * DOT;
                cell.fill([left, row * DOT, DOT, DOT], INK);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::evidence::{EvidenceSource, RegionKind};

    const WHITE: Rgb = [255; 3];

    fn region(place: PixelBox, share: f64) -> EvidenceRegion {
        EvidenceRegion {
            place,
            render_box: place,
            share,
            delta_e: 10.0,
            kind: RegionKind::Color,
            moved_by: None,
            element: None,
            property: None,
            is: None,
            should_be: None,
            explains: None,
            alternatives: Vec::new(),
        }
    }

    fn page(button: Rgb) -> Raster {
        let mut picture = Raster::filled(320, 200, [248; 3]);
        picture.fill([20, 60, 80, 30], button);
        picture
    }

    #[test]
    fn a_region_is_enlarged_under_its_number_screenshot_above_render() {
        let (screenshot, drawing) = (page([200, 0, 0]), page([0, 0, 200]));
        let pair = PicturePair::new(&screenshot, &drawing);
        let evidence = pair.measure(EvidenceSource::Rendered, None);
        let sheet = pair.contact_sheet(&evidence.regions).unwrap();
        // 80 x 30 pixels with a margin of 8 around, three times as large.
        assert_eq!((sheet.width(), sheet.height()), (2 * 8 + 288, 2 * 8 + 24 + 138 + 3 + 138));
        let (above, below) = (8 + 24, 8 + 24 + 138 + 3);
        assert_eq!(sheet.at(8 + 24, above + 24), [200, 0, 0]);
        assert_eq!(sheet.at(8 + 23, above + 24), [248; 3]);
        assert_eq!(sheet.at(8 + 24, below + 24), [0, 0, 200]);
        assert_eq!(sheet.at(8 + 24 + 239, below + 24 + 89), [0, 0, 200]);
        assert_eq!(sheet.at(8 + 24 + 240, below + 24), [248; 3]);
        // The 1: a stem in the middle, on a foot of three dots.
        assert_eq!([8, 12, 16].map(|x| sheet.at(x, 8) == INK), [false, true, false]);
        assert_eq!([8, 12, 16].map(|x| sheet.at(x, 8 + 16) == INK), [true; 3]);
        assert_eq!(sheet, pair.contact_sheet(&evidence.regions).unwrap());
    }

    #[test]
    fn there_is_no_sheet_without_a_region() {
        let picture = page([200, 0, 0]);
        assert_eq!(PicturePair::new(&picture, &picture).contact_sheet(&[]), None);
    }

    #[test]
    fn the_worst_six_are_shown_in_the_order_of_their_numbers() {
        let shares = [0.05, 0.01, 0.07, 0.06, 0.02, 0.04, 0.03, 0.08];
        let regions: Vec<_> = shares.map(|share| region([0, 0, 4, 4], share)).into();
        let numbers: Vec<usize> = worst(&regions).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [1, 3, 4, 6, 7, 8]);
    }

    #[test]
    fn every_sheet_is_within_its_bound() {
        for size in [[3, 2], [64, 32], [320, 200], [1440, 900], [900, 1440], [4096, 5]] {
            let [width, height] = size;
            let picture = Raster::filled(width, height, WHITE);
            let pair = PicturePair::new(&picture, &picture);
            let places = [[0, 0, width, height], [width / 2, height / 2, 1, 1], [0, 0, 1, height]];
            for count in 1..=8 {
                let regions: Vec<_> =
                    places.iter().cycle().take(count).map(|place| region(*place, 0.1)).collect();
                let sheet = pair.contact_sheet(&regions).unwrap();
                let [most_across, most_down] = max_sheet_size(size);
                assert!(sheet.width() <= most_across && most_across <= MAX_SHEET[0], "{size:?}");
                assert!(sheet.height() <= most_down && most_down <= MAX_SHEET[1], "{size:?}");
            }
        }
        assert_eq!(max_sheet_size([1440, 900]), [1536, 767]);
    }
}
