use super::*;
use ::image::{ExtendedColorType, ImageEncoder, codecs};

const PIXELS: [u8; 48] = [90; 48];

fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = codecs::png::PngEncoder::new(&mut bytes);
    encoder.write_image(&PIXELS, 4, 4, ExtendedColorType::Rgb8).unwrap();
    bytes
}

fn jpeg() -> Vec<u8> {
    let mut bytes = Vec::new();
    codecs::jpeg::JpegEncoder::new(&mut bytes)
        .encode(&PIXELS, 4, 4, ExtendedColorType::Rgb8)
        .unwrap();
    bytes
}

fn webp() -> Vec<u8> {
    let mut bytes = Vec::new();
    codecs::webp::WebPEncoder::new_lossless(&mut bytes)
        .encode(&PIXELS, 4, 4, ExtendedColorType::Rgb8)
        .unwrap();
    bytes
}

fn gif() -> Vec<u8> {
    let mut bytes = Vec::new();
    codecs::gif::GifEncoder::new(&mut bytes)
        .encode(&PIXELS, 4, 4, ExtendedColorType::Rgb8)
        .unwrap();
    bytes
}

fn all() -> [(ReadableFormat, Vec<u8>); 4] {
    [
        (ReadableFormat::Png, png()),
        (ReadableFormat::Jpeg, jpeg()),
        (ReadableFormat::WebP, webp()),
        (ReadableFormat::Gif, gif()),
    ]
}

#[test]
fn complete_files_are_valid() {
    for (format, bytes) in all() {
        assert_eq!(ReadableFormat::from_bytes(&bytes), Some(format));
        let facts = walk(format, &bytes).unwrap();
        assert_eq!((facts.width, facts.height, facts.frames, facts.bits), (4, 4, 1, 8));
        assert_eq!(facts.flaw, None, "{format:?}");
    }
}

#[test]
fn truncated_file_is_never_valid() {
    for (format, bytes) in all() {
        for length in 0..bytes.len() {
            let facts = walk(format, &bytes[..length]);
            assert!(facts.is_err() || facts.unwrap().flaw.is_some(), "{format:?} cut at {length}");
        }
    }
}

#[test]
fn padding_after_the_end_is_valid_and_anything_else_is_not() {
    for (format, bytes) in all() {
        let padded = [&bytes[..], &[0, 0, b'\n']].concat();
        assert_eq!(walk(format, &padded).unwrap().flaw, None, "{format:?}");
        let trailed = [&bytes[..], b"PK\x03\x04"].concat();
        assert_eq!(walk(format, &trailed).unwrap().flaw, Some(TRAILING), "{format:?}");
    }
}

#[test]
fn changed_byte_of_image_data_fails_its_checksum() {
    let mut bytes = png();
    let data = memchr::memmem::find(&bytes, b"IDAT").unwrap();
    bytes[data + 8] ^= 1;
    assert_eq!(walk(ReadableFormat::Png, &bytes), Err("the checksum of a chunk is wrong"));
}

#[test]
fn headers_that_declare_more_than_the_data_can_hold_are_refused() {
    let mut bytes = png();
    bytes[16..24].copy_from_slice(&[0, 0, 0x40, 0, 0, 0, 0x40, 0]);
    let checksum = crc32fast::hash(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&checksum);
    assert_eq!(
        walk(ReadableFormat::Png, &bytes),
        Err("its image data is too short for its width and height")
    );

    let mut bytes = jpeg();
    let frame_header = memchr::memmem::find(&bytes, &[0xff, 0xc0]).unwrap();
    bytes[frame_header + 5..frame_header + 9].copy_from_slice(&[0x40, 0, 0x40, 0]);
    assert_eq!(
        walk(ReadableFormat::Jpeg, &bytes),
        Err("its image data is too short for its width and height")
    );
}

#[test]
fn a_jpeg_with_endless_scans_is_refused() {
    let bytes = jpeg();
    let scan = memchr::memmem::find(&bytes, &[0xff, 0xda]).unwrap();
    let (start, scan) = bytes.split_at(scan);
    let scan = &scan[..scan.len() - 2];
    let endless = [start, &scan.repeat(101), &[0xff, 0xd9]].concat();
    assert_eq!(walk(ReadableFormat::Jpeg, &endless), Err("it has more than 100 scans"));
}

#[test]
fn frames_of_an_animated_gif_are_counted() {
    let mut bytes = Vec::new();
    let mut encoder = codecs::gif::GifEncoder::new(&mut bytes);
    for _ in 0..3 {
        encoder.encode(&PIXELS, 4, 4, ExtendedColorType::Rgb8).unwrap();
    }
    drop(encoder);
    assert_eq!(walk(ReadableFormat::Gif, &bytes).unwrap().frames, 3);
}
