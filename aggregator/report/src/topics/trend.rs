//! Topic of metrics over comparable runs.

use crate::{
    document::{Block, FigureCell, FigureColumn, FigureTable, Level, NameKind, Topic},
    phrasing::{SIMULATED, decline_text, minutes},
};
use juror_analysis::{
    format::{dollars, figure, grouped, interval},
    history::{DeclineReport, DeclineState, PastRun, RunFigures, fingerprint_changes},
    metrics::{Interval, MetricDefinition},
};
use juror_types::run::RunRecord;

/// A run of a trend.
pub type TrendRun<'a> = (&'a RunRecord, &'a RunFigures);

/// Runs with their scores and costs, and changes of the model behind its name.
pub(crate) fn topic(runs: &[PastRun], newest: &RunRecord) -> Topic {
    let trend_runs = trend_runs(runs);
    let mut blocks = vec![Block::Table(table(&trend_runs, None))];
    blocks.extend(model_changes(&trend_runs));
    let name =
        format!("of {}@{} over {}", newest.rubric.id, newest.rubric.version, newest.dataset.path);
    let simulated = runs.iter().any(|run| run.figures.simulated);
    Topic { name, ..Topic::new("trend", "Trend", simulated, blocks) }
}

/// A metric in each of the runs; `None` if no run has it.
pub(crate) fn metric(
    runs: &[PastRun],
    metric: &MetricDefinition,
    decline: Option<&DeclineReport>,
) -> Option<Topic> {
    if !runs.iter().any(|run| run.figures.metrics.contains_key(&metric.path)) {
        return None;
    }
    let mut blocks = vec![Block::Facts(vec![metric.path.clone()])];
    blocks.extend(decline.map(|decline| {
        Block::Sentence(level_of(decline.state), "", decline_text(decline, metric.unit))
    }));
    blocks.push(Block::Table(table(&trend_runs(runs), Some(metric))));
    Some(Topic::new("metric", &*metric.title, false, blocks))
}

/// Changes of the model behind its name over runs, oldest first; they may change scores.
pub fn model_changes(runs: &[TrendRun<'_>]) -> Vec<Block> {
    let runs = runs.iter().map(|(record, figures)| (&record.run_id, *figures));
    let changes = fingerprint_changes(runs).into_iter();
    changes.map(|(_, text)| Block::Sentence(Level::Doubtful, "", text)).collect()
}

/// Figures of a metric in these runs, if one is given, with the score and cost of each run.
pub fn table(runs: &[TrendRun<'_>], metric: Option<&MetricDefinition>) -> FigureTable {
    let mut columns = match metric {
        Some(metric) => {
            vec![FigureColumn::new(&*metric.title), FigureColumn::new("95 % interval")]
        }
        None => Vec::new(),
    };
    let facts = ["Created", "Scored", "Cost"]
        .map(|head| FigureColumn { wide: metric.is_some(), ..FigureColumn::new(head) });
    columns.extend(facts);
    let marked = runs.iter().any(|(_, figures)| figures.simulated);
    columns.extend(marked.then(|| FigureColumn::new("Scores")));
    let rows = runs.iter().map(|(record, figures)| {
        let mut cells = metric.map(|metric| metric_cells(figures, metric)).unwrap_or_default();
        cells.extend([
            FigureCell::Figure(minutes(&record.created_at)),
            FigureCell::Figure(format!("{}/{}", grouped(figures.scored), grouped(figures.planned))),
            FigureCell::Figure(dollars(figures.cost_usd)),
        ]);
        let mark = if figures.simulated { SIMULATED } else { "" };
        cells.extend(marked.then(|| FigureCell::Status(mark.to_owned(), Level::Doubtful)));
        (record.run_id.to_string(), Level::Plain, cells)
    });
    FigureTable { kind: NameKind::Run, ..FigureTable::new("Run", columns, rows) }
}

/// Significance of a metric's course.
pub fn level_of(state: DeclineState) -> Level {
    match state {
        DeclineState::Steady => Level::Good,
        DeclineState::Declining => Level::Bad,
        _ => Level::Faint,
    }
}

fn trend_runs(runs: &[PastRun]) -> Vec<TrendRun<'_>> {
    runs.iter().map(|run| (&run.record, &run.figures)).collect()
}

fn metric_cells(figures: &RunFigures, metric: &MetricDefinition) -> Vec<FigureCell> {
    let past = figures.metrics.get(&metric.path);
    let ends = past.map(|past| Interval { n: past.n, low: past.low, high: past.high });
    vec![
        FigureCell::optional(past, |past| figure(past.value, metric.unit)),
        FigureCell::optional(ends, |ends| interval(&ends, metric.unit)),
    ]
}
