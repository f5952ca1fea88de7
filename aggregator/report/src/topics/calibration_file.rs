//! Layout of a calibration alone: the judge's agreement with people, criterion by criterion.

use super::{
    calibration::{coefficient, difference, optional, size},
    head::simulated,
};
use crate::{
    document::{Block, FigureCell, FigureColumn, FigureTable, Level, Topic},
    phrasing::judge_text,
};
use juror_analysis::{
    calibration::{Calibration, Confusion, CriterionCalibration},
    format::{counted, figure, grouped},
    metrics::Unit,
};

/// Maximum number of ids that are shown; the file has them all.
const MAX_IDS: usize = 5;

/// Lays out a calibration file.
pub fn topic(calibration: &Calibration) -> Topic {
    let Calibration { scope, coverage, .. } = calibration;
    let overlap = format!(
        "{} of {} scored items have labels, {} of {} labeled items have scores",
        grouped(coverage.paired_items),
        grouped(coverage.scored_items),
        grouped(coverage.paired_items),
        grouped(coverage.labelled_items)
    );
    let mut blocks = vec![facts(calibration), Block::Sentence(Level::Faint, "", overlap)];
    blocks.extend(scope.simulated.then(simulated));
    blocks.extend([agreement(calibration), differences(calibration), steps(calibration)]);
    if calibration.score.agreement.n > 0 {
        blocks.push(confusion(&calibration.score.agreement.confusion));
    }
    let reasons = reasons(calibration).into_iter();
    blocks.extend(reasons.map(|text| Block::Sentence(Level::Plain, "Not told", text)));
    blocks.extend(ids("Unknown ids", &coverage.unknown));
    blocks.extend(ids("Labeled, not scored", &coverage.not_scored));
    let warnings = calibration.warnings.iter();
    blocks.extend(warnings.map(|text| Block::Sentence(Level::Doubtful, "", text.clone())));
    Topic::new("calibration", "Calibration", scope.simulated, blocks)
}

fn facts(calibration: &Calibration) -> Block {
    let Calibration { scope, labels, coverage, .. } = calibration;
    let mut facts = vec![
        counted(coverage.paired_items, "labeled item"),
        format!("run {}", calibration.run),
        judge_text(&scope.judge),
        format!("{}@{}", scope.rubric.id, scope.rubric.version),
        labels.file.clone().unwrap_or_else(|| "the items' labels".to_owned()),
        counted(labels.ratings, "rating"),
    ];
    facts.extend((labels.raters > 0).then(|| counted(labels.raters, "rater")));
    Block::Facts(facts)
}

fn agreement(calibration: &Calibration) -> Block {
    let cells = |each: &CriterionCalibration| {
        let all = &each.agreement;
        vec![grouped(all.n), coefficient(&all.weighted_kappa), coefficient(&all.spearman)]
    };
    Block::Table(FigureTable {
        title: "Agreement",
        note: "quadratic-weighted kappa: 1 is full agreement, 0 what chance gives",
        ..table(calibration, &["n", "Kappa", "Spearman"], cells)
    })
}

fn differences(calibration: &Calibration) -> Block {
    let cells = |each: &CriterionCalibration| {
        let unit = match each.key == calibration.score.key {
            true => Unit::Share,
            false => Unit::Points { least: 0.0, most: 1.0 },
        };
        let mean = |value: f64| match unit {
            Unit::Share => figure(value, unit),
            _ => format!("{value:.2}"),
        };
        let all = &each.agreement;
        vec![
            optional(all.judge_mean, mean),
            optional(all.people_mean, mean),
            optional(all.mean_absolute_error.value, |value| size(value, unit)),
            difference(&all.bias, unit),
        ]
    };
    Block::Table(FigureTable {
        title: "Difference",
        note: "bias: the judge less the people, in points; of the whole score, in percentage points",
        ..table(calibration, &["Judge", "People", "Off by", "Bias"], cells)
    })
}

fn steps(calibration: &Calibration) -> Block {
    let cells = |each: &CriterionCalibration| {
        let rate = |value: Option<f64>| optional(value, |value| figure(value, Unit::Share));
        let all = &each.agreement;
        vec![rate(all.exact.value), rate(all.adjacent.value), coefficient(&each.people.alpha)]
    };
    Block::Table(FigureTable {
        title: "Steps",
        note: "one step apart at most; alpha: people with each other (Krippendorff)",
        ..table(calibration, &["Same step", "One step apart", "People's alpha"], cells)
    })
}

/// A row for each score that people rated.
fn table(
    calibration: &Calibration,
    heads: &[&str],
    cells: impl Fn(&CriterionCalibration) -> Vec<String>,
) -> FigureTable {
    let rated = calibration.all().filter(|each| each.agreement.n > 0);
    let rows = rated.map(|each| {
        let cells = cells(each).into_iter().map(FigureCell::Figure).collect();
        (each.title.clone(), Level::Plain, cells)
    });
    let columns = heads.iter().map(|head| FigureColumn::new(*head));
    FigureTable::new("Score", columns, rows)
}

/// Confusion matrix of the total score's steps, by people and by the judge.
fn confusion(confusion: &Confusion) -> Block {
    let cell = |count: &u64| if *count == 0 { "·".to_owned() } else { grouped(*count) };
    let rows = confusion.steps.iter().zip(&confusion.counts).map(|(step, counts)| {
        let cells = counts.iter().map(|count| FigureCell::Figure(cell(count))).collect();
        (step.clone(), Level::Plain, cells)
    });
    let columns = confusion.steps.iter().map(|step| FigureColumn::new(step.clone()));
    let table = FigureTable::new("People ↓  judge →", columns, rows);
    Block::Table(FigureTable { title: "People ↓  judge →", ..table })
}

/// Reasons for figures that are missing, each once, with those figures.
fn reasons(calibration: &Calibration) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for each in calibration.all() {
        let all = &each.agreement;
        let figures = [
            ("kappa", &all.weighted_kappa),
            ("Spearman", &all.spearman),
            ("bias", &all.bias),
            ("people's alpha", &each.people.alpha),
        ];
        let unrated = all.n == 0;
        for (name, figure) in figures.into_iter().take(if unrated { 1 } else { 4 }) {
            let Some(reason) = figure.reason.as_deref() else { continue };
            let subject =
                if unrated { each.title.clone() } else { format!("{} {name}", each.title) };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, subjects)) => subjects.push(subject),
                None => reasons.push((reason, vec![subject])),
            }
        }
    }
    let reasons = reasons.into_iter();
    reasons.map(|(reason, subjects)| format!("{reason} ({})", subjects.join(", "))).collect()
}

fn ids(title: &'static str, ids: &[String]) -> Option<Block> {
    let shown = ids.get(..MAX_IDS).unwrap_or(ids);
    let more = match ids.len() - shown.len() {
        0 => String::new(),
        more => format!(", … {} more", grouped(more as u64)),
    };
    let text = format!("{}{more}", shown.join(", "));
    (!ids.is_empty()).then_some(Block::Sentence(Level::Plain, title, text))
}
