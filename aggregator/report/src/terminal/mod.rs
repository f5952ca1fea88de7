//! The report as text for a terminal.

mod blocks;
mod calibration;
mod closing;
mod page;
mod paused;
mod quality;
mod screenshots;
mod statements;
mod trend;

pub use trend::render_trend;

use crate::{
    phrasing::{endpoint, has_stages, selection_texts},
    sanitize::harmless,
    topics,
};
use juror_analysis::run_report::Report;
use juror_analysis::{calibration::Calibration, comparison::Comparison};
use page::{Page, Style};

/// Width and colors of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns; between 74 and 160 are used.
    pub width: usize,
    /// Whether to color with ANSI sequences; without, the text is plain.
    pub color: bool,
}

/// The whole report.
pub fn render(report: &Report, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    heading(&mut page, report);
    if let Some(comparison) = &report.comparison {
        blocks::topic(&mut page, &topics::changes::topic(comparison));
        page.blank();
    }
    if report.run.judge.is_some() {
        quality::semantic(&mut page, report);
        quality::coverage(&mut page, report);
        statements::common(&mut page, report);
        if has_stages(report) {
            page.blank();
            page.heading("PIPELINE", &[]);
            quality::stages(&mut page, report);
        }
        quality::legend(&mut page);
    } else {
        quality::stages(&mut page, report);
        quality::coverage(&mut page, report);
    }
    screenshots::table(&mut page, report);
    let topics = [
        topics::measured::topic(report),
        topics::repeats::topic(report),
        topics::calibration::topic(report),
    ];
    for topic in topics {
        topic.iter().for_each(|topic| blocks::section(&mut page, topic));
    }
    closing::targets(&mut page, report);
    closing::cost_and_time(&mut page, report);
    closing::warnings(&mut page, report);
    if let Some(comparison) = &report.comparison {
        blocks::section(&mut page, &topics::comparison::topic(comparison));
    }
    page.finish()
}

/// A run that is paused for this reason. Where nothing was found yet, only what is known; else the
/// whole report.
pub fn render_paused(report: &Report, reason: &str, options: TerminalOptions) -> String {
    if report.metrics.iter().any(|metric| metric.value.is_some()) {
        return render(report, options);
    }
    let mut page = Page::new(options.width, options.color);
    paused::section(&mut page, report, reason);
    page.finish()
}

/// A comparison alone.
pub fn render_comparison(comparison: &Comparison, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    blocks::topic(&mut page, &topics::comparison::topic(comparison));
    blocks::section(&mut page, &topics::changes::topic(comparison));
    page.finish()
}

/// A calibration alone.
pub fn render_calibration(calibration: &Calibration, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    calibration::page(&mut page, calibration);
    page.finish()
}

fn heading(page: &mut Page, report: &Report) {
    let run = &report.run;
    let title = match &run.judge {
        Some(_) => format!("{} EVALUATION (LLM-as-judge)", harmless(&run.rubric.id).to_uppercase()),
        None => "PIPELINE EVALUATION (judge off)".to_owned(),
    };
    let id = harmless(run.id.as_str());
    match run.simulated {
        true => page.heading(&title, &[(" SIMULATED ", Style::Badge)]),
        false => page.heading(&title, &[]),
    }
    let mut facts = vec![format!("run {id}"), harmless(&run.dataset.path)];
    facts.extend(selection_texts(&run.dataset).iter().map(|text| harmless(text)));
    if let Some(judge) = &run.judge {
        facts.push(format!("{}@{}", harmless(&run.rubric.id), run.rubric.version));
        let mut settings = format!("{} {}", judge.provider.name(), harmless(&judge.model));
        if let Some(temperature) = judge.temperature {
            settings.push_str(&format!(", temperature {temperature}"));
        }
        settings.push_str(&format!(", detail {}", judge.detail.name()));
        facts.push(settings);
        facts.extend(endpoint(report).map(|endpoint| harmless(&endpoint)));
    }
    if run.repeat > 1 {
        facts.push(format!("each judged {} times", run.repeat));
    }
    page.wrapped(&facts.join(" · "), 0, Style::Faint);
    if run.simulated {
        let warning = "Every score below was made up by the simulator. None is a judgement.";
        page.wrapped(warning, 0, Style::Doubtful);
    }
    page.blank();
}

#[cfg(test)]
mod tests;
