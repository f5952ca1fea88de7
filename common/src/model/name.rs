//! How models are named: exact names, names with a date at their end, names behind a gateway's.

/// The name without the date at its end: `gpt-4o` for `gpt-4o-2024-08-06`, `claude-haiku-4-5` for
/// `claude-haiku-4-5-20251001`. None if there is no date.
pub(super) fn without_date(model: &str) -> Option<&str> {
    ["-dddd-dd-dd", "-dddddddd"].into_iter().find_map(|shape| {
        let (name, end) = model.split_at_checked(model.len().checked_sub(shape.len())?)?;
        let fits = |(byte, wanted): (u8, u8)| match wanted {
            b'd' => byte.is_ascii_digit(),
            _ => byte == wanted,
        };
        (!name.is_empty() && end.bytes().zip(shape.bytes()).all(fits)).then_some(name)
    })
}

/// The provider's own name for a model that a gateway calls `openai/gpt-4o`.
pub(super) fn behind_gateway(model: &str) -> Option<&str> {
    model.rsplit_once('/').map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_four_two_two_digits_or_eight() {
        assert_eq!(without_date("gpt-4o-2024-08-06"), Some("gpt-4o"));
        assert_eq!(without_date("claude-haiku-4-5-20251001"), Some("claude-haiku-4-5"));
        for undated in ["gpt-4o", "-20251001", "", "gpt-4-0613", "modèle-2024-08-0é"] {
            assert_eq!(without_date(undated), None, "{undated}");
        }
    }
}
