//! The report as one HTML page: self-contained, readable without script, and with untrusted text
//! from models, datasets and code escaped. The dashboard uses the same parts.

mod blocks;
mod charts;
mod evidence;
mod findings;
mod layout;
mod metrics;
mod page_plan;
mod picture_pair;
mod result_cells;
mod result_section;
mod results_table;
mod token_evidence;
mod verdict;

pub use crate::phrasing::minutes;
pub use blocks::{blocks, card};
pub use charts::distribution;
pub use evidence::measured_facts;
pub use findings::{badge_explanations, findings, review_badges};
pub use layout::{PICTURES_SCRIPT, STYLE, class_of, simulated};
pub use picture_pair::{PairSide, pair_alignment, regions_over};
pub use result_cells::{column_head, outcome_chip, result_cells};
pub use result_section::{picture_caption, score, took};
pub use verdict::{scores, statement_list};

use super::{AttachmentRequest, Attachments};
use crate::{document::NameKind, sanitize::sanitize, topics};
use juror_analysis::run_report::Report;
use juror_journal::journal::RunFiles;
use maud::{Markup, html};
use page_plan::PagePlan;
use std::{
    collections::HashMap,
    io::{self, Write},
};

/// Makes a name of this kind a link to where that is shown.
pub type NameLink<'a> = dyn Fn(NameKind, &str) -> Markup + 'a;

/// Maximum number of results in full, the worst first; the table has all of them. A browser lays
/// out this many in about a second, and their images and code stay within about ten megabytes.
const MAX_SECTIONS: usize = 2_000;

/// Maximum number of rows of a table: a browser takes minutes to lay out 100,000. Collapsed rows
/// are not laid out, and the script shows this many rows at a time.
const AT_A_TIME: usize = 2_000;

/// Writes the page. The journal is read in two passes and once more for the results that are shown
/// in full, so that memory holds about 50 bytes per result, and the results shown in full.
pub(crate) fn write(
    report: &Report,
    files: &RunFiles,
    attachments: &dyn Attachments,
    out: &mut impl Write,
) -> io::Result<()> {
    let plan = PagePlan::for_report(report, files)?;
    let mut put = |markup: Markup| out.write_all(markup.into_string().as_bytes());
    let sections = sections_of_items(report, &plan);
    let link = |kind: NameKind, name: &str| match (kind, sections.get(name)) {
        (NameKind::Item, Some(number)) => {
            html! { a href=(format!("#i{number}")) { bdi { (sanitize(name)) } } }
        }
        // They are first among the results that are shown in full.
        (NameKind::Contradictions, _) => html! { a href="#full" { (sanitize(name)) } },
        _ => html! { bdi { (sanitize(name)) } },
    };
    let head = topics::head::topic(report);
    put(layout::opening(&report.run, &head, &blocks(&head.blocks, &link)))?;
    put(html! {
        div.cards { @for topic in topics::behind_head(report) { (card(&topic, &link)) } }
        @if plan.distribution.verdicts > 0 {
            section.card aria-labelledby="spread" {
                h2 #spread {
                    "Distribution of scores" @if report.run.simulated { " " (simulated()) }
                }
                (distribution(&plan.distribution))
            }
        }
    })?;
    let columns = topics::results::shown_columns(report);
    put(results_table::opening(report, &plan, &columns))?;
    let results = plan.order.len();
    let rows = report.items.read_at(files, &plan.order)?;
    for (number, result) in rows.enumerate() {
        let result = result?;
        if number > 0 && number.is_multiple_of(AT_A_TIME) {
            put(results_table::fold(number, results, &columns))?;
        }
        put(results_table::row(report, &plan, &columns, number, &result))?;
    }
    put(results_table::closing(results))?;
    write_sections(report, files, attachments, &plan, &mut put)?;
    put(layout::closing(&report.run))
}

/// The first section of each item that is shown in full, by its id.
fn sections_of_items<'a>(report: &'a Report, plan: &PagePlan) -> HashMap<&'a str, usize> {
    let numbered = plan.in_full().iter().enumerate().rev();
    let item = |place: &u32| Some(report.items.id(report.items.number_at(*place)?));
    numbered.filter_map(|(number, place)| Some((item(place)?, number))).collect()
}

fn write_sections(
    report: &Report,
    files: &RunFiles,
    attachments: &dyn Attachments,
    plan: &PagePlan,
    put: &mut impl FnMut(Markup) -> io::Result<()>,
) -> io::Result<()> {
    let read = || report.items.read_at(files, plan.in_full());
    let shown = read()?.map(|result| result.map(AttachmentRequest::from));
    let attachments = attachments.gather(&shown.collect::<Result<Vec<_>, _>>()?);
    put(result_section::opening(report, plan))?;
    for (number, result) in read()?.enumerate() {
        let result = result?;
        let attachment = attachments.get(&result.screenshot_id);
        put(result_section::section(report, number, &result, attachment))?;
    }
    put(result_section::closing())
}

#[cfg(test)]
mod tests;
