//! Stems of item ids: without trailing numbers, sizes and states.

/// Characters between the parts of an id.
const SEPARATORS: [char; 6] = ['_', '-', '.', '/', ' ', '@'];

/// Parts at the end of an id that name a variant of one thing.
const VARIANTS: &str = "xs sm md lg xl xxl small medium large mobile tablet desktop phone wide \
    narrow portrait landscape light dark hover hovered active focus focused disabled enabled \
    default pressed selected checked unchecked loading error success empty filled open closed \
    png jpg jpeg webp copy";

/// The stem of an id: `card` of `card_01`, `card-hover-2x` and `card.dark.png`; `None` if only
/// variants are left.
pub(super) fn stem(id: &str) -> Option<&str> {
    let mut rest = id;
    loop {
        let trimmed = rest.trim_end_matches(|character: char| {
            character.is_ascii_digit() || SEPARATORS.contains(&character)
        });
        let last = trimmed.rsplit(SEPARATORS).next().unwrap_or_default();
        let before = trimmed.get(..trimmed.len() - last.len()).unwrap_or_default();
        if last.is_empty() {
            return None;
        }
        if before.is_empty() || !is_variant(last) {
            return Some(trimmed);
        }
        rest = before;
    }
}

fn is_variant(part: &str) -> bool {
    let is_size = part.starts_with(|first: char| first.is_ascii_digit())
        && part.chars().all(|character| character.is_ascii_digit() || "xpw".contains(character));
    is_size || VARIANTS.split(' ').any(|variant| part.eq_ignore_ascii_case(variant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_variants_have_one_stem() {
        for id in ["card", "card_01", "card-12", "card7", "card_hover", "card-hover-2x"] {
            assert_eq!(stem(id), Some("card"), "{id}");
        }
        for id in ["card_320x200", "card.dark.png", "card@2x", "card_Desktop_3", "card_1080p"] {
            assert_eq!(stem(id), Some("card"), "{id}");
        }
        assert_eq!(stem("button_primary_01"), Some("button_primary"));
        assert_eq!(stem("shots/nav/003.png"), Some("shots/nav"));
        assert_eq!(stem("hover"), Some("hover"));
        assert_eq!(stem("0001"), None);
        assert_eq!(stem("čaj_1"), Some("čaj"));
    }
}
