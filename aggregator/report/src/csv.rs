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

/// Column of runs that are compared with a baseline, behind those: `new`, `fixed`, `worse`, `flaky`, or
/// nothing.
const CHANGE: &str = "since_baseline";

const RUN: [&str; 6] = ["run_id", "model", "endpoint", "judged_part", "cluster", "tags"];

/// Fields of metadata that any result has, in the order of their names; each is the column
/// `metadata.NAME`.
#[derive(Debug, Default)]
pub(crate) struct MetadataColumns(BTreeSet<String>);

impl MetadataColumns {
    /// Reads the results for the fields that they have.
    pub(crate) fn of(
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

/// Whether the code renders, and the figures and the first region of what was measured.
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
mod tests {
    use super::*;
    use juror_analysis::test_results::{
        ACRUE, SEMANTIC, broken, judged, record, report_of, restyled,
    };
    use juror_types::{
        outcome::{ErrorKind, Outcome},
        rubric::RESERVED_KEYS,
        run::SampleRecord,
    };

    fn written(text: &str, results: Vec<JobResult>) -> String {
        let mut out = Vec::new();
        let record = record(text, results.len() as u64);
        let (report, _directory, _runs) = report_of(&record, &results, None, None);
        let metadata = MetadataColumns::of(results.clone().into_iter().map(Ok)).unwrap();
        let results = results.into_iter().map(Ok);
        write(&report, &metadata, results, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_line_has_the_columns_of_the_head() {
        let table = written(
            SEMANTIC,
            vec![
                judged("a", [9, 9, 10, 8, 9], &["Missing, icon"], &[]),
                broken("b", Outcome::Failed, ErrorKind::Api, "the API\nfailed"),
            ],
        );
        assert!(table.contains(
            "a,0,scored,true,2850,0.92,true,button,true,0.88,0.9,9,9,10,8,9,0.005927500,false,false,,,\"Missing, icon\","
        ));
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        assert_eq!(reader.records().map(Result::unwrap).count(), 2);
        let table = written(ACRUE, vec![restyled("fox", [4, 5, 4, 3, 4], &[])]);
        assert!(table.contains(",82,A,4,5,4,3,4,4,5,4,3,4,"), "{table}");
    }

    #[test]
    fn the_last_columns_are_the_run_and_the_fields_of_the_item() {
        let mut tagged = judged("a", [9; 5], &[], &[]);
        tagged.item.tags = vec!["form".into(), "dark".into()];
        tagged.item.cluster = Some("login".into());
        tagged.item.metadata = serde_json::from_str(r#"{"run_id":"own","size":{"w":3}}"#).unwrap();
        let table = written(SEMANTIC, vec![tagged, judged("b", [9; 5], &[], &[])]);
        let mut lines = table.lines();
        let head = lines.next().unwrap();
        let columns =
            ",run_id,model,endpoint,judged_part,cluster,tags,metadata.run_id,metadata.size";
        assert!(head.ends_with(columns), "{head}");
        let end = "gpt-4o,https://api.openai.com/v1,,login,form; dark,own,\"{\"\"w\"\":3}\"";
        assert!(lines.next().unwrap().ends_with(end), "{table}");
        assert!(
            lines.next().unwrap().ends_with(",gpt-4o,https://api.openai.com/v1,,,,,"),
            "{table}"
        );
    }

    #[test]
    fn each_line_says_which_part_of_the_dataset_was_judged() {
        let results = vec![
            judged("a", [9; 5], &[], &[]),
            broken("b", Outcome::Skipped, ErrorKind::Budget, "-"),
        ];
        let mut record = record(SEMANTIC, 2);
        record.dataset.sample = Some(SampleRecord { items: 2, seed: 7, of: 10, until_width: None });
        let (report, _directory, _runs) = report_of(&record, &results, None, None);
        let mut out = Vec::new();
        let results = results.into_iter().map(Ok);
        write(&report, &MetadataColumns::default(), results, &mut out).unwrap();
        let table = String::from_utf8(out).unwrap();
        let part = "a random sample of 2 of 10 items (seed 7); only the first in the dataset's \
                    order, since the budget left 1 job unjudged";
        assert_eq!(table.matches(part).count(), 2, "{table}");
    }

    #[test]
    fn no_rubric_has_a_key_that_is_a_column() {
        for column in BEFORE.iter().chain(&STAGES).chain(&AFTER).chain(&EVIDENCE).chain(&RUN) {
            assert!(RESERVED_KEYS.contains(column), "{column}");
        }
    }

    #[test]
    fn a_cell_that_a_spreadsheet_would_run_is_text() {
        for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"] {
            let table = written(SEMANTIC, vec![judged("a", [9; 5], &[cell], &[])]);
            assert!(table.contains(&format!("'{cell}")), "{table:?}");
        }
        let evil = written(SEMANTIC, vec![judged("=cmd()", [9; 5], &[], &[])]);
        assert!(evil.contains("\n'=cmd(),"));
    }
}
