//! Detection of mistyped run names.

use juror_types::id::RunId;
use std::path::Path;

/// The run in the runs directory of which this name is probably a misspelling. Names that differ
/// only in digits, as dates and counters do, are names of different runs.
pub fn nearest(runs_dir: &Path, run: &RunId) -> Option<String> {
    let entries = std::fs::read_dir(runs_dir).ok()?;
    let names = entries.flatten().filter(|entry| entry.path().join("run.json").exists());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .map(|name| (strsim::osa_distance(&name, run.as_str()), name))
        .filter(|(distance, name)| is_mistyped(*distance, name, run.as_str()))
        .min()
        .map(|(_, name)| name)
}

fn is_mistyped(distance: usize, name: &str, typed: &str) -> bool {
    let letters = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
    let max_distance = match name.chars().count().min(typed.chars().count()) {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    distance <= max_distance && letters(name) != letters(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typo_is_a_near_miss_and_another_date_is_not() {
        for (name, typed, expected) in [
            ("nightly-2026-11-22", "nigthly-2026-11-22", true),
            ("nightly-2026-11-22", "nightly-2026-11-23", false),
            ("baseline", "baselin", true),
            ("baseline", "candidate", false),
            ("run-1", "run-2", false),
            ("base", "bas", false),
            ("base", "bass", true),
            ("a", "b", false),
        ] {
            let distance = strsim::osa_distance(name, typed);
            assert_eq!(is_mistyped(distance, name, typed), expected, "{name} {typed}");
        }
    }
}
