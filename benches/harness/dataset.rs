//! Generated datasets.

use image::{
    ExtendedColorType, ImageEncoder as _,
    codecs::png::{CompressionType, FilterType, PngEncoder},
};
use serde_json::json;
use std::{
    fs,
    io::{BufWriter, Write as _},
    path::Path,
};

/// Size and number of the screenshots.
#[derive(Clone, Copy, Debug)]
pub struct Screenshots {
    pub count: usize,
    pub width: u32,
    pub height: u32,
    /// Approximate size of each file in bytes: the image has areas of one color with sharp edges,
    /// like an interface, and incompressible noise up to this size.
    pub bytes: usize,
}

/// Writes `manifest.jsonl` and a different PNG for each of its items.
pub fn write_screenshots(folder: &Path, screenshots: Screenshots) {
    fs::create_dir_all(folder.join("shots")).unwrap();
    let manifest = fs::File::create(folder.join("manifest.jsonl")).unwrap();
    let mut manifest = BufWriter::new(manifest);
    let noise = screenshots.bytes.saturating_sub(png(0, 0, screenshots).len());
    for number in 0..screenshots.count {
        let shot = format!("shots/{number:06}.png");
        fs::write(folder.join(&shot), png(number as u64 + 1, noise, screenshots)).unwrap();
        let code = format!(
            "export const Card{number} = (props: CardProps) => (\n  <div className=\"card\">\n    \
             <h2>{{props.title}}</h2>\n    <button style={{{{ color: '#1D4ED8', padding: 16 }}}}>Buy \
             {number}</button>\n  </div>\n);\n"
        );
        let line = json!({
            "id": format!("item_{number:06}"),
            "screenshot": shot,
            "generated_code": code,
            "language": "tsx",
            "expected_tokens": { "color.primary": "#1D4ED8", "space.medium": "16px" },
            "extracted_tokens": { "color.primary": "rgb(29, 78, 216)", "space.medium": "1rem" },
            "expected_pattern": "card",
            "retrieved_pattern": "card",
            "quality_score": 0.9,
        });
        writeln!(manifest, "{line}").unwrap();
    }
    manifest.flush().unwrap();
}

fn png(seed: u64, noise: usize, screenshots: Screenshots) -> Vec<u8> {
    let Screenshots { width, height, .. } = screenshots;
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut pixels = Vec::with_capacity((width * height * 3) as usize);
    for row in 0..height {
        for column in 0..width {
            let area = (row / 48 * 31 + column / 160 * 17) as u8;
            let edge = column % 160 < 2 || row % 48 == 0;
            let color = if edge { [30, 30, 34] } else { [240 - area % 24, 244, 250 - area % 9] };
            pixels.extend_from_slice(&color);
        }
    }
    for sample in pixels.iter_mut().take(noise) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        *sample = (random >> 32) as u8;
    }
    let mut file = Vec::new();
    PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Up)
        .write_image(&pixels, width, height, ExtendedColorType::Rgb8)
        .unwrap();
    file
}
