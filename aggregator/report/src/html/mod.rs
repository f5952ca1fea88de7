//! The report as one page for a browser: self-contained, readable without script, safe against
//! whatever a model, a dataset or code says. A dashboard is made of the same parts.

mod anchors;
mod calibrated;
mod card;
mod charts;
mod columns;
mod comparison;
mod facts;
mod findings;
mod layout;
mod page_plan;
mod repeats;
mod section;
mod statements;
mod table;
mod verdict;

pub use card::{decided, decision, semantic, stages, targets};
pub use charts::histogram;
pub use columns::{TableColumn, columns};
pub use comparison::{
    decided as comparison_decided, issues as comparison_issues, items as comparison_items,
    means as comparison_means, passes as comparison_passes,
};
pub use facts::facts;
pub use findings::{findings, mark_reasons, marks};
pub use layout::{STYLE, minutes, run_facts, simulated};
pub use page_plan::{StageColumns, verdict_of};
pub use section::{score, took};
pub use table::{first_issue, id_text};
pub use verdict::{group_title, meter, scores, statements};

use super::{Attachments, Shown};
use anchors::Anchors;
use juror_analysis::run_report::Report;
use juror_journal::journal::RunFiles;
use maud::Markup;
use page_plan::Survey;
use std::io::{self, Write};

/// Makes an item's id a link to where that item is shown.
pub type ItemLink<'a> = dyn Fn(&str) -> Markup + 'a;

/// So many results are shown in full, the worst first; the table has all of them. A browser lays
/// out this many in about a second, and their pictures and code stay within some ten megabytes.
const MAX_SECTIONS: usize = 2_000;

/// So many rows a table has: a browser takes minutes to lay out 100,000. What is folded is not laid
/// out, and the script shows as many of all rows at a time.
const AT_A_TIME: usize = 2_000;

/// Writes the page. The journal is read in two passes and once more for the results that are shown
/// in full, so that memory holds some 50 bytes a result, and what is shown in full.
pub(crate) fn write(
    report: &Report,
    files: &RunFiles,
    exhibits: &dyn Attachments,
    out: &mut impl Write,
) -> io::Result<()> {
    let survey = Survey::of(report, report.items.read(files).map_err(io::Error::other)?)?;
    let mut put = |markup: Markup| out.write_all(markup.into_string().as_bytes());
    let anchors = Anchors::of(report, &survey);
    put(layout::opening(report))?;
    put(comparison::comparison(report, &anchors))?;
    put(card::headline(report))?;
    put(facts(report))?;
    put(charts::distributions(report, &survey))?;
    put(calibrated::calibrated(report))?;
    put(repeats::repeats(report, &anchors))?;
    put(statements::common(report, &anchors))?;
    let columns = columns(report, survey.stages);
    put(table::opening(report, &survey, &columns))?;
    let results = survey.order.len();
    let rows = report.items.read_at(files, &survey.order).map_err(io::Error::other)?;
    for (number, result) in rows.enumerate() {
        let result = result.map_err(io::Error::other)?;
        if number > 0 && number.is_multiple_of(AT_A_TIME) {
            put(table::fold(number, results, &columns))?;
        }
        put(table::row(report, &survey, &columns, number, &result))?;
    }
    put(table::closing(results))?;
    sections(report, files, exhibits, &survey, &mut put)?;
    put(layout::closing(report))
}

fn sections(
    report: &Report,
    files: &RunFiles,
    exhibits: &dyn Attachments,
    survey: &Survey,
    put: &mut impl FnMut(Markup) -> io::Result<()>,
) -> io::Result<()> {
    let places = survey.in_full();
    let read = || report.items.read_at(files, places).map_err(io::Error::other);
    let shown = |result| {
        let result: juror_types::outcome::JobResult = result?;
        Ok(Shown::from(result))
    };
    let shown: Result<Vec<Shown>, juror_journal::journal::JournalError> =
        read()?.map(shown).collect();
    let exhibits = exhibits.gather(&shown.map_err(io::Error::other)?);
    put(section::opening(report, survey))?;
    for (number, result) in read()?.enumerate() {
        let result = result.map_err(io::Error::other)?;
        let exhibit = exhibits.get(&result.screenshot_id);
        put(section::of(report, number, &result, exhibit))?;
    }
    put(section::closing())
}

#[cfg(test)]
mod tests;
