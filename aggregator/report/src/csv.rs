//! One result a line, for spreadsheets.

use crate::{
    phrasing::{endpoint, judged_part},
    regions::region_text,
};
use juror_analysis::metrics::score_of;
use juror_analysis::{
    item_row::{ItemRow, word},
    run_report::Report,
};
use juror_journal::journal::JournalError;
use juror_types::{
    evidence::EvidenceOutcome,
    finding::Severity,
    outcome::{ItemRecord, JobResult},
    rubric::{Formula, Rubric},
    verdict::{Score, Verdict},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

/// Most fields of metadata that get a column.
const MAX_METADATA_COLUMNS: usize = 200;

const BEFORE: [&str; 5] =
    ["screenshot_id", "repeat", "outcome", "pipeline_success", "total_latency_ms"];
const STAGES: [&str; 5] =
    ["token_accuracy", "retrieval_correct", "retrieved", "code_compiles", "quality_score"];
const AFTER: [&str; 12] = [
    "cost_usd",
    "cached",
    "simulated",
    "error_kind",
    "error_message",
    "issues",
    "strengths",
    "findings_minor",
    "findings_major",
    "findings_critical",
    "contradictions",
    "suspected_instructions",
];

/// Columns of runs whose code was to be rendered, behind all others but the run's own.
const EVIDENCE: [&str; 6] =
    ["renders", "render_error", "pixels_equal", "ssim", "regions", "first_region"];

/// Column of runs that are compared with a baseline, behind those: `new`, `fixed`, `worse`,
/// `flaky`, or nothing.
const CHANGE: &str = "since_baseline";

const RUN: [&str; 6] = ["run_id", "model", "endpoint", "judged_part", "cluster", "tags"];

/// Fields of metadata that any result has, in the order of their names; each is the column
/// `metadata.NAME`.
#[derive(Debug, Default)]
pub(crate) struct MetadataColumns(BTreeSet<String>);

impl MetadataColumns {
    /// Reads the results for the fields that they have.
    pub(crate) fn from_results(
        results: impl Iterator<Item = Result<JobResult, JournalError>>,
    ) -> io::Result<Self> {
        let mut names = BTreeSet::new();
        for result in results {
            for name in result.map_err(io::Error::other)?.item.metadata.keys() {
                if names.len() < MAX_METADATA_COLUMNS && !names.contains(name) {
                    names.insert(name.clone());
                }
            }
        }
        Ok(Self(names))
    }
}

/// Writes a head and a line per result. Columns of the semantic stage are the rubric's; they are
/// empty where a job was not scored.
pub(crate) fn write(
    report: &Report,
    metadata: &MetadataColumns,
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (rubric, run) = (&report.rubric, &report.run);
    let mut table = csv::Writer::from_writer(out);
    let semantic: Vec<&str> = match rubric.formula {
        Formula::SumOverMax => vec!["semantic_correctness"],
        Formula::WeightedGroups => ["percentage", "grade"]
            .into_iter()
            .chain(rubric.groups.iter().map(|group| group.key.as_str()))
            .collect(),
    };
    let criteria = rubric.criteria.iter().map(|criterion| criterion.key.as_str());
    let head = BEFORE.into_iter().chain(STAGES).chain(semantic).chain(criteria).chain(AFTER);
    let mut head: Vec<&str> = head.collect();
    let fields: Vec<String> = metadata.0.iter().map(|name| format!("metadata.{name}")).collect();
    let evidence = EVIDENCE.into_iter().filter(|_| report.evidence.is_some());
    let groups = report.comparison.as_ref().map(|it| it.changes.group_of_items());
    head.extend(evidence);
    head.extend(groups.is_some().then_some(CHANGE));
    head.extend(RUN.into_iter().chain(fields.iter().map(String::as_str)));
    table.write_record(head.into_iter().map(defused))?;
    for result in results {
        let mut result = result.map_err(io::Error::other)?;
        let item = std::mem::take(&mut result.item);
        let model = result.judge.as_ref().map_or_else(String::new, |judge| judge.model.clone());
        let row = ItemRow::from(result);
        let measured = report.evidence.as_ref().map(|_| evidence_cells(&row));
        let change = groups.as_ref().map(|groups| {
            groups.get(row.screenshot_id.as_str()).copied().unwrap_or_default().to_owned()
        });
        let mut cells = cells(rubric, row);
        cells.extend(measured.into_iter().flatten().chain(change));
        let part = judged_part(report).unwrap_or_default();
        cells.extend([run.id.to_string(), model, endpoint(report).unwrap_or_default(), part]);
        cells.extend(item_cells(item, metadata));
        table.write_record(cells.iter().map(|cell| defused(cell)))?;
    }
    table.flush()
}

/// Cluster, tags and metadata; a value that is no text is written as JSON.
fn item_cells(item: ItemRecord, metadata: &MetadataColumns) -> Vec<String> {
    let mut cells = vec![item.cluster.unwrap_or_default(), item.tags.join("; ")];
    cells.extend(metadata.0.iter().map(|name| match item.metadata.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }));
    cells
}

/// Rendering of the code, and the figures and the first region of what was measured.
fn evidence_cells(row: &ItemRow) -> [String; 6] {
    let text = |value: Option<String>| value.unwrap_or_default();
    let renders = row.generation.as_ref().and_then(|stage| stage.renders);
    let measured = row.evidence.as_ref().and_then(EvidenceOutcome::measured);
    let error = row.evidence.as_ref().and_then(EvidenceOutcome::error);
    let first = measured.and_then(|evidence| evidence.regions.first());
    [
        text(renders.map(|renders| renders.to_string())),
        error.unwrap_or_default().to_owned(),
        text(measured.map(|evidence| evidence.pixels_equal.to_string())),
        text(measured.map(|evidence| evidence.ssim.to_string())),
        text(measured.map(|evidence| evidence.regions.len().to_string())),
        text(first.map(region_text)),
    ]
}

fn cells(rubric: &Rubric, row: ItemRow) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let verdict = row.semantic.as_ref().filter(|_| row.score().is_some());
    let generation = row.generation.as_ref();
    let retrieval = row.retrieval.as_ref();
    let mut cells = vec![
        row.screenshot_id.clone(),
        row.repeat.to_string(),
        word(&row.outcome),
        text(row.pipeline_success.map(|success| success.to_string())),
        row.total_latency_ms.to_string(),
        text(row.token_extraction.as_ref().map(|stage| stage.accuracy.to_string())),
        text(retrieval.map(|stage| stage.correct.to_string())),
        text(retrieval.and_then(|stage| stage.retrieved.clone())),
        text(generation.and_then(|stage| stage.code_compiles).map(|compiles| compiles.to_string())),
        text(generation.and_then(|stage| stage.quality_score).map(|score| score.to_string())),
    ];
    cells.extend(totals(rubric, verdict));
    cells.extend(rubric.criteria.iter().map(|criterion| {
        let score = verdict.and_then(|verdict| score_of(verdict, &criterion.key));
        text(score.map(|score| score.to_string()))
    }));
    let statements = |pick: fn(&Verdict) -> &Vec<String>| text(verdict.map(|v| pick(v).join("; ")));
    cells.extend([
        row.cost_usd.to_string(),
        row.cached.to_string(),
        row.simulated.to_string(),
        text(row.error.as_ref().map(|error| word(&error.kind))),
        text(row.error.as_ref().map(|error| error.message.clone())),
        statements(|verdict| &verdict.issues),
        statements(|verdict| &verdict.strengths),
    ]);
    cells.extend(Severity::ALL.map(|severity| text(verdict.map(|it| count(it, severity)))));
    let rules = |verdict: &Verdict| {
        let rules: Vec<&str> = verdict.contradictions.iter().map(|rule| rule.name()).collect();
        rules.join("; ")
    };
    cells.extend([text(verdict.map(rules)), statements(|verdict| &verdict.suspected_instructions)]);
    cells
}

fn count(verdict: &Verdict, severity: Severity) -> String {
    verdict.findings.iter().filter(|finding| finding.severity == severity).count().to_string()
}

fn totals(rubric: &Rubric, verdict: Option<&Verdict>) -> Vec<String> {
    match (rubric.formula, verdict.map(|verdict| &verdict.score)) {
        (_, Some(Score::Sum { semantic_correctness, .. })) => {
            vec![semantic_correctness.to_string()]
        }
        (_, Some(Score::Groups { percentage, grade, dimensions, .. })) => {
            let mean = |key: &String| dimensions.get(key).map(|group| group.score.to_string());
            [percentage.to_string(), grade.clone()]
                .into_iter()
                .chain(rubric.groups.iter().map(|group| mean(&group.key).unwrap_or_default()))
                .collect()
        }
        (Formula::SumOverMax, None) => vec![String::new()],
        (Formula::WeightedGroups, None) => vec![String::new(); 2 + rubric.groups.len()],
    }
}

/// A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text.
fn defused(cell: &str) -> String {
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{cell}"),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests;
