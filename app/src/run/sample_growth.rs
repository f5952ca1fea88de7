//! Growth of the sample of a run that is judged until its score's interval is narrow enough.

use super::run_setup::RunSetup;
use crate::error::AppError;
use juror_aggregator::run_journal::RunJournal;
use juror_analysis::sequential_sampling;
use juror_producer::plan::ItemSample;
use juror_types::run::{DatasetRecord, RunRecord};

/// The setup with the next larger sample. `None` for a run whose items were chosen beforehand, and
/// at the end: the score's interval is narrow enough, every item is in the sample, or some were
/// left out (money, time), so that a larger sample could not judge more.
pub fn larger_sample(setup: &RunSetup, journal: &RunJournal) -> Result<Option<RunSetup>, AppError> {
    let files = journal.files();
    let sample = files.record().dataset.sample;
    let Some((sample, requested)) = sample.and_then(|sample| Some((sample, sample.until_width?)))
    else {
        return Ok(None);
    };
    let counted = journal.fold().counted();
    let (counts, jobs) = (counted.counts, files.record().jobs());
    if sample.items >= sample.of || counts.skipped > 0 || counted.len() < jobs {
        return Ok(None);
    }
    let averaging = setup.settings.run.averaging_policy();
    let width = sequential_sampling::score_width(files, &counted, &setup.rubric, averaging)?;
    if width.is_some_and(|width| width <= requested) {
        return Ok(None);
    }
    let items = sequential_sampling::next_sample_size(sample.items).min(sample.of);
    let next = setup.with_sample(ItemSample { items, seed: sample.seed })?;
    // A sample of two datasets says nothing of either.
    if next.plan.digest != files.record().dataset.digest {
        return Err(AppError::conflict(format!(
            "{} has changed since the first {} of its items were judged: restore it and resume the \
             run, or start a new one",
            setup.dataset.source().display(),
            sample.items
        )));
    }
    Ok(Some(next))
}

/// The run's record with the sample of this setup.
pub fn record_with_sample(record: &RunRecord, enlarged_setup: &RunSetup) -> RunRecord {
    let sample = enlarged_setup.sample_record();
    let dataset = DatasetRecord { sample, ..record.dataset.clone() };
    RunRecord { dataset, planned: enlarged_setup.plan.jobs, ..record.clone() }
}
