//! CSV with one result per line, for spreadsheets.

use crate::{
    phrasing::{endpoint, judged_part},
    regions::region_text,
    topics::results::{
        ResultCell, ResultColumn, compiles, cost, criteria, item, outcome, passed, pattern,
        quality, time, tokens, totals,
    },
};
use juror_analysis::{metrics::Unit, run_report::Report};
use juror_journal::journal::RunFiles;
use juror_types::{evidence::Evidence, finding::Severity, outcome::JobResult};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Write},
};

/// Most fields of metadata that get a column.
const MAX_METADATA_COLUMNS: usize = 200;

/// Writes a head and a line per result. Columns of the semantic stage are the rubric's; they are
/// empty where a job was not scored.
pub(crate) fn write(report: &Report, files: &RunFiles, out: &mut impl Write) -> io::Result<()> {
    let columns = columns(report, &metadata_fields(report, files)?);
    let mut table = csv::Writer::from_writer(out);
    table.write_record(columns.iter().map(|column| escape_formula(&column.name)))?;
    for result in report.items.read(files)? {
        let result = result?;
        let text = |column: &ResultColumn| {
            column.cell(&result).map_or_else(String::new, ResultCell::exact)
        };
        table.write_record(columns.iter().map(|column| escape_formula(&text(column))))?;
    }
    table.flush()
}

/// Fields of metadata that any result has, in the order of their names; each is the column
/// `metadata.NAME`.
fn metadata_fields(report: &Report, files: &RunFiles) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for result in report.items.read(files)? {
        for name in result?.item.metadata.keys() {
            if names.len() < MAX_METADATA_COLUMNS && !names.contains(name) {
                names.insert(name.clone());
            }
        }
    }
    Ok(names)
}

/// All columns; their order is a contract.
fn columns(report: &Report, metadata: &BTreeSet<String>) -> Vec<ResultColumn> {
    let repeat =
        ResultColumn::for_csv("repeat", |result| Some(ResultCell::Count(result.repeat.into())));
    let retrieved = text("retrieved", |result| result.retrieval.as_ref()?.retrieved.clone());
    let mut columns = vec![item(false), repeat, outcome(), passed(), time()];
    columns.extend([tokens(), pattern(), retrieved, compiles(), quality()]);
    columns.extend(totals(&report.rubric));
    columns.extend(criteria(&report.rubric));
    columns.push(cost());
    columns.extend(verdict_columns());
    if report.evidence.is_some() {
        columns.extend(evidence_columns());
    }
    columns.extend(report.comparison.as_ref().map(|comparison| {
        let groups = comparison.changes.group_of_items();
        let groups = groups.into_iter().map(|(id, group)| (id.to_owned(), group));
        let groups: HashMap<String, &str> = groups.collect();
        text("since_baseline", move |result| Some((*groups.get(&result.screenshot_id)?).to_owned()))
    }));
    columns.extend(run_columns(report));
    columns.extend(metadata.iter().map(|field| {
        let own = field.clone();
        text(format!("metadata.{field}"), move |result| {
            metadata_text(result.item.metadata.get(&own)?)
        })
    }));
    columns
}

/// A column of text.
fn text(
    name: impl Into<String>,
    text: impl Fn(&JobResult) -> Option<String> + Send + Sync + 'static,
) -> ResultColumn {
    ResultColumn::for_csv(name, move |result| Some(ResultCell::Text(text(result)?)))
}

/// Origin and error of a result, and the verdict's statements.
fn verdict_columns() -> Vec<ResultColumn> {
    let mut columns = vec![
        ResultColumn::for_csv("cached", |result| Some(ResultCell::Holds(result.cached))),
        ResultColumn::for_csv("simulated", |result| Some(ResultCell::Holds(result.is_simulated()))),
        text("error_kind", |result| Some(result.error.as_ref()?.kind.name().to_owned())),
        text("error_message", |result| Some(result.error.as_ref()?.message.clone())),
        text("issues", |result| Some(result.verdict()?.issues.join("; "))),
        text("strengths", |result| Some(result.verdict()?.strengths.join("; "))),
    ];
    columns.extend(Severity::ALL.map(|severity| {
        ResultColumn::for_csv(format!("findings_{}", severity.name()), move |result| {
            let findings = result.verdict()?.findings.iter();
            let count = findings.filter(|finding| finding.severity == severity).count();
            Some(ResultCell::Count(count as u64))
        })
    }));
    columns.extend([
        text("contradictions", |result| {
            let rules = result.verdict()?.contradictions.iter().map(|rule| rule.name());
            Some(rules.collect::<Vec<_>>().join("; "))
        }),
        text("suspected_instructions", |result| {
            Some(result.verdict()?.suspected_instructions.join("; "))
        }),
    ]);
    columns
}

/// Columns of the render, the measured figures and the first region.
fn evidence_columns() -> Vec<ResultColumn> {
    fn measured(result: &JobResult) -> Option<&Evidence> {
        result.evidence.as_ref()?.measured()
    }
    fn holds(name: &str, value: fn(&Evidence) -> bool) -> ResultColumn {
        ResultColumn::for_csv(name, move |result| Some(ResultCell::Holds(value(measured(result)?))))
    }
    fn figure(name: &str, unit: Unit, value: fn(&Evidence) -> Option<f64>) -> ResultColumn {
        ResultColumn::for_csv(name, move |result| {
            Some(ResultCell::Figure(value(measured(result)?)?, unit))
        })
    }
    vec![
        ResultColumn::for_csv("renders", |result| {
            Some(ResultCell::Holds(result.generation.as_ref()?.renders?))
        }),
        text("render_error", |result| Some(result.evidence.as_ref()?.error()?.to_owned())),
        figure("pixels_equal", Unit::Share, |evidence| Some(evidence.pixels_equal)),
        figure("ssim", Unit::Score, |evidence| Some(evidence.ssim)),
        ResultColumn::for_csv("regions", |result| {
            Some(ResultCell::Count(measured(result)?.regions.len() as u64))
        }),
        text("first_region", |result| Some(region_text(measured(result)?.regions.first()?))),
        text("unmeasured", |result| result.unmeasured.clone()),
        figure("ssim_low", Unit::Score, |evidence| Some(evidence.ssim_low)),
        figure("block_match", Unit::Share, |evidence| evidence.block_match),
        figure("block_position", Unit::Share, |evidence| evidence.block_position),
        figure("delta_e", Unit::Score, |evidence| Some(evidence.delta_e)),
        figure("evidence_explained", Unit::Share, |evidence| evidence.explained),
        figure("evidence_noise", Unit::Share, |evidence| Some(evidence.noise)),
        text("stand_ins", |result| Some(measured(result)?.partial.join("; "))),
        holds("pastes_screenshot", |evidence| evidence.pastes_screenshot),
        holds("cut_short", |evidence| evidence.cut_short),
    ]
}

/// The run, and the labels of the item.
fn run_columns(report: &Report) -> [ResultColumn; 6] {
    let run = report.run.id.to_string();
    let (endpoint, part) = (endpoint(report), judged_part(report));
    [
        text("run_id", move |_| Some(run.clone())),
        text("model", |result| Some(result.judge.as_ref()?.model.clone())),
        text("endpoint", move |_| endpoint.clone()),
        text("judged_part", move |_| part.clone()),
        text("cluster", |result| result.item.cluster.clone()),
        text("tags", |result| Some(result.item.tags.join("; "))),
    ]
}

/// A value of metadata; one that is no text is written as JSON.
fn metadata_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

/// A spreadsheet runs a cell that begins like a formula, in some languages with a character of full
/// width; an apostrophe makes it text.
fn escape_formula(cell: &str) -> String {
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
        true => format!("'{cell}"),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests;
