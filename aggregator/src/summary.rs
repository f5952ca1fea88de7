//! From a run's journal to its report, in one pass and flat memory.

use crate::{
    fold::Counted,
    gate::{ApiStreak, Gate},
    issues::Statements,
    items::Items,
    journal::{JournalError, RunFiles},
    metrics::{FailurePolicy, Overall, Tally, tidy},
    repeats::repeats,
    report::{Cost, Coverage, ItemRow, Report, RunSummary},
};
use indexmap::IndexMap;
use juror_common::{
    admission::{Budget, Ledger},
    outcome::{ErrorKind, JobResult, Outcome},
    rubric::Rubric,
    run::RunRecord,
};

/// So many results are shown one by one where all would be too many.
const WORST: usize = 20;

/// So many different statements are counted at a time, issues and strengths each.
const MOST_GROUPS: usize = 50_000;

/// What a report is made of, beside the journal.
#[derive(Clone, Debug)]
pub struct SummaryInput<'a> {
    /// Which results count, by the fold of the same journal.
    pub counted: &'a Counted,
    /// The rubric of the run, read from its record's text.
    pub rubric: &'a Rubric,
    /// What the ledger holds of the run; none if it has no record of it.
    pub ledger: Option<Ledger>,
    /// What the run must meet.
    pub gate: Option<&'a Gate>,
    /// Whether failed jobs enter averages.
    pub failures: FailurePolicy,
    /// Now, RFC 3339 in UTC.
    pub finished_at: String,
}

/// Reads a run's results and says what they say: once, or twice where items were judged several
/// times.
pub fn summarise(files: &RunFiles, input: &SummaryInput<'_>) -> Result<Report, JournalError> {
    let record = files.record();
    let mut scan = Scan::new(record, input);
    for read in files.results()? {
        let (offset, result) = read?;
        if input.counted.contains(offset) {
            scan.add(result, offset);
        }
    }
    let mut report = scan.finish(record, input);
    if record.repeat > 1 && record.judge.is_some() {
        report.repeats = Some(repeats(input.rubric, report.items.read(files)?)?);
    }
    Ok(report)
}

struct Scan<'a> {
    tally: Tally<'a>,
    items: Items,
    issues: Statements,
    strengths: Statements,
    /// The last item with a verdict, and how many there are.
    judged_items: JudgedItems,
    streak: ApiStreak,
    errors: IndexMap<ErrorKind, u64>,
    worst: Vec<ItemRow>,
    simulated: bool,
}

/// Counts items with a verdict, each once however often it is judged.
#[derive(Default)]
struct JudgedItems {
    seen: Vec<bool>,
    count: u64,
}

impl JudgedItems {
    fn add(&mut self, item: u32) {
        let position = item as usize;
        if self.seen.len() <= position {
            self.seen.resize(position + 1, false);
        }
        if let Some(seen) = self.seen.get_mut(position) {
            self.count += u64::from(!*seen);
            *seen = true;
        }
    }
}

impl<'a> Scan<'a> {
    fn new(record: &RunRecord, input: &SummaryInput<'a>) -> Self {
        let judged = record.judge.is_some();
        Self {
            tally: Tally::new(input.rubric, judged, record.repeat, input.failures),
            items: Items::new(record.repeat),
            issues: Statements::new(MOST_GROUPS),
            strengths: Statements::new(MOST_GROUPS),
            judged_items: JudgedItems::default(),
            streak: ApiStreak::default(),
            errors: IndexMap::new(),
            worst: Vec::new(),
            simulated: false,
        }
    }

    fn add(&mut self, result: JobResult, offset: u64) {
        let item = self.items.add(&result, offset);
        self.tally.add(&result, item as usize);
        let kind = result.error.as_ref().map(|error| error.kind);
        self.streak.add(result.outcome == Outcome::Failed && kind == Some(ErrorKind::Api));
        if let Some(kind) = kind {
            *self.errors.entry(kind).or_insert(0) += 1;
        }
        self.simulated |= result.judge.as_ref().is_some_and(|judge| judge.simulated);
        if let (Outcome::Scored, Some(verdict)) = (result.outcome, &result.semantic) {
            self.judged_items.add(item);
            self.issues.add(item, &verdict.issues);
            self.strengths.add(item, &verdict.strengths);
        }
        self.keep_if_bad(result);
    }

    fn keep_if_bad(&mut self, result: JobResult) {
        let row = ItemRow::from(result);
        let place = self.worst.partition_point(|kept| badness(kept) <= badness(&row));
        if place < WORST {
            self.worst.insert(place, row);
            self.worst.truncate(WORST);
        }
    }

    fn finish(mut self, record: &RunRecord, input: &SummaryInput<'_>) -> Report {
        self.items.sort();
        self.errors.sort_by(|left, left_count, right, right_count| {
            right_count.cmp(left_count).then(left.cmp(right))
        });
        let (metrics, grades, mut warnings) = self.tally.finish();
        let coverage = coverage(record, input.counted, self.errors);
        let streak = self.streak;
        let judged_items = self.judged_items.count;
        let (mut common_issues, dropped_issues) = self.issues.finish(judged_items);
        let (mut common_strengths, dropped_strengths) = self.strengths.finish(judged_items);
        // Items are numbered as their results came in, which no report may depend on.
        for group in common_issues.iter_mut().chain(&mut common_strengths) {
            group
                .items
                .sort_unstable_by(|one, other| self.items.id(*one).cmp(self.items.id(*other)));
        }
        let dropped = dropped_issues + dropped_strengths;
        if dropped > 0 {
            warnings.push(format!(
                "{dropped} rare issues and strengths are not listed: there are more different ones than are counted at a time"
            ));
        }
        if input.failures == FailurePolicy::Zero && coverage.failed > 0 {
            warnings.push(format!(
                "{} failed jobs count as zeros (failures = \"zero\")",
                coverage.failed
            ));
        }
        if let Some(published) = record.published {
            warnings.push(format!(
                "the run was cancelled when {published} of its {} jobs were published; the others are not in it",
                record.planned
            ));
        }
        if record.judge.is_some() && input.ledger.is_none() {
            warnings.push(
                "the ledger has no record of this run: what calls that died with their process may have cost is not in its cost".into(),
            );
        }
        Report {
            run: run_summary(record, self.simulated, &input.finished_at),
            overall: Overall::of(&metrics, grades),
            intervals: metrics
                .iter()
                .map(|metric| (metric.definition.path.clone(), metric.interval))
                .collect(),
            cost: cost(record, input, coverage.pending),
            targets: input.gate.map(|gate| gate.judge(&metrics, &coverage, streak)),
            coverage,
            repeats: None,
            calibration: None,
            comparison: None,
            common_issues,
            common_strengths,
            warnings,
            metrics,
            items: self.items,
            worst: self.worst,
            rubric: input.rubric.clone(),
        }
    }
}

/// Orders results from what a reader must look at first: what could not be judged, then low
/// scores, then what the stages found wrong; ties by id.
fn badness(row: &ItemRow) -> (u8, u64, u8, &str, u32) {
    let outcome = match row.outcome {
        Outcome::Failed => 0,
        Outcome::Unscorable => 1,
        Outcome::Scored => 2,
        Outcome::Skipped => 3,
    };
    // Scores are shares, so a millionth tells any two apart.
    let score = row.score().map_or(u64::MAX, |score| (score.clamp(0.0, 1.0) * 1e6) as u64);
    let passed = match row.pipeline_success {
        Some(false) => 0,
        None | Some(true) => 1,
    };
    (outcome, score, passed, row.screenshot_id.as_str(), row.repeat)
}

fn run_summary(record: &RunRecord, simulated: bool, finished_at: &str) -> RunSummary {
    RunSummary {
        id: record.run_id.clone(),
        dataset: record.dataset.clone(),
        rubric: record.rubric.clone(),
        judge: record.judge.clone(),
        base_url: record.base_url.clone(),
        simulated,
        repeat: record.repeat,
        created_at: record.created_at.clone(),
        finished_at: finished_at.to_owned(),
        program_version: record.program_version.clone(),
    }
}

fn coverage(record: &RunRecord, counted: &Counted, errors: IndexMap<ErrorKind, u64>) -> Coverage {
    let counts = counted.counts();
    Coverage {
        planned: record.jobs(),
        scored: counts.scored,
        unscorable: counts.unscorable,
        failed: counts.failed,
        skipped: counts.skipped,
        pending: record.jobs().saturating_sub(counted.len()),
        errors,
    }
}

fn cost(record: &RunRecord, input: &SummaryInput<'_>, pending: u64) -> Cost {
    let spent = input.counted.spent();
    // A lease that is outstanding while the report is written belongs to a call that died with its
    // process, or to one that is in flight: either may cost its worst case.
    let outstanding = input.ledger.map(|ledger| ledger.outstanding).unwrap_or_default();
    let presumed = input.ledger.map(|ledger| ledger.presumed).unwrap_or_default() + outstanding;
    let expected = spent.estimate.map(|estimate| estimate.expected_usd);
    let estimate_error =
        expected.filter(|expected| pending == 0 && expected.pico() > 0).map(|expected| {
            tidy((spent.cost - expected).approximate_dollars() / expected.approximate_dollars())
        });
    Cost {
        total_usd: spent.total(input.ledger.as_ref()),
        results_usd: spent.cost,
        presumed_usd: presumed,
        estimated_usd: expected,
        worst_case_usd: spent.estimate.map(|estimate| estimate.worst_case_usd),
        estimate_error,
        overrun_usd: input.ledger.map(|ledger| ledger.overrun).unwrap_or_default(),
        budget_usd: match input.ledger.map(|ledger| ledger.budget) {
            Some(Budget::Cap(cap)) => Some(cap),
            Some(Budget::Unlimited) => None,
            None => record.budget_usd,
        },
        input_tokens: spent.usage.input_tokens,
        cached_input_tokens: spent.usage.cached_input_tokens,
        output_tokens: spent.usage.output_tokens,
        calls: spent.calls,
        cached_verdicts: spent.cached,
    }
}

#[cfg(test)]
mod tests;
