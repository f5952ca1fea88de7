//! What is known of how far the judge agrees with people.

use crate::html::layout::simulated;
use crate::{
    agreement::{self, OF_ANOTHER_JUDGE},
    sanitize::harmless,
};
use juror_analysis::{
    calibration::known::{CalibrationStatus, RunCalibration},
    format::counted,
    run_report::Report,
};
use maud::{Markup, html};

/// The section, if there is a calibration.
pub(super) fn calibrated(report: &Report) -> Markup {
    let Some(known) = &report.calibration else { return html! {} };
    let (class, word) = match known.status {
        CalibrationStatus::Calibrated => ("met", "calibrated"),
        CalibrationStatus::NotEnough => ("undecided", "not enough"),
        CalibrationStatus::Uncalibrated => ("missed", "uncalibrated"),
    };
    html! {
        section.card aria-labelledby="calibration" {
            h2 #calibration {
                "Does the judge agree with people? "
                span class=(format!("chip {class}")) { (word) }
                @if known.simulated { " " (simulated()) }
            }
            p.facts {
                span { (counted(known.n, "labelled item")) } " "
                span { "run " bdi { (harmless(known.run.as_str())) } } " "
                span { (harmless(agreement::day(known))) } " "
                span { bdi { (harmless(&known.file)) } }
            }
            @for change in &known.changed {
                p.notice { strong { "Changed: " } (harmless(change)) }
            }
            @match known.status {
                CalibrationStatus::Calibrated | CalibrationStatus::NotEnough => { (figures(report, known)) }
                CalibrationStatus::Uncalibrated => { p { (OF_ANOTHER_JUDGE) } }
            }
            @if let Some(reason) = &known.shortfall {
                p.notice { "Not enough to call the judge calibrated: " (harmless(reason)) }
            }
            @for note in &known.notes { p.notice { (harmless(note)) } }
        }
    }
}

fn figures(report: &Report, known: &RunCalibration) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="The judge beside people" {
            table.changes {
                caption { span {
                    "Kappa is Cohen's with quadratic weights: 1 where both are at the same step everywhere, 0 where they agree by chance. Bias is the judge less the people."
                } }
                thead { tr {
                    th scope="col" { "Score" } th.n scope="col" { "Kappa" }
                    th.n scope="col" { "Off by" } th.n scope="col" { "Bias" }
                } }
                tbody {
                    @for each in &known.figures {
                        tr {
                            th scope="row" { bdi { (harmless(&each.title)) } }
                            @for cell in agreement::cells(report, each) { td.n { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
