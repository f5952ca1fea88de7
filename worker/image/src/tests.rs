use super::*;
use ::image::{
    DynamicImage, ExtendedColorType, ImageEncoder, ImageReader, RgbImage, RgbaImage,
    codecs::png::PngEncoder,
};
use proptest::prelude::*;
use std::{fs, io::Cursor, path::Path};

fn rules() -> ImageRules {
    ImageRules {
        formats: vec![
            ReadableFormat::Png,
            ReadableFormat::Jpeg,
            ReadableFormat::WebP,
            ReadableFormat::Gif,
        ],
        max_bytes: 20_000_000,
        max_side: 6000,
        user_max_side: None,
        signatures: false,
    }
}

/// Rules so strict that every image must be decoded.
fn tiny() -> ImageRules {
    ImageRules { user_max_side: Some(8), ..rules() }
}

/// Expected result of a file.
enum Fate {
    /// The file is sent byte for byte.
    Passes(u32, u32),
    /// The file is decoded and encoded again, with this note.
    Remade(u32, u32, &'static str, Option<&'static str>),
    /// The file is refused with a message that contains this.
    Refused(&'static str),
}
use Fate::{Passes, Refused, Remade};

const PNG: &str = "image/png";
const JPEG: &str = "image/jpeg";

const HOSTILE: [(&str, Fate); 30] = [
    ("apng__mode_palette_alpha.png", Remade(128, 64, PNG, Some("first of 3 frames"))),
    ("apng__sequence_gap.png", Remade(128, 64, PNG, Some("first of 3 frames"))),
    ("apng__syntax_num_frames_zero.png", Refused("it has no image data")),
    ("broken.png", Refused("this PNG file cannot be read: the file ends early")),
    ("decompression_bomb.ico", Refused("this is a Windows icon: use a PNG")),
    ("exif_gps_typeerror.jpg", Passes(800, 531)),
    ("hopper_bad_exif.jpg", Passes(500, 500)),
    ("hopper_orientation_2.jpg", Remade(128, 128, JPEG, None)),
    ("hopper_orientation_4.webp", Remade(128, 128, JPEG, None)),
    ("hopper_orientation_7.jpg", Remade(128, 128, JPEG, None)),
    ("icc-after-SOF.jpg", Passes(10, 10)),
    ("image-rs-Bad_height.bmp", Refused("its pixels are fewer")),
    ("image-rs-Bad_reallybig.bmp", Refused("its pixels are fewer")),
    (
        "image-rs-advertises_rgba_but_frames_are_rgb.webp",
        Remade(265, 199, PNG, Some("first of 11 frames")),
    ),
    ("image-rs-anim.webp", Remade(200, 200, PNG, Some("first of 6 frames"))),
    ("image-rs-cat.jpg", Passes(320, 240)),
    ("image-rs-issue-403.png", Remade(100, 50, PNG, None)),
    ("image-rs-oom-0d0085eb7f66ea55d9119206235cd29e089b9140.ico", Refused("a Windows icon")),
    ("image-rs-oss-fuzz-36829.jpeg", Refused("a marker is damaged")),
    ("image-rs-panic.webp", Passes(100, 30)),
    ("invalid-exif-without-x-resolution.jpg", Passes(300, 200)),
    // The CRC of the pixels is right, only zlib's checksum is not; decoders accept it.
    ("libpng-badadler.png", Remade(1, 1, PNG, None)),
    ("libpng-empty_ancillary_chunks.png", Remade(1, 1, PNG, None)),
    ("libpng-huge_zTXt_chunk.png", Refused("the file ends early")),
    ("p_16.png", Passes(128, 128)),
    ("pngsuite-basn2c16.png", Remade(32, 32, PNG, None)),
    ("pngsuite-basn4a16.png", Remade(32, 32, PNG, None)),
    ("pngsuite-ibasn6a08.png", Passes(32, 32)),
    ("rgb_trns.png", Passes(64, 64)),
    ("truncated_jpeg.jpg", Refused("the file ends early")),
];

fn hostile(name: &str) -> Bytes {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-data/hostile");
    fs::read(folder.join(name)).unwrap().into()
}

fn decoded(prepared: &PreparedImage) -> DynamicImage {
    let reader = ImageReader::new(Cursor::new(&prepared.bytes)).with_guessed_format().unwrap();
    let image = reader.decode().unwrap();
    assert_eq!((image.width(), image.height()), (prepared.width, prepared.height));
    image
}

fn png_of(image: &DynamicImage, exif: Option<Vec<u8>>) -> Bytes {
    let mut bytes = Vec::new();
    let mut encoder = PngEncoder::new(&mut bytes);
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif).unwrap();
    }
    encoder
        .write_image(image.as_bytes(), image.width(), image.height(), image.color().into())
        .unwrap();
    bytes.into()
}

fn noise(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        let mixed = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(97);
        ::image::Rgba(mixed.to_le_bytes())
    })
}

#[test]
fn hostile_files_have_their_expected_outcome() {
    for (name, fate) in &HOSTILE {
        let bytes = hostile(name);
        match (fate, prepare(bytes.clone(), &rules())) {
            (Passes(width, height), Ok(prepared)) => {
                assert!(prepared.unchanged && prepared.note.is_none(), "{name}");
                assert_eq!(prepared.bytes, bytes, "{name}");
                assert_eq!((prepared.width, prepared.height), (*width, *height), "{name}");
                decoded(&prepared);
            }
            (Remade(width, height, media_type, note), Ok(prepared)) => {
                assert!(!prepared.unchanged, "{name}");
                assert_eq!((prepared.width, prepared.height), (*width, *height), "{name}");
                assert_eq!(prepared.media_type, *media_type, "{name}");
                assert_eq!(prepared.note.as_deref(), *note, "{name}");
                decoded(&prepared);
            }
            (Refused(part), Err(error)) => {
                assert!(error.to_string().contains(part), "{name}: {error}");
            }
            (_, outcome) => panic!("{name}: {outcome:?}"),
        }
    }
}

#[test]
fn accepted_files_can_be_decoded() {
    for (name, fate) in &HOSTILE {
        if let Passes(..) = fate {
            let prepared =
                prepare(hostile(name), &tiny()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(prepared.width.max(prepared.height) == 8, "{name}");
            assert!(prepared.note.unwrap().starts_with("shrunk from"), "{name}");
        }
    }
}

#[test]
fn accepted_file_gets_a_signature_on_request_and_keeps_its_bytes() {
    let signed = ImageRules { signatures: true, ..rules() };
    let mut signatures = 0;
    for (name, fate) in &HOSTILE {
        if let Passes(..) = fate {
            let plain = prepare(hostile(name), &rules()).unwrap();
            assert_eq!(plain.signature, None, "{name}");
            let prepared = prepare(hostile(name), &signed).unwrap();
            assert!(prepared.unchanged && prepared.bytes == plain.bytes, "{name}");
            signatures += u32::from(prepared.signature.is_some());
        }
    }
    assert!(signatures > 0);
}

#[test]
fn differently_oriented_copies_are_all_upright() {
    let names =
        ["hopper_orientation_2.jpg", "hopper_orientation_7.jpg", "hopper_orientation_4.webp"];
    let [mirrored, transverse, flipped] =
        names.map(|name| decoded(&prepare(hostile(name), &rules()).unwrap()).to_rgb8());
    assert!(mean_difference(&mirrored, &transverse) < 6.0);
    assert!(mean_difference(&mirrored, &flipped) < 6.0);
    let upside_down = ::image::imageops::flip_vertical(&flipped);
    assert!(mean_difference(&mirrored, &upside_down) > 30.0);
}

fn mean_difference(one: &RgbImage, other: &RgbImage) -> f64 {
    let pairs = one.as_raw().iter().zip(other.as_raw());
    let total: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    total / one.as_raw().len() as f64
}

#[test]
fn exif_orientations_match_a_viewer() {
    // Stored as rows 1 2 3 / 4 5 6; Exif's row 0 and column 0, worked out by hand.
    let expected: [(u8, u32, &[u8]); 8] = [
        (1, 3, &[1, 2, 3, 4, 5, 6]),
        (2, 3, &[3, 2, 1, 6, 5, 4]),
        (3, 3, &[6, 5, 4, 3, 2, 1]),
        (4, 3, &[4, 5, 6, 1, 2, 3]),
        (5, 2, &[1, 4, 2, 5, 3, 6]),
        (6, 2, &[4, 1, 5, 2, 6, 3]),
        (7, 2, &[6, 3, 5, 2, 4, 1]),
        (8, 2, &[3, 6, 2, 5, 1, 4]),
    ];
    let stored: DynamicImage =
        ::image::GrayImage::from_raw(3, 2, vec![1, 2, 3, 4, 5, 6]).unwrap().into();
    for (orientation, width, pixels) in expected {
        let file = png_of(&stored, Some(exif_with_orientation(orientation)));
        let prepared = prepare(file.clone(), &rules()).unwrap();
        assert_eq!(decoded(&prepared).as_bytes(), pixels, "orientation {orientation}");
        assert_eq!(prepared.width, width);
        assert_eq!(prepared.unchanged, orientation == 1);
        assert_eq!(dimensions(&file), Some((prepared.width, prepared.height)));
    }
}

fn exif_with_orientation(orientation: u8) -> Vec<u8> {
    let mut exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0]);
    exif
}

#[test]
fn decompression_bomb_is_refused_by_its_header() {
    // 60,000 x 60,000 pixels of 1 bit, with the minimum of deflate data for them.
    let mut bomb = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], content: &[u8]| {
        bomb.extend((content.len() as u32).to_be_bytes());
        let checked = [kind.as_slice(), content].concat();
        bomb.extend(&checked);
        bomb.extend(crc32fast::hash(&checked).to_be_bytes());
    };
    let side = 60_000_u32.to_be_bytes();
    chunk(b"IHDR", &[&side[..], &side[..], &[1, 0, 0, 0, 0]].concat());
    let mut data = vec![0; 440_000];
    data[..2].copy_from_slice(&[0x78, 0x9c]);
    chunk(b"IDAT", &data);
    chunk(b"IEND", &[]);
    let refused = prepare(bomb.into(), &rules()).unwrap_err();
    assert_eq!(refused, ImageError::TooManyPixels { width: 60_000, height: 60_000 });
}

#[test]
fn cmyk_becomes_rgb() {
    let prepared = prepare(cmyk_jpeg().into(), &rules()).unwrap();
    assert!(!prepared.unchanged);
    assert_eq!(decoded(&prepared).color(), ::image::ColorType::Rgb8);
}

/// One block of four components; every coefficient is 0.
fn cmyk_jpeg() -> Vec<u8> {
    let segment = |marker: u8, content: &[u8]| {
        let length = (content.len() as u16 + 2).to_be_bytes();
        [&[0xff, marker], &length[..], content].concat()
    };
    let one_code = |class: u8| [&[class, 1][..], &[0; 15], &[0]].concat();
    [
        vec![0xff, 0xd8],
        segment(0xee, b"Adobe\0\x64\0\0\0\0\0"),
        segment(0xdb, &[&[0][..], &[1; 64]].concat()),
        segment(0xc0, &[8, 0, 8, 0, 8, 4, 1, 17, 0, 2, 17, 0, 3, 17, 0, 4, 17, 0]),
        segment(0xc4, &one_code(0x00)),
        segment(0xc4, &one_code(0x10)),
        segment(0xda, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]),
        vec![0x00, 0xff, 0xd9],
    ]
    .concat()
}

#[test]
fn sixteen_bit_images_become_eight_bit_and_keep_transparency() {
    let prepared = prepare(hostile("pngsuite-basn4a16.png"), &rules()).unwrap();
    assert_eq!(decoded(&prepared).color(), ::image::ColorType::La8);
}

#[test]
fn oversized_file_becomes_jpeg_and_then_smaller() {
    let opaque: DynamicImage = DynamicImage::from(noise(200, 100)).to_rgb8().into();
    let png = png_of(&opaque, None);
    let as_jpeg = prepare(png.clone(), &ImageRules { max_bytes: 50_000, ..rules() }).unwrap();
    assert_eq!((as_jpeg.media_type, as_jpeg.width, as_jpeg.note.clone()), (JPEG, 200, None));

    let smaller = prepare(png.clone(), &ImageRules { max_bytes: 5_000, ..rules() }).unwrap();
    assert!(smaller.bytes.len() <= 5_000 && smaller.width < 200);
    decoded(&smaller);

    let nothing_fits = prepare(png, &ImageRules { max_bytes: 20, ..rules() }).unwrap_err();
    assert_eq!(nothing_fits, ImageError::DoesNotFit { max_bytes: 20 });
}

#[test]
fn transparency_is_kept_in_png_and_white_in_jpeg() {
    let clear = DynamicImage::from(RgbaImage::from_pixel(16, 16, ::image::Rgba([9, 9, 9, 0])));
    let only_jpeg = ImageRules { formats: vec![ReadableFormat::Jpeg], ..rules() };
    let flat = prepare(png_of(&clear, None), &only_jpeg).unwrap();
    assert_eq!(flat.note.as_deref(), Some("transparency replaced by white"));
    assert!(decoded(&flat).to_rgb8().pixels().all(|pixel| pixel.0 == [255; 3]));

    let shrunk = prepare(png_of(&clear, None), &tiny()).unwrap();
    assert_eq!(decoded(&shrunk).color(), ::image::ColorType::Rgba8);
}

#[test]
fn image_in_an_unsupported_format_is_converted() {
    let mut bmp = Cursor::new(Vec::new());
    let picture = DynamicImage::from(noise(20, 10)).to_rgb8();
    picture.write_to(&mut bmp, ::image::ImageFormat::Bmp).unwrap();
    let prepared = prepare(bmp.into_inner().into(), &rules()).unwrap();
    assert_eq!(prepared.media_type, PNG);
    assert_eq!(decoded(&prepared).to_rgb8(), picture);
}

#[test]
fn color_profile_is_kept_on_resize() {
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file);
    encoder.set_icc_profile(vec![7; 300]).unwrap();
    let picture = DynamicImage::from(noise(20, 20)).to_rgb8();
    encoder.write_image(&picture, 20, 20, ExtendedColorType::Rgb8).unwrap();
    let prepared = prepare(file.into(), &tiny()).unwrap();
    let mut decoder = ImageReader::new(Cursor::new(&prepared.bytes))
        .with_guessed_format()
        .unwrap()
        .into_decoder()
        .unwrap();
    let profile = ::image::ImageDecoder::icc_profile(&mut decoder).unwrap();
    assert_eq!(profile, Some(vec![7; 300]));
}

#[test]
fn non_image_is_reported() {
    for (bytes, name) in [
        (&b""[..], "an empty file"),
        (b"<!doctype html><title>404</title>", "an HTML page"),
        (b"  <svg xmlns=''/>", "an SVG"),
        (b"%PDF-1.7", "a PDF"),
        (b"\0\0\0\x1cftypavif", "an AVIF image"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
    ] {
        let error = prepare(Bytes::from_static(bytes), &rules()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(
        start in prop::sample::select(vec![
            &b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF89a", b"RIFF\x40\0\0\0WEBP", b"BM", b"",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = Bytes::from([start, &rest].concat());
        let _ = dimensions(&bytes);
        let _ = prepare(bytes, &rules());
    }

    #[test]
    fn mutated_files_never_panic_and_accepted_ones_keep_their_bytes(
        index in 0..HOSTILE.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = hostile(HOSTILE[index].0).to_vec();
        for (place, value) in &changes {
            let place = place.index(bytes.len());
            bytes[place] = *value;
        }
        if let Some(keep) = keep {
            bytes.truncate(keep.index(bytes.len()));
        }
        let bytes = Bytes::from(bytes);
        let _ = prepare(bytes.clone(), &tiny());
        if let Ok(prepared) = prepare(bytes.clone(), &rules()) {
            prop_assert!(!prepared.unchanged || prepared.bytes == bytes);
            prop_assert!(prepared.width > 0 && prepared.height > 0);
        }
    }
}
