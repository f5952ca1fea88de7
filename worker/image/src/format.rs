//! Image format of a file, detected by its content and never by its ending.

/// An image format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadableFormat {
    /// Portable Network Graphics, animated ones included.
    Png,
    /// JPEG, baseline or progressive.
    Jpeg,
    /// GIF, 87a or 89a.
    Gif,
    /// WebP, lossy, lossless or extended.
    WebP,
    /// Windows bitmap.
    Bmp,
}

impl ReadableFormat {
    /// The format that the first bytes belong to.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [b'B', b'M', ..] => Some(Self::Bmp),
            _ => None,
        }
    }

    /// The media type on the wire.
    pub fn media_type(self) -> &'static str {
        self.decoder().to_mime_type()
    }

    /// The usual name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
            Self::Bmp => "BMP",
        }
    }

    pub(super) fn decoder(self) -> image::ImageFormat {
        match self {
            Self::Png => image::ImageFormat::Png,
            Self::Jpeg => image::ImageFormat::Jpeg,
            Self::Gif => image::ImageFormat::Gif,
            Self::WebP => image::ImageFormat::WebP,
            Self::Bmp => image::ImageFormat::Bmp,
        }
    }
}

/// Description of bytes that are no known image, for error messages.
pub(super) fn describe_foreign(bytes: &[u8]) -> &'static str {
    let start = bytes.trim_ascii_start();
    match bytes {
        [] => "an empty file",
        [0, 0, 1, 0, ..] => "a Windows icon",
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => "a TIFF image",
        [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', ..] => "an AVIF image",
        [_, _, _, _, b'f', b't', b'y', b'p', b'h' | b'm', ..] => "a HEIC image",
        [0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..] => "a JPEG XL image",
        _ if start.starts_with(b"%PDF") => "a PDF document",
        _ if start.starts_with(b"<svg") || start.starts_with(b"<?xml") => "an SVG or XML text",
        _ if start.starts_with(b"<") => "an HTML page",
        _ if bytes.starts_with(b"version https://git-lfs") => {
            "a Git LFS pointer (run git lfs pull)"
        }
        _ => "an unknown format",
    }
}
