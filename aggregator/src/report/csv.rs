//! One result a line, for spreadsheets.

use super::{ItemRow, row::word};
use crate::{journal::JournalError, metrics::score_of};
use juror_common::{
    outcome::JobResult,
    rubric::{Formula, Rubric},
    verdict::{Score, Verdict},
};
use std::io::{self, Write};

const BEFORE: [&str; 5] =
    ["screenshot_id", "repeat", "outcome", "pipeline_success", "total_latency_ms"];
const STAGES: [&str; 5] =
    ["token_accuracy", "retrieval_correct", "retrieved", "code_compiles", "quality_score"];
const AFTER: [&str; 7] =
    ["cost_usd", "cached", "simulated", "error_kind", "error_message", "issues", "strengths"];

/// Writes a head and a line per result. Columns of the semantic stage are the rubric's; they are
/// empty where a job was not scored.
pub(crate) fn write(
    rubric: &Rubric,
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
    out: &mut impl Write,
) -> io::Result<()> {
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
    table.write_record(head)?;
    for result in results {
        let row = ItemRow::from(result.map_err(io::Error::other)?);
        table.write_record(cells(rubric, row).iter().map(|cell| defused(cell)))?;
    }
    table.flush()
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
    cells
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
    use crate::test_results::{ACRUE, SEMANTIC, broken, judged, restyled, rubric};
    use juror_common::outcome::{ErrorKind, Outcome};

    fn written(text: &str, results: Vec<JobResult>) -> String {
        let mut out = Vec::new();
        write(&rubric(text), results.into_iter().map(Ok), &mut out).unwrap();
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
    fn a_cell_that_a_spreadsheet_would_run_is_text() {
        for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"] {
            let table = written(SEMANTIC, vec![judged("a", [9; 5], &[cell], &[])]);
            assert!(table.contains(&format!("'{cell}")), "{table:?}");
        }
        let evil = written(SEMANTIC, vec![judged("=cmd()", [9; 5], &[], &[])]);
        assert!(evil.contains("\n'=cmd(),"));
    }
}
