//! The report as one page for a browser: self-contained, readable without script, safe against
//! whatever a model, a dataset or code says. A dashboard is made of the same parts.

mod anchors;
mod blocks;
mod card;
mod charts;
mod columns;
mod evidence;
mod facts;
mod findings;
mod layout;
mod page_plan;
mod section;
mod statements;
mod table;
mod verdict;

pub use blocks::blocks;
pub use card::{decided, decision, semantic, stages, targets};
pub use charts::histogram;
pub use columns::{TableColumn, columns};
pub use evidence::{PairSide, measured_facts, regions_over};
pub use facts::facts;
pub use findings::{findings, mark_reasons, marks};
pub use layout::{PICTURES_SCRIPT, STYLE, minutes, run_facts, simulated};
pub use page_plan::{StageColumns, verdict_of};
pub use section::{score, took};
pub use table::{first_issue, id_text};
pub use verdict::{group_title, meter, scores, statements};

use super::{Attachments, Shown};
use crate::{sanitize::harmless, topics};
use anchors::Anchors;
use juror_analysis::{comparison::BaselineChanges, run_report::Report};
use juror_journal::journal::RunFiles;
use juror_types::id::RunId;
use maud::{Markup, html};
use page_plan::Survey;
use std::io::{self, Write};

/// Measurements between screenshots and rendered code, as a card; none where there are none.
pub fn measured(report: &Report, link: &ItemLink<'_>) -> Option<Markup> {
    let topic = topics::measured::topic(report)?;
    Some(blocks::card("measured", &html! { "Measured" }, &topic, link))
}

/// Changes since this run, as a card.
pub fn changes(
    base: &RunId,
    changes: &BaselineChanges,
    simulated: bool,
    link: &ItemLink<'_>,
) -> Markup {
    let topic = topics::changes::topic_since(base, changes, simulated);
    blocks::card("changes", &html! { (topic.title) }, &topic, link)
}

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
    let link = |id: &str| anchors.link(id);
    if let Some(comparison) = &report.comparison {
        let run = &comparison.base.run;
        put(changes(run, &comparison.changes, comparison.simulated, &link))?;
        let heading = html! { "Since run " bdi { (harmless(comparison.base.run.as_str())) } };
        let topic = topics::comparison::topic(comparison);
        put(blocks::card("comparison", &heading, &topic, &link))?;
    }
    put(card::headline(report))?;
    if let Some(measured) = measured(report, &link) {
        put(measured)?;
    }
    put(facts(report))?;
    put(charts::distributions(report, &survey))?;
    if let Some(topic) = topics::calibration::topic(report) {
        let heading = html! { "Does the judge agree with people?" };
        put(blocks::card("calibration", &heading, &topic, &link))?;
    }
    if let Some(topic) = topics::repeats::topic(report) {
        let heading = html! { "Does the judge repeat itself?" };
        put(blocks::card("repeats", &heading, &topic, &link))?;
    }
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
