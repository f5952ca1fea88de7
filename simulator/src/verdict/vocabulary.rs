//! Vocabulary of a judge, with several wordings for the same finding.

use crate::random::Random;

/// A defect in a criterion of interfaces, by kind and element.
pub(super) struct Defect {
    pub(super) kind: &'static str,
    pub(super) element: &'static str,
    pub(super) shown: &'static str,
    pub(super) found: &'static str,
}

/// A defect by this criterion.
pub(super) fn issue(random: &mut Random, criterion: &str) -> String {
    pick_wording(random, criterion, words_of(criterion).map_or(ANY_ISSUE, |words| words.issues))
}

/// A merit by this criterion.
pub(super) fn strength(random: &mut Random, criterion: &str) -> String {
    let strengths = words_of(criterion).map_or(ANY_STRENGTH, |words| words.strengths);
    pick_wording(random, criterion, strengths)
}

/// Reason of a criterion's score; `share` is 0 at the worst and 1 at the best.
pub(super) fn rationale(random: &mut Random, criterion: &str, share: f64) -> String {
    let wordings = match share {
        0.9.. => ANY_STRENGTH,
        0.4.. => ANY_MIDDLING,
        _ => ANY_ISSUE,
    };
    pick_wording(random, criterion, wordings)
}

/// Assessment in two sentences; `share` is the mean of all scores.
pub(super) fn summary(random: &mut Random, share: f64) -> String {
    let wordings: &[&str] = match share {
        0.85.. => &[
            "A convincing result with hardly a fault. It can be used as it is.",
            "Careful work throughout; what could be better is a matter of taste.",
        ],
        0.5.. => &[
            "A sound result with visible faults. Another round would pay.",
            "The main thing is met, and several details are not.",
        ],
        _ => &[
            "The result misses what was asked in several respects. It should be made again.",
            "Too much is lost or wrong for the result to be of use.",
        ],
    };
    pick_wording(random, "", wordings)
}

/// A defect that touches this criterion; `None` if the criterion is not known.
pub(super) fn defect(random: &mut Random, criterion: &str) -> Option<&'static Defect> {
    random.pick(words_of(criterion)?.defects)
}

struct Words {
    /// Part of the criterion's key.
    criterion: &'static str,
    issues: &'static [&'static str],
    strengths: &'static [&'static str],
    defects: &'static [Defect],
}

const fn defect_of(
    kind: &'static str,
    element: &'static str,
    shown: &'static str,
    found: &'static str,
) -> Defect {
    Defect { kind, element, shown, found }
}

fn words_of(criterion: &str) -> Option<&'static Words> {
    CRITERIA.iter().find(|words| criterion.contains(words.criterion))
}

/// Fills in `{part}`, `{side}`, `{icon}`, `{a}` and `{b}` (two different lengths), `{color}` and
/// `{criterion}`.
fn pick_wording(random: &mut Random, criterion: &str, wordings: &[&str]) -> String {
    let length = 2 * (2 + random.below(10));
    let other = length + 2 * (1 + random.below(6));
    let mut statement = random.pick(wordings).copied().unwrap_or_default().to_owned();
    for (name, words) in
        [("{part}", PARTS), ("{side}", SIDES), ("{icon}", ICONS), ("{color}", COLORS)]
    {
        let word = random.pick(words).copied().unwrap_or_default();
        statement = statement.replace(name, word);
    }
    statement
        .replace("{a}", &length.to_string())
        .replace("{b}", &other.to_string())
        .replace("{criterion}", &criterion.replace('_', " "))
}

const PARTS: &[&str] = &["card", "button", "header", "input", "list", "badge", "dialog", "footer"];

const SIDES: &[&str] = &["left", "right"];

const ICONS: &[&str] = &["search", "arrow", "trash", "check", "close", "user"];

const COLORS: &[&str] = &["blue", "grey", "green", "violet", "red"];

const CRITERIA: &[Words] = &[
    Words {
        criterion: "visual",
        issues: &[
            "Shadow of the {part} is missing",
            "The {part} has no shadow, the screenshot shows one",
            "Corner radius of the {part} is {a}px, should be {b}px",
            "The {part} is rounded by {b}px instead of {a}px",
            "Border of the {part} is missing",
            "The {part} is drawn without its border",
        ],
        strengths: &[
            "The overall look agrees with the screenshot",
            "Looks the same as the screenshot",
            "Rounded corners and shadows are reproduced",
        ],
        defects: &[
            defect_of("wrong_shadow", "card", "a soft shadow", "no shadow"),
            defect_of("wrong_radius", "button", "rounded by 8px", "rounded by 4px"),
            defect_of("wrong_border", "input", "a border of 1px", "no border"),
        ],
    },
    Words {
        criterion: "token",
        issues: &[
            "Padding of the {part} is {a}px, should be {b}px",
            "{b}px of padding inside the {part} instead of {a}px",
            "Text color of the {part} is {color}, the screenshot shows another",
            "The {part}'s label is written in the wrong color ({color})",
            "Background color of the {part} is {color} where the design has another",
            "The {part} is filled with {color}, which is not its color",
            "Font size of the {part} is {a}px, should be {b}px",
        ],
        strengths: &[
            "All design tokens are used as given",
            "Colors and spacing follow the tokens",
            "Spacing agrees with the design tokens",
        ],
        defects: &[
            defect_of("wrong_spacing", "card", "16px of padding", "12px of padding"),
            defect_of("wrong_color", "text", "dark gray", "black"),
            defect_of("wrong_background", "header", "blue", "violet"),
            defect_of("wrong_font_size", "heading", "24px", "20px"),
        ],
    },
    Words {
        criterion: "variant",
        issues: &[
            "Secondary variant is used where the screenshot shows the primary one",
            "Wrong variant of the {part}",
            "The {part} is outlined, should be filled",
        ],
        strengths: &["The right variant is selected", "Correct variant of the {part}"],
        defects: &[
            defect_of("wrong_variant", "button", "primary", "secondary"),
            defect_of("wrong_state", "checkbox", "checked", "unchecked"),
        ],
    },
    Words {
        criterion: "feature",
        issues: &[
            "The {icon} icon is missing",
            "No {icon} icon beside the label",
            "Icon ({icon}) is not rendered in the {part}",
            "The badge of the {part} is missing",
            "A field of the form is missing",
            "The {icon} control has no accessible label",
        ],
        strengths: &[
            "All elements of the screenshot are present",
            "Nothing that the screenshot shows is missing",
            "Every label and icon is there",
        ],
        defects: &[
            defect_of("missing_icon", "button", "a search icon", "no icon"),
            defect_of("missing_element", "badge", "a badge", "no badge"),
            defect_of("accessibility", "button", "a name for screen readers", "no name"),
        ],
    },
    Words {
        criterion: "layout",
        issues: &[
            "Elements of the {part} are stacked, should stand in a row",
            "The {part} is laid out vertically instead of horizontally",
            "The {part} is not centered",
            "Contents of the {part} are aligned to the {side}, should be centered",
            "The {icon} icon stands on the wrong side ({side})",
        ],
        strengths: &[
            "Alignment and order agree with the screenshot",
            "The layout is the same as in the screenshot",
        ],
        defects: &[
            defect_of("wrong_direction", "list", "a row", "a column"),
            defect_of("wrong_alignment", "header", "centered", "aligned to the left"),
            defect_of("wrong_order", "icon", "after the label", "before the label"),
        ],
    },
];

const ANY_ISSUE: &[&str] = &[
    "Falls clearly short in {criterion}",
    "Weak in {criterion}: faults catch the eye",
    "Little is left of {criterion}",
];

const ANY_MIDDLING: &[&str] = &[
    "Acceptable in {criterion}, with small faults",
    "Mostly convincing in {criterion}",
    "Some details speak against {criterion}",
];

const ANY_STRENGTH: &[&str] = &[
    "Nothing to fault in {criterion}",
    "Convincing in {criterion}",
    "Strong in {criterion} throughout",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_no_open_placeholder() {
        for seed in 0..500 {
            let random = &mut Random::new(seed);
            for criterion in ["visual_similarity", "token_adherence", "layout", "own_idea"] {
                for statement in [
                    issue(random, criterion),
                    strength(random, criterion),
                    rationale(random, criterion, 0.5),
                    summary(random, 0.5),
                ] {
                    assert!(
                        !statement.contains(['{', '}']) && !statement.is_empty(),
                        "{statement}"
                    );
                }
            }
        }
    }
}
