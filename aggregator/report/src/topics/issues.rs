//! Layout of common issues and strengths.

use crate::document::{Block, Level, List, ListEntry, NameKind, Topic};
use juror_analysis::{
    format::{counted, figure},
    issues::StatementGroup,
    metrics::Unit,
    run_report::Report,
};

/// Maximum number of issues, and of strengths, that are listed.
const MAX: usize = 12;

/// The topic, each entry with its wordings and items; `None` without statements.
pub fn topic(report: &Report) -> Option<Topic> {
    topic_of(report, MAX, |group| unfolded(report, group))
}

/// Topic with at most `most` issues and strengths, by name only.
pub fn folded_topic(report: &Report, most: usize) -> Option<Topic> {
    topic_of(report, most, |_| Vec::new())
}

fn topic_of(
    report: &Report,
    most: usize,
    unfolded: impl Fn(&StatementGroup) -> Vec<List>,
) -> Option<Topic> {
    let list = |title: &str, groups: &[StatementGroup], kind: NameKind| {
        let entry = |group: &StatementGroup| {
            let share = figure(group.share, Unit::Share);
            let detail = format!("{}, {share}", counted(group.count, "item"));
            let entry = ListEntry::new(kind, &group.label, detail);
            ListEntry { share: Some(group.share), unfolded: unfolded(group), ..entry }
        };
        let mut list = List::new(title, groups, entry).opened();
        list.entries.truncate(most);
        (list.count > 0).then_some(Block::List(list))
    };
    let issues = &report.common_issues;
    let mut blocks: Vec<Block> = list("Common Issues", issues, NameKind::Issue)
        .into_iter()
        .chain(list("Common Strengths", &report.common_strengths, NameKind::Strength))
        .collect();
    if blocks.is_empty() {
        return None;
    }
    let grouping = grouping_text(issues).map(str::to_owned);
    blocks.extend(grouping.map(|text| Block::Sentence(Level::Faint, "", text)));
    Some(Topic::new("issues", "Issues and strengths", report.run.simulated, blocks))
}

/// Other wordings, the items with the lowest scores, and the items.
fn unfolded(report: &Report, group: &StatementGroup) -> Vec<List> {
    let item = |number: &u32| ListEntry::item(report.items.id(*number), String::new());
    let wording = |text: &String| ListEntry::text(text, String::new());
    let mut lists = vec![List::new("Also", &group.examples, wording)];
    if group.worst.len() < group.items.len() {
        lists.push(List::new("Lowest scores", &group.worst, item));
    }
    lists.push(List::new("Items", &group.items, item));
    lists
}

/// Note on groups that words decided; `None` if the judge named all kinds.
fn grouping_text(groups: &[StatementGroup]) -> Option<&'static str> {
    let by_words = groups.iter().filter(|group| group.key.grouped_by() == "words").count();
    match by_words {
        0 => None,
        count if count == groups.len() => Some("issues are grouped by their words"),
        _ => Some("issues are grouped by kind and element; where there is no kind, by their words"),
    }
}
