//! An image in a request: only as much of it is read as has to be known.

use crate::{random, refusal::Refusal};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use juror_types::{id::Digest, job::Detail};
use std::borrow::Cow;

/// An image that came as a data URL. Nothing of it is copied, and its pixels are never decoded.
#[derive(Debug)]
pub(crate) struct ImagePart<'a> {
    url: Cow<'a, str>,
    data_from: usize,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) detail: Detail,
}

/// Characters of base64 that are decoded to find the size: nearly always the first, and more for
/// files that carry profiles or previews in front.
const HEADER_CHARACTERS: [usize; 3] = [512, 256 * 1024, usize::MAX];

impl<'a> ImagePart<'a> {
    /// Reads the image's size from the head of its file.
    pub(crate) fn read(url: Cow<'a, str>, detail: Option<&str>) -> Result<Self, Refusal> {
        let detail = read_detail(detail)?;
        let data_from = base64_start(&url).ok_or_else(|| {
            let message = match url.starts_with("http") {
                true => format!("Error while downloading {url}."),
                false => "an image must be data:image/png;base64,… (or jpeg, webp, gif)".to_owned(),
            };
            Refusal::parameter("messages", "invalid_image_url", message)
        })?;
        let data = url.get(data_from..).unwrap_or_default();
        let (width, height) = size(data).ok_or_else(|| {
            let message = "an image is not a readable png, jpeg, webp or gif";
            Refusal::parameter("messages", "invalid_image_format", message)
        })?;
        Ok(Self { data_from, width, height, detail, url })
    }

    /// A number that depends on all of the image's data; cheap, and not safe against malice.
    pub(crate) fn seed(&self) -> u64 {
        let data = self.data();
        random::mix(u64::from(crc32fast::hash(data.as_bytes())), data.len() as u64)
    }

    /// The digest of the image file.
    pub(crate) fn digest(&self) -> Result<Digest, Refusal> {
        let file = STANDARD.decode(self.data()).map_err(|error| {
            let message = format!("an image is not valid base64: {error}");
            Refusal::parameter("messages", "invalid_base64", message)
        })?;
        Ok(Digest::from_content(&file))
    }

    fn data(&self) -> &str {
        self.url.get(self.data_from..).unwrap_or_default()
    }
}

fn read_detail(detail: Option<&str>) -> Result<Detail, Refusal> {
    let Some(name) = detail else {
        return Ok(Detail::Auto);
    };
    Detail::from_name(name).ok_or_else(|| {
        let message = format!("detail {name:?} is not one of low, high, auto, original");
        Refusal::parameter("messages", "invalid_value", message)
    })
}

fn base64_start(url: &str) -> Option<usize> {
    let rest = url.strip_prefix("data:image/")?;
    let (kind, _) = rest.split_once(";base64,")?;
    matches!(kind, "png" | "jpeg" | "webp" | "gif")
        .then_some("data:image/".len() + kind.len() + ";base64,".len())
}

fn size(data: &str) -> Option<(u32, u32)> {
    HEADER_CHARACTERS.into_iter().find_map(|characters| {
        let head = data.as_bytes().get(..characters).unwrap_or(data.as_bytes());
        let size = imagesize::blob_size(&STANDARD.decode(head).ok()?).ok()?;
        Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        file.extend(width.to_be_bytes());
        file.extend(height.to_be_bytes());
        file.extend([8, 6, 0, 0, 0]);
        file
    }

    /// A JPEG's head with `before` bytes of application data in front of its size.
    fn jpeg(width: u16, height: u16, before: u16) -> Vec<u8> {
        let mut file = vec![0xFF, 0xD8];
        for _ in 0..4 {
            file.extend([0xFF, 0xE2]);
            file.extend((before + 2).to_be_bytes());
            file.extend(std::iter::repeat_n(7, usize::from(before)));
        }
        file.extend([0xFF, 0xC0, 0, 17, 8]);
        file.extend(height.to_be_bytes());
        file.extend(width.to_be_bytes());
        file.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xFF, 0xD9]);
        file
    }

    fn url(kind: &str, file: &[u8]) -> String {
        format!("data:image/{kind};base64,{}", STANDARD.encode(file))
    }

    #[test]
    fn image_size_is_read_from_the_header() {
        for (url, expected) in [
            (url("png", &png(1440, 900)), (1440, 900)),
            (url("jpeg", &jpeg(640, 480, 16)), (640, 480)),
            (url("jpeg", &jpeg(640, 480, 1_000)), (640, 480)),
            (url("jpeg", &jpeg(640, 480, 65_000)), (640, 480)),
            (url("gif", b"GIF89a\x10\0\x20\0\0\0\0"), (16, 32)),
        ] {
            let part = ImagePart::read(Cow::Borrowed(&url), Some("high")).unwrap();
            assert_eq!((part.width, part.height), expected);
        }
    }

    #[test]
    fn digest_equals_that_of_the_file() {
        let file = png(3, 4);
        let url = url("png", &file);
        let part = ImagePart::read(Cow::Borrowed(&url), None).unwrap();
        assert_eq!(part.digest().unwrap(), Digest::from_content(&file));
        assert_eq!(part.detail, Detail::Auto);
    }

    #[test]
    fn non_image_is_refused() {
        let text = url("png", b"this is a text");
        for (bad, code) in [
            ("https://example.com/a.png", "invalid_image_url"),
            ("data:image/bmp;base64,AAAA", "invalid_image_url"),
            ("data:image/png;base64,", "invalid_image_format"),
            ("data:image/png;base64,é", "invalid_image_format"),
            (text.as_str(), "invalid_image_format"),
        ] {
            assert_eq!(ImagePart::read(Cow::Borrowed(bad), None).unwrap_err().code, code, "{bad}");
        }
    }
}
