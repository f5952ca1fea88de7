//! Rows of results: the values that tables sort and filter by.

use super::EvidenceState;
use indexmap::IndexMap;
use juror_analysis::{item_index::ItemGroups, item_row::Urgency, run_report::Report};
use juror_journal::journal::JournalError;
use juror_report::topics::results::{MAX_ISSUE, ResultColumn, ResultColumnKind, first_issue};
use juror_types::{
    finding::Severity,
    id::Digest,
    outcome::{JobResult, Outcome},
    rubric::Rubric,
    verdict::Verdict,
};

/// Maximum number of different tags; further ones are not filters.
const MAX_TAGS: usize = 10_000;

/// Number of a kind that the rubric lacks.
const UNKNOWN_KIND: u16 = u16::MAX - 1;

/// Row of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub outcome: Outcome,
    pub urgency: Urgency,
    /// Number of the item's repeat.
    pub repeat: u32,
    /// The verdict as one number from 0 to 1, if the job is scored and has one.
    pub score: Option<f32>,
    /// The values of the columns, NaN where there is none; of the first issue, its alphabetical rank
    /// among those of all results.
    pub values: Box<[f32]>,
    /// Tags, by their position in the list of tags.
    pub tags: Box<[u16]>,
    /// Distinct findings: kind, by its position in the rubric's vocabulary, and severity.
    pub findings: Box<[(u16, Severity)]>,
    /// True if its verdict contradicts itself.
    pub contradictory: bool,
    /// States of its evidence, in the states' order.
    pub evidence: [bool; 4],
    /// True if its verdict reports attempts to instruct the judge.
    pub suspected_instructions: bool,
    /// Common issues, by their position in the report.
    pub issues: Box<[u32]>,
    /// Common strengths, by their position in the report.
    pub strengths: Box<[u32]>,
    /// The repairs that it has in common with others, by their place in the report.
    pub repairs: Box<[u32]>,
}

/// All rows, in the order of the report's items.
#[derive(Debug)]
pub(super) struct Rows {
    pub rows: Vec<Row>,
    /// Tags with their number of results, most frequent first.
    pub tags: Vec<(String, u64)>,
    /// Sorted by digest.
    images: Vec<(Digest, u32)>,
}

impl Rows {
    /// Rows of these results, in the order of the report's items.
    pub fn from_report(
        report: &Report,
        columns: &[ResultColumn],
        results: impl Iterator<Item = Result<JobResult, JournalError>>,
    ) -> Result<Self, JournalError> {
        let issues = ItemGroups::new(report.common_issues.iter().map(|group| &*group.items));
        let strengths = ItemGroups::new(report.common_strengths.iter().map(|group| &*group.items));
        let repairs = report.evidence.iter().flat_map(|evidence| &evidence.repairs);
        let repairs = ItemGroups::new(repairs.map(|repair| &*repair.items));
        let mut tags = NumberedTags::default();
        let (mut rows, mut images) = (Vec::with_capacity(report.items.results()), Vec::new());
        let mut first_issues = Vec::with_capacity(report.items.results());
        for (place, result) in (0..).zip(results) {
            let result = result?;
            let digests = result.item.images().filter_map(|image| image.digest);
            images.extend(digests.map(|digest| (digest, place)));
            let item = report.items.number_at(place).unwrap_or_default();
            first_issues.push(first_issue(&result, MAX_ISSUE).to_lowercase());
            rows.push(Row {
                tags: tags.numbers(&result.item.tags),
                issues: issues.numbers_of_item(item).collect(),
                strengths: strengths.numbers_of_item(item).collect(),
                repairs: repairs.numbers_of_item(item).collect(),
                ..row(&report.rubric, &result, columns)
            });
        }
        let place = columns.iter().position(|column| column.kind == ResultColumnKind::Issue);
        place.into_iter().for_each(|place| rank_first_issues(&mut rows, &first_issues, place));
        images.sort_unstable();
        images.dedup_by_key(|(digest, _)| *digest);
        Ok(Self { tags: tags.by_frequency(&mut rows), rows, images })
    }

    /// Rows with their positions.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Row)> {
        (0..).zip(&self.rows)
    }

    pub fn place_of(&self, report: &Report, item: &str, repeat: u32) -> Option<u32> {
        let id_at = |place: u32| report.items.number_at(place).map(|item| report.items.id(item));
        let (mut low, mut high) = (0, u32::try_from(self.rows.len()).ok()?);
        while low < high {
            let middle = low.midpoint(high);
            let known = (id_at(middle)?, self.rows.get(middle as usize)?.repeat);
            if known < (item, repeat) { low = middle + 1 } else { high = middle }
        }
        let found = id_at(low) == Some(item) && self.rows.get(low as usize)?.repeat == repeat;
        found.then_some(low)
    }

    pub fn place_of_image(&self, digest: &Digest) -> Option<u32> {
        let found = self.images.binary_search_by_key(digest, |(digest, _)| *digest).ok()?;
        self.images.get(found).map(|(_, place)| *place)
    }
}

/// Number of a kind: its position in the rubric's vocabulary.
pub(super) fn kind_number(rubric: &Rubric, key: &str) -> Option<u16> {
    let place = rubric.vocabulary.kinds.iter().position(|kind| kind.key == key)?;
    u16::try_from(place).ok()
}

/// Number of results by tag; a tag's number is its position.
#[derive(Default)]
struct NumberedTags(IndexMap<String, u64>);

impl NumberedTags {
    fn numbers(&mut self, tags: &[String]) -> Box<[u16]> {
        tags.iter().filter_map(|tag| self.number(tag)).collect()
    }

    fn number(&mut self, tag: &str) -> Option<u16> {
        if let Some((number, _, count)) = self.0.get_full_mut(tag) {
            *count += 1;
            return u16::try_from(number).ok();
        }
        let is_known = self.0.len() < MAX_TAGS;
        is_known.then(|| u16::try_from(self.0.insert_full(tag.to_owned(), 1).0).ok()).flatten()
    }

    /// The tags, most frequent first; renumbers those of the rows.
    fn by_frequency(self, rows: &mut [Row]) -> Vec<(String, u64)> {
        let mut tags: Vec<(u16, (String, u64))> = (0..).zip(self.0).collect();
        tags.sort_by(|(_, (one, one_count)), (_, (other, other_count))| {
            other_count.cmp(one_count).then_with(|| one.cmp(other))
        });
        let mut places = vec![0; tags.len()];
        for (place, (number, _)) in (0..).zip(&tags) {
            if let Some(slot) = places.get_mut(usize::from(*number)) {
                *slot = place;
            }
        }
        for tag in rows.iter_mut().flat_map(|row| row.tags.iter_mut()) {
            *tag = places.get(usize::from(*tag)).copied().unwrap_or(*tag);
        }
        tags.into_iter().map(|(_, tag)| tag).collect()
    }
}

fn row(rubric: &Rubric, result: &JobResult, columns: &[ResultColumn]) -> Row {
    let verdict = result.verdict();
    let value = |column: &ResultColumn| {
        column.cell(result).and_then(|cell| cell.number()).map_or(f32::NAN, |value| value as f32)
    };
    Row {
        outcome: result.outcome,
        urgency: Urgency::from_result(result),
        repeat: result.repeat,
        score: verdict.map(|verdict| verdict.correctness() as f32),
        values: columns.iter().map(value).collect(),
        findings: verdict.map(|verdict| findings(rubric, verdict)).unwrap_or_default(),
        contradictory: verdict.is_some_and(Verdict::contradicts_itself),
        evidence: EvidenceState::ALL.map(|(state, ..)| state.holds(result)),
        suspected_instructions: verdict
            .is_some_and(|verdict| !verdict.suspected_instructions.is_empty()),
        tags: Box::default(),
        issues: Box::default(),
        strengths: Box::default(),
        repairs: Box::default(),
    }
}

fn findings(rubric: &Rubric, verdict: &Verdict) -> Box<[(u16, Severity)]> {
    let findings = verdict.findings.iter();
    let number = |key: &str| kind_number(rubric, key).unwrap_or(UNKNOWN_KIND);
    let mut pairs: Vec<_> =
        findings.map(|finding| (number(&finding.kind), finding.severity)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_boxed_slice()
}

/// Sets the column of first issues to their alphabetical ranks, so that rows need not store texts.
fn rank_first_issues(rows: &mut [Row], texts: &[String], column: usize) {
    let mut sorted: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    for (row, text) in rows.iter_mut().zip(texts) {
        if let (Some(value), Ok(rank)) = (row.values.get_mut(column), sorted.binary_search(&text)) {
            *value = rank as f32;
        }
    }
}
