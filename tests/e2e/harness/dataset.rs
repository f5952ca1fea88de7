//! Datasets made for a test.

use super::CommandHarness;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use serde_json::json;
use std::{ops::Range, path::PathBuf};

/// A PNG of one color, another one for each number.
pub fn png(number: u32, width: u32, height: u32) -> Vec<u8> {
    let [_, red, green, blue] = number.wrapping_mul(2_654_435_761).to_be_bytes();
    let pixels = [red, green, blue].repeat((width * height) as usize);
    let mut file = Vec::new();
    PngEncoder::new(&mut file)
        .write_image(&pixels, width, height, ExtendedColorType::Rgb8)
        .unwrap();
    file
}

/// Writes a dataset of this many judgeable items, `item_0000` and so on, and returns its manifest.
pub fn write_items(harness: &CommandHarness, count: u32) -> PathBuf {
    write_items_numbered(harness, 0..count)
}

/// Writes a dataset of the items with these numbers; numbers of equal length have equal cost
/// bounds.
pub fn write_items_numbered(harness: &CommandHarness, numbers: Range<u32>) -> PathBuf {
    let mut manifest = String::new();
    for number in numbers {
        let shot = format!("shots/{number:04}.png");
        harness.write(&shot, png(number, 64, 32));
        let line = json!({
            "id": format!("item_{number:04}"),
            "screenshot": shot,
            "generated_code": format!("export const Item = () => <button>Number {number}</button>;"),
            "language": "tsx",
            "expected_tokens": { "color.primary": "#1D4ED8" },
            "extracted_tokens": { "color.primary": "rgb(29, 78, 216)" },
        });
        manifest.push_str(&format!("{line}\n"));
    }
    harness.write("manifest.jsonl", manifest)
}
