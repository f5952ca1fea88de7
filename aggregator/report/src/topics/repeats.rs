//! Layout of the judge's agreement with itself.

use crate::document::{
    Block, FigureCell, FigureColumn, FigureRow, FigureTable, Level, List, ListEntry, Topic,
};
use juror_analysis::{
    format::{counted, decimals, figure},
    metrics::Unit,
    repeats::{CriterionAgreement, ItemSpread},
    run_report::Report,
};

/// The topic; `None` if items were judged once.
pub fn topic(report: &Report) -> Option<Topic> {
    let repeats = report.repeats.as_ref()?;
    let scale = report.rubric.scale;
    let points = Unit::Points { least: scale.min.into(), most: scale.max.into() };
    let criteria = repeats.criteria.iter().map(|criterion| row(criterion, points));
    let rows = std::iter::once(row(&repeats.score, Unit::Share)).chain(criteria);
    let columns = ["Alpha", "Noise's share", "Deviation"].map(FigureColumn::new);
    let table = FigureTable {
        note: "Krippendorff's alpha (1: the judge repeats itself); the share of a single verdict's \
               variance that is the judge's own noise; its standard deviation around an item's mean",
        ..FigureTable::new("Score", columns, rows)
    };
    let unsteady: Vec<_> = repeats.items.iter().filter(|item| item.deviation > 0.0).collect();
    let title = format!(
        "Verdicts differ on {} of {}",
        unsteady.len(),
        counted(repeats.items.len() as u64, "item")
    );
    let blocks =
        vec![Block::Table(table), Block::List(List::new(title, &unsteady, |item| entry(item)))];
    Some(Topic::new("repeats", "Repeats", report.run.simulated, blocks))
}

fn row(of: &CriterionAgreement, unit: Unit) -> FigureRow {
    let found = &of.agreement;
    let deviation = |value: f64| match unit {
        Unit::Share => figure(value, unit),
        _ => decimals(value, 2),
    };
    let cells = vec![
        FigureCell::optional(found.alpha, |alpha| format!("{alpha:.2}")),
        FigureCell::optional(found.noise_share, |share| figure(share, Unit::Share)),
        FigureCell::optional(found.noise_deviation, deviation),
    ];
    (of.title.clone(), Level::Plain, cells)
}

fn entry(item: &ItemSpread) -> ListEntry {
    let share = |value: f64| figure(value, Unit::Share);
    let (mean, deviation) = (share(item.mean), share(item.deviation));
    let (low, high) = (share(item.low), share(item.high));
    ListEntry::item(&item.id, format!("{mean} ± {deviation}, from {low} to {high}"))
}
