//! Layout of the changes since the baseline: new, fixed, worse, flaky.

use crate::document::{Block, Level, List, ListEntry, Topic};
use juror_analysis::{
    comparison::{BaselineChanges, ChangeGroup, ChangedItem, Comparison, FallBound, IssueChange},
    format::{counted, decimals, figure, grouped},
    metrics::Unit,
    stability::{FlakyItem, NightOutcome},
};
use juror_types::{
    id::RunId,
    outcome::{ErrorKind, Outcome},
};

/// Fact of a comparison without a judge.
pub(super) const MEASURED_SCORES: &str =
    "scores are the lowest similarity to the screenshot, since neither run was judged";

/// The topic of a report that is compared with a baseline.
pub fn topic(comparison: &Comparison) -> Topic {
    let topic = topic_since(&comparison.base.run, &comparison.changes, comparison.simulated);
    match comparison.comparable() {
        0 if comparison.changes.group_of_items().is_empty() => {
            Topic { status: Some(("nothing to compare".to_owned(), Level::Doubtful)), ..topic }
        }
        _ => topic,
    }
}

/// The topic of changes since this run.
pub fn topic_since(base: &RunId, changes: &BaselineChanges, simulated: bool) -> Topic {
    let topic = Topic::new("changes", "Since the baseline", simulated, blocks(changes, base));
    Topic { status: Some(status(changes)), ..topic }
}

/// `failed, api`: the end of an item, with these words for one that is scored.
pub(super) fn ending(outcome: Outcome, error: Option<ErrorKind>, scored: &str) -> String {
    match (outcome, error) {
        (Outcome::Scored, _) => scored.to_owned(),
        (Outcome::NoOutput, _) | (_, None) => outcome.label().to_owned(),
        (_, Some(kind)) => format!("{}, {}", outcome.label(), kind.name()),
    }
}

/// Counts of the changes in a line, with their significance: `2 new, 1 worse`.
fn status(changes: &BaselineChanges) -> (String, Level) {
    let BaselineChanges { new, fixed, worse, flaky, not_compared, .. } = changes;
    let counts = [
        (new.items.len() + new.issues.len(), "new"),
        (worse.items.len() + worse.issues.len(), "worse"),
        (fixed.items.len() + fixed.issues.len(), "fixed"),
        (flaky.len(), "flaky"),
    ];
    let named = counts.iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<_> =
        named.map(|(count, kind)| format!("{} {kind}", grouped(*count as u64))).collect();
    if parts.is_empty() {
        parts.push("nothing changed".to_owned());
    }
    if *not_compared > 0 {
        parts.push(format!("{} not compared", counted(*not_compared, "item")));
    }
    let level = match () {
        () if !new.items.is_empty() || !worse.items.is_empty() => Level::Bad,
        () if !new.issues.is_empty() || !worse.issues.is_empty() || !flaky.is_empty() => {
            Level::Doubtful
        }
        () if *not_compared > 0 => Level::Doubtful,
        () => Level::Good,
    };
    (parts.join(", "), level)
}

/// The lists of changes since this run, and the terms by which items are in them.
fn blocks(changes: &BaselineChanges, base: &RunId) -> Vec<Block> {
    let mut facts = vec![format!("compared with run {base}")];
    if let [_, .., _] = changes.runs.as_slice() {
        facts.push(format!("flaky by the last {} runs", grouped(changes.runs.len() as u64)));
    }
    facts.extend(changes.by_evidence.then(|| MEASURED_SCORES.to_owned()));
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(lists("New", &changes.new, new_item, true));
    blocks.extend(lists("Worse", &changes.worse, item, true));
    blocks.extend(lists("Fixed", &changes.fixed, fixed_item, false));
    if !changes.flaky.is_empty() {
        blocks.push(Block::List(List::new("Flaky items", &changes.flaky, flaky).opened()));
    }
    if changes.flaky_left_out {
        let text = "flaky items are left out of the gate and of the comparison's decision";
        blocks.push(Block::Sentence(Level::Doubtful, "", text.to_owned()));
    }
    if !changes.worse.items.is_empty() {
        blocks.push(Block::Sentence(Level::Faint, "", bound(changes)));
    }
    blocks
}

fn lists(
    title: &str,
    group: &ChangeGroup,
    item: fn(&ChangedItem) -> ListEntry,
    open: bool,
) -> Vec<Block> {
    let items = List::new(format!("{title} items"), &group.items, item);
    let issues = List::new(format!("{title} issues"), &group.issues, issue);
    let lists = [items, issues].into_iter().filter(|list| list.count > 0);
    lists.map(|list| Block::List(List { open, ..list })).collect()
}

fn item(item: &ChangedItem) -> ListEntry {
    changed_item(item, "not scored", "does not pass")
}

/// `before` and `after_scored` are the words for a base and a head that passed or failed without a score.
fn changed_item(item: &ChangedItem, before: &str, after_scored: &str) -> ListEntry {
    let score = |score: Option<f64>| score.map(|score| figure(score, Unit::Share));
    let before = score(item.base).unwrap_or_else(|| before.to_owned());
    let is_scored = item.outcome == Outcome::Scored;
    let after = score(item.head).filter(|_| is_scored);
    let after = after.unwrap_or_else(|| ending(item.outcome, item.error, after_scored));
    ListEntry::item(&item.id, format!("{before} → {after}"))
}

/// An item that passed in the baseline: its score may be as high as before.
fn new_item(changed: &ChangedItem) -> ListEntry {
    let entry = changed_item(changed, "passes", "does not pass");
    match (changed.outcome, changed.head) {
        (Outcome::Scored, Some(_)) => {
            ListEntry { detail: format!("{}, does not pass", entry.detail), ..entry }
        }
        _ => entry,
    }
}

fn fixed_item(changed: &ChangedItem) -> ListEntry {
    changed_item(changed, "not scored", "passes")
}

fn issue(issue: &IssueChange) -> ListEntry {
    let detail = format!("{} → {}", grouped(issue.base_count), counted(issue.head_count, "item"));
    ListEntry::text(&issue.label, detail)
}

fn flaky(item: &FlakyItem) -> ListEntry {
    let outcomes = item.outcomes.iter().map(|outcome| match outcome {
        NightOutcome::Passed => "passed",
        NightOutcome::Failed => "failed",
        NightOutcome::NotScored => "not scored",
    });
    ListEntry::item(&item.id, outcomes.collect::<Vec<_>>().join(" → "))
}

/// `Worse: a fall of more than 12.0 percentage points, three standard deviations …`
fn bound(changes: &BaselineChanges) -> String {
    let origin = match changes.worse_by_origin {
        FallBound::Margin => "the margin, which is more than the noise",
        FallBound::Repeats => "three standard deviations of the judge's noise, by its repeats",
        FallBound::Runs => "three standard deviations of the noise between runs",
        FallBound::Assumed => "a tenth of the scale, since the noise is not known yet",
    };
    let points = decimals(changes.worse_by * 100.0, 1);
    let anew = match changes.by_evidence {
        true => " So is one in which nothing differed and something does now.",
        false => "",
    };
    format!("An item is worse from a fall of more than {points} percentage points: {origin}.{anew}")
}
