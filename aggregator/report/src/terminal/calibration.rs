//! Agreement of the judge with people: a calibration alone.

use super::{
    super::agreement::{coefficient, difference, size},
    page::{INDENT, Page, Style, fit, padded, right_aligned},
};
use crate::sanitize::harmless;
use juror_analysis::format::{counted, figure, grouped};
use juror_analysis::{
    calibration::{Calibration, Confusion, CriterionCalibration, Figure},
    metrics::Unit,
};
use unicode_width::UnicodeWidthStr as _;

/// So many ids are shown; the file has them all.
const MAX: usize = 5;
/// Columns of a number, and of a number with its interval.
const NUMBER: usize = 8;
const INTERVAL: usize = 21;

pub(super) fn page(page: &mut Page, calibration: &Calibration) {
    let mark = if calibration.binding.simulated { "  SIMULATED" } else { "" };
    let items = counted(calibration.coverage.paired_items, "labeled item");
    page.heading(&format!("CALIBRATION{mark}"), &[(&items, Style::Heading)]);
    facts(page, calibration);
    let table = CalibrationTable { calibration, mark };
    table.rows(
        page,
        "AGREEMENT",
        ["n", "Kappa", "Spearman"],
        [NUMBER, INTERVAL, INTERVAL],
        |each| {
            let all = &each.agreement;
            [grouped(all.n), coefficient(&all.weighted_kappa), coefficient(&all.spearman)]
        },
    );
    page.wrapped(
        "quadratic-weighted kappa: 1 is full agreement, 0 what chance gives",
        0,
        Style::Faint,
    );
    let heads = ["Judge", "People", "Off by", "Bias"];
    let widths = [NUMBER, NUMBER, NUMBER, INTERVAL];
    table.rows(page, "DIFFERENCE", heads, widths, |each| {
        let (unit, all) = (table.unit(each), &each.agreement);
        let mean = |value: Option<f64>| value.map_or_else(none, |value| mean(value, unit));
        [
            mean(all.judge_mean),
            mean(all.people_mean),
            all.mean_absolute_error.value.map_or_else(none, |value| size(value, unit)),
            difference(&all.bias, unit),
        ]
    });
    page.wrapped(
        "bias: the judge less the people, in points; of the whole score, in percentage points",
        0,
        Style::Faint,
    );
    let heads = ["Same step", "One step apart", "People's alpha"];
    let widths = [12, 16, INTERVAL];
    table.rows(page, "STEPS", heads, widths, |each| {
        let all = &each.agreement;
        let rate = |all: &Figure| all.value.map_or_else(none, |value| figure(value, Unit::Share));
        [rate(&all.exact), rate(&all.adjacent), coefficient(&each.people.alpha)]
    });
    page.wrapped(
        "one step apart at most; alpha: people with each other (Krippendorff)",
        0,
        Style::Faint,
    );
    confusion(page, calibration);
    reasons(page, calibration);
    ids(page, "Unknown ids", &calibration.coverage.unknown);
    ids(page, "Labeled, not scored", &calibration.coverage.not_scored);
    if !calibration.warnings.is_empty() {
        page.blank();
    }
    for warning in &calibration.warnings {
        page.wrapped(&format!("!\u{2007}{}", harmless(warning)), 2, Style::Doubtful);
    }
}

fn facts(page: &mut Page, calibration: &Calibration) {
    let Calibration { binding, labels, coverage, .. } = calibration;
    let judge = &binding.judge;
    let mut sampling = format!("{} {}", judge.provider.name(), harmless(&judge.model));
    if let Some(temperature) = judge.temperature {
        sampling.push_str(&format!(", temperature {temperature}"));
    }
    let file = labels.file.as_deref().map_or_else(|| "the items' labels".to_owned(), harmless);
    let mut facts = vec![
        format!("run {}", harmless(calibration.run.as_str())),
        sampling,
        format!("{}@{}", harmless(&binding.rubric.id), binding.rubric.version),
        file,
        counted(labels.ratings, "rating"),
    ];
    if labels.raters > 0 {
        facts.push(counted(labels.raters, "rater"));
    }
    page.wrapped(&facts.join(" · "), 0, Style::Faint);
    let met = format!(
        "{} of {} scored items have labels, {} of {} labeled items have scores",
        grouped(coverage.paired_items),
        grouped(coverage.scored_items),
        grouped(coverage.paired_items),
        grouped(coverage.labelled_items)
    );
    page.wrapped(&met, 0, Style::Faint);
    if binding.simulated {
        let warning = "Every score was made up by the simulator. None is a judgement.";
        page.wrapped(warning, 0, Style::Doubtful);
    }
}

struct CalibrationTable<'a> {
    calibration: &'a Calibration,
    mark: &'static str,
}

impl CalibrationTable<'_> {
    fn unit(&self, criterion: &CriterionCalibration) -> Unit {
        match criterion.key == self.calibration.score.key {
            true => Unit::Share,
            false => Unit::Points { least: 0.0, most: 1.0 },
        }
    }

    fn rows<const N: usize>(
        &self,
        page: &mut Page,
        title: &str,
        heads: [&str; N],
        widths: [usize; N],
        cells: impl Fn(&CriterionCalibration) -> [String; N],
    ) {
        let in_columns = |cells: [String; N]| {
            let all = cells.iter().zip(widths);
            all.map(|(cell, width)| right_aligned(&format!(" {cell}"), width)).collect::<String>()
        };
        page.blank();
        let heads = in_columns(heads.map(str::to_owned));
        page.heading(&format!("{title}{}", self.mark), &[(&heads, Style::Faint)]);
        let room = page.width.saturating_sub(INDENT + heads.width());
        for each in self.calibration.all().filter(|each| each.agreement.n > 0) {
            let title = padded(&fit(&harmless(&each.title), room.saturating_sub(1)), room);
            let indent = " ".repeat(INDENT);
            page.line(&[
                (&indent, Style::Plain),
                (&title, Style::Plain),
                (&in_columns(cells(each)), Style::Plain),
            ]);
        }
    }
}

/// The whole score's, if people rated it.
fn confusion(page: &mut Page, calibration: &Calibration) {
    let Confusion { steps, counts } = &calibration.score.agreement.confusion;
    if calibration.score.agreement.n == 0 {
        return;
    }
    const STEP: usize = 5;
    let heads: String = steps.iter().map(|step| right_aligned(&harmless(step), STEP)).collect();
    page.blank();
    let title = format!(
        "PEOPLE ↓  JUDGE →{}",
        if calibration.binding.simulated { "  SIMULATED" } else { "" }
    );
    page.heading(&title, &[]);
    let row = |page: &mut Page, label: &str, cells: &str, style: Style| {
        let label = format!("{}{}", " ".repeat(INDENT), right_aligned(label, STEP));
        page.line(&[(&label, Style::Faint), (cells, style)]);
    };
    row(page, "", &heads, Style::Faint);
    for (step, counts) in steps.iter().zip(counts) {
        let cell = |count: &u64| if *count == 0 { "·".to_owned() } else { grouped(*count) };
        let cells: String = counts.iter().map(|count| right_aligned(&cell(count), STEP)).collect();
        row(page, &harmless(step), &cells, Style::Plain);
    }
}

/// Why what is not told is not, each reason once.
fn reasons(page: &mut Page, calibration: &Calibration) {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for each in calibration.all() {
        let all = &each.agreement;
        let figures = [
            ("kappa", &all.weighted_kappa),
            ("Spearman", &all.spearman),
            ("bias", &all.bias),
            ("people's alpha", &each.people.alpha),
        ];
        let nobody = all.n == 0;
        for (name, figure) in figures.into_iter().take(if nobody { 1 } else { 4 }) {
            let Some(reason) = &figure.reason else { continue };
            let whose = if nobody { each.title.clone() } else { format!("{} {name}", each.title) };
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, all)) => all.push(whose),
                None => reasons.push((reason.clone(), vec![whose])),
            }
        }
    }
    if reasons.is_empty() {
        return;
    }
    page.blank();
    page.wrapped("What cannot be told:", 0, Style::Heading);
    for (reason, whose) in reasons {
        let text = format!("-\u{2007}{} ({})", harmless(&reason), harmless(&whose.join(", ")));
        page.wrapped(&text, 2, Style::Plain);
    }
}

fn ids(page: &mut Page, title: &str, ids: &[String]) {
    if ids.is_empty() {
        return;
    }
    let shown: Vec<String> = ids.iter().take(MAX).map(|id| harmless(id)).collect();
    let more = match ids.len().saturating_sub(MAX) {
        0 => String::new(),
        more => format!(", … {} more", grouped(more as u64)),
    };
    page.blank();
    page.wrapped(&format!("{title}: {}{more}", shown.join(", ")), 2, Style::Plain);
}

fn mean(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => figure(value, unit),
        _ => format!("{value:.2}"),
    }
}

fn none() -> String {
    "–".to_owned()
}
