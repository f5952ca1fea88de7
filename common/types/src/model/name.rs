//! Names of models: exact, with a date at the end, or with a gateway's prefix.

const LATEST: &str = "-latest";

/// The name without its date: `gpt-4o` for `gpt-4o-2024-08-06`, `claude-haiku-4-5` for
/// `claude-haiku-4-5-20251001`. `None` if there is no date.
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

/// True if a reply's model is the requested one. Gateways add a prefix (`openai/`) and tags
/// (`:free`), providers a date or a version (`gpt-4o-2024-08-06`, `…-preview-09-2025`), local
/// servers a file extension. A name that ends in `-latest` matches any model whose name has its other
/// parts (`gemini-flash-latest` and `gemini-3.8-flash`).
pub fn is_same_model(requested: &str, answered: &str) -> bool {
    let ((requested, asked_date), (answered, answered_date)) = (parts(requested), parts(answered));
    let same_date = asked_date.is_none() || answered_date.is_none() || asked_date == answered_date;
    let is_version = |rest: &str| {
        rest.starts_with('-')
            && rest.split('-').skip(1).all(|part| {
                let digits = part.bytes().all(|byte| byte.is_ascii_digit());
                ["preview", "exp"].contains(&part) || (digits && part.len() > 1)
            })
    };
    let same_name =
        requested == answered || answered.strip_prefix(&*requested).is_some_and(is_version);
    is_latest_version(&requested, &answered) || (same_name && same_date)
}

/// True if a name stands for the newest version of a model.
pub(super) fn is_latest(model: &str) -> bool {
    model.ends_with(LATEST)
}

fn is_latest_version(requested: &str, answered: &str) -> bool {
    let mut family = requested.strip_suffix(LATEST).into_iter().flat_map(|name| name.split('-'));
    is_latest(requested) && family.all(|part| answered.split('-').any(|other| other == part))
}

/// A model's own name in lower case, and the date at its end.
fn parts(model: &str) -> (String, Option<String>) {
    let name = behind_gateway(model).unwrap_or(model).to_lowercase();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    match without_date(name) {
        Some(undated) => {
            let date = name.strip_prefix(undated).unwrap_or_default().replace('-', "");
            (undated.to_owned(), Some(date))
        }
        None => (name.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_model_name_variants_match_the_request() {
        for (requested, answered) in [
            ("gpt-4o", "gpt-4o"),
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("openai/gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-4o", "openai/gpt-4o:extended"),
            ("claude-sonnet-4-5", "claude-sonnet-4-5@20250929"),
            ("gemini-2.5-flash", "models/gemini-2.5-flash-preview-09-2025"),
            ("gemini-2.0-flash", "gemini-2.0-flash-001"),
            ("gemini-flash-latest", "gemini-3.8-flash"),
            ("llava", "/models/LLaVA.gguf"),
        ] {
            assert!(is_same_model(requested, answered), "{requested} {answered}");
        }
        for (requested, answered) in [
            ("gpt-4o-mini", "gpt-4o-2024-08-06"),
            ("gpt-4o", "gpt-4o-mini"),
            ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
            ("claude-opus-4", "claude-opus-4-5"),
            ("gpt-4o", ""),
            ("team-latest", "gpt-4o"),
            ("gemini-flash-latest", "gemini-3.8-pro"),
        ] {
            assert!(!is_same_model(requested, answered), "{requested} {answered}");
        }
    }

    #[test]
    fn date_suffix_has_eight_digits_or_dashes() {
        assert_eq!(without_date("gpt-4o-2024-08-06"), Some("gpt-4o"));
        assert_eq!(without_date("claude-haiku-4-5-20251001"), Some("claude-haiku-4-5"));
        for undated in ["gpt-4o", "-20251001", "", "gpt-4-0613", "modèle-2024-08-0é"] {
            assert_eq!(without_date(undated), None, "{undated}");
        }
    }
}
