//! Text that distinguishes items with the same images.

use juror_types::id::Digest;

/// The first text between two lines `<<<marker` and `marker>>>`, whatever the marker: how Juror's
/// prompts fence an item's code or style.
pub fn first_fenced_text(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("<<<") {
        let (marker, inside) = after.split_once('\n')?;
        let end = inside.find(&format!("{marker}>>>"));
        if let Some(fenced) = end.filter(|_| !marker.is_empty()).and_then(|end| inside.get(..end)) {
            return Some(fenced);
        }
        rest = after;
    }
    None
}

/// The digest by which [`crate::HandwrittenVerdicts`] knows an item's text: line ends at its end do not
/// count, since a fence needs one and adds it where there is none.
pub fn item_text_digest(text: &str) -> Digest {
    Digest::from_content(text.trim_end_matches(['\r', '\n']).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_closed_fence_counts() {
        let prompt =
            "Fences look like <<<this.\nCode:\n<<<M-1\n<b>\n</b>\nM-1>>>\n<<<M-2\nx\nM-2>>>\n";
        assert_eq!(first_fenced_text(prompt), Some("<b>\n</b>\n"));
        for open in ["", "<<<", "<<<\n>>>", "<<<M\ncode\nN>>>", "no fence"] {
            assert_eq!(first_fenced_text(open), None, "{open}");
        }
    }

    #[test]
    fn trailing_line_break_is_ignored() {
        assert_eq!(item_text_digest("<b/>"), item_text_digest("<b/>\r\n"));
        assert_ne!(item_text_digest("<b/>"), item_text_digest(" <b/>"));
    }
}
