//! Sentences that every format shares.

use super::{ClusterReading, Comparison, NewFailure, SampleSize, figures};
use crate::format::{counted, dollars};
use juror_types::outcome::{ErrorKind, Outcome};

/// `200 pairs would reveal a change of 0.05 percentage points 4 times in 5.`
pub fn detectable_words(comparison: &Comparison) -> Option<String> {
    let decisive = &comparison.decisive;
    let detectable = decisive.difference.detectable?;
    Some(format!(
        "{} would reveal a change of {} {} 4 times in 5.",
        counted(decisive.difference.n, "pair"),
        figures::distinct_size(detectable, decisive.unit()),
        figures::name_of(decisive.unit())
    ))
}

/// `; 120 of 120 items look like 8 clusters (…), taken together here: …`.
pub(crate) fn cluster_words(reading: &ClusterReading) -> String {
    let (description, otherwise) = (reading.clusters.description(), reading.otherwise.name());
    match reading.used {
        true => format!(
            "; {description} and are taken together; as independent items they would say {otherwise}"
        ),
        false => {
            format!("; {description}: taken together, they would say {otherwise}")
        }
    }
}

/// The warning about clusters that are likely and not declared.
pub(crate) fn cluster_warning(reading: &ClusterReading) -> String {
    let effect = reading.clusters.effect.as_ref();
    format!(
        "{}, and their changes differ between the clusters (design effect {:.1}): declare `cluster` \
         in the dataset{}",
        reading.clusters.description(),
        effect.map_or(1.0, |effect| effect.design_effect),
        match reading.used {
            true => "; until then the intervals take them together (likely_clusters = \"use\")",
            false => "; the intervals are too narrow otherwise (likely_clusters = \"warn\")",
        }
    )
}

/// What it would take to settle an inconclusive comparison.
pub fn settling_words(settling: &SampleSize) -> String {
    let cost =
        |money: Option<_>| money.map_or_else(String::new, |money| format!(" ({})", dollars(money)));
    let items = settling.more_items.map(|items| {
        format!("{} in both runs{}", counted(items, "more item"), cost(settling.more_items_usd))
    });
    let repeats = settling
        .repeats
        .map(|repeats| format!("each item {repeats} times{}", cost(settling.repeats_usd)));
    let chance = "If the true change is the one that was seen, a chance of 80 % to settle it takes";
    match (items, repeats) {
        (Some(items), Some(repeats)) => format!("{chance} {items}, or judging {repeats} in both."),
        (Some(items), None) if settling.noise_is_known => {
            format!("{chance} {items}; judging the same ones more often does not settle it.")
        }
        (Some(items), None) => format!(
            "{chance} {items}. What repeats would do is not known: neither run judged its items \
             several times."
        ),
        (None, Some(repeats)) => format!("{chance} judging {repeats} in both runs."),
        (None, None) => {
            "The change is so near to the margin that no sensible number of items settles it."
                .to_owned()
        }
    }
}

/// `failed, api` or `does not pass`.
pub fn failure_words(failure: &NewFailure) -> String {
    let outcome = failure.outcome.label();
    match failure.error {
        Some(ErrorKind::Output) => outcome.to_owned(),
        Some(kind) => format!("{outcome}, {}", kind.name()),
        None if failure.outcome == Outcome::Scored => "does not pass".to_owned(),
        None => outcome.to_owned(),
    }
}

/// `3 regressed, 1 improved, …`: every list of items that is not empty.
pub fn item_counts(comparison: &Comparison) -> String {
    let lists = &comparison.items;
    let counts = [
        (lists.regressed.len(), "regressed"),
        (lists.improved.len(), "improved"),
        (lists.newly_failing.len(), "newly failing"),
        (lists.changed_input.len(), "with another input"),
        (lists.new.len(), "new"),
        (lists.gone.len(), "gone"),
    ];
    let named = counts.into_iter().filter(|(count, _)| *count > 0);
    let named: Vec<String> = named.map(|(count, what)| format!("{count} {what}")).collect();
    if named.is_empty() { "none changed".to_owned() } else { named.join(", ") }
}
