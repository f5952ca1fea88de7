//! Judging until the score's interval is narrow enough: a random sample grows in a fixed sequence
//! of sizes, and the run ends at the first one that suffices.

use crate::{
    fold::Counted,
    item_index::ItemIndex,
    metrics::{AveragingPolicy, Metric, MetricDefinition, Tally, metric_at},
};
use juror_journal::journal::{JournalError, RunFiles};
use juror_types::{rubric::Rubric, run::RunRecord};

/// Size of the first sample. Fewer items do not show enough of the spread that decides the end.
pub const INITIAL_SAMPLE: u64 = 60;

/// Size of the sample after one of this size: half as many more.
pub fn next_sample_size(items: u64) -> u64 {
    items.saturating_add(items.div_ceil(2))
}

/// Width of the interval of a run's score so far, as a share; `None` with too few judged items.
pub fn score_width(
    files: &RunFiles,
    counted: &Counted,
    rubric: &Rubric,
    averaging: AveragingPolicy,
) -> Result<Option<f64>, JournalError> {
    let record = files.record();
    let empty = (
        Tally::for_run(rubric, record, averaging),
        ItemIndex::new(record.repeat, counted.len() as usize),
    );
    let (tally, _) = counted.read(files, empty, |(tally, items), result, offset| {
        let item = items.add(&result, offset);
        tally.add(&result, item as usize);
    })?;
    let score = MetricDefinition::decisive(rubric).path;
    let (metrics, ..) = tally.finish();
    Ok(metric_at(&metrics, &score).and_then(Metric::width))
}

/// Warning of a run that ended with a wider interval than requested; `None` without a requested
/// width.
pub(crate) fn missed_width(record: &RunRecord, width: Option<f64>, pending: u64) -> Option<String> {
    let sample = record.dataset.sample.filter(|_| pending == 0)?;
    let limit = sample.until_width?;
    let reached = width.is_some_and(|width| width <= limit);
    let width = width.map_or("unknown".to_owned(), |width| format!("{width:.3}"));
    let judged = match sample.items >= sample.of {
        true => "although the sample includes every item",
        false => "since the run ended before",
    };
    (!reached).then(|| {
        format!(
            "the width of the score's interval is {width}, above the requested {limit}, {judged}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_sizes_grow_by_half_and_always_increase() {
        let mut looks = vec![INITIAL_SAMPLE];
        while looks.len() < 5 {
            looks.extend(looks.last().map(|items| next_sample_size(*items)));
        }
        assert_eq!(looks, [60, 90, 135, 203, 305]);
        assert_eq!(next_sample_size(1), 2);
        assert_eq!(next_sample_size(u64::MAX), u64::MAX);
    }
}
