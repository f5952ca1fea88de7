//! Summary of a run: record, coverage and cost.

use crate::{fold::Spent, metrics::round_stable};
use indexmap::IndexMap;
use jiff::civil::Date;
use juror_ledger::admission::{Budget, RunAccount};
use juror_types::{
    id::RunId,
    is_default,
    job::{Judge, RubricReference},
    outcome::{ErrorKind, OutcomeCounts},
    run::{DatasetRecord, JudgingTime, RunRecord},
    usage::Money,
};
use serde::{Deserialize, Serialize, Serializer};

/// Summary of a run's record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// Id of the run.
    pub id: RunId,
    /// Dataset that was judged.
    pub dataset: DatasetRecord,
    /// Id, version and digest of the rubric.
    pub rubric: RubricReference,
    /// The judge with its settings; `None` with the judge off.
    pub judge: Option<Judge>,
    /// Base URL of the judge; of a fleet's run, all endpoints.
    pub base_url: Option<String>,
    /// Fingerprints of the model in replies, sorted; absent in JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
    /// True if any verdict is the simulator's.
    pub simulated: bool,
    /// Judgments of each item.
    pub repeat: u32,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Time of its last result, RFC 3339 in UTC; of a run without results, of its creation.
    pub finished_at: String,
    /// Judging time; `None` if unknown.
    pub judging: Option<JudgingTime>,
    /// Version of the program that created it.
    pub program_version: String,
    /// Length in bytes of the journal that was read: a report is outdated if it has another one.
    pub journal_bytes: u64,
}

/// Coverage of a dataset. All counts are of jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// Jobs of the run.
    pub planned: u64,
    /// Jobs that completed every requested stage for which there are data.
    pub scored: u64,
    /// Jobs without output: the pipeline made no code.
    pub no_output: u64,
    /// Jobs without a usable reply of the judge.
    pub unscorable: u64,
    /// Jobs that could not be judged.
    pub failed: u64,
    /// Jobs without an attempt.
    pub skipped: u64,
    /// Jobs without any result yet; absent in JSON if there are none.
    #[serde(skip_serializing_if = "is_default")]
    pub pending: u64,
    /// Jobs that were never published, since the run was cancelled before; absent in JSON if there
    /// are none.
    #[serde(skip_serializing_if = "is_default")]
    pub unpublished: u64,
    /// Number of jobs by kind of error, most frequent first.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub errors: IndexMap<ErrorKind, u64>,
}

/// Cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Costs of results plus presumed spending; never less than the ledger has committed.
    pub total_usd: Money,
    /// Costs of results, including superseded rounds.
    pub results_usd: Money,
    /// Cost of calls that were interrupted with their process, at worst case.
    pub presumed_usd: Money,
    /// Probable cost of those calls: their worst case times (actual / worst case) of completed calls.
    /// Absent in JSON without presumed spending or completed calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presumed_probable_usd: Option<Money>,
    /// Cost of calls in flight, at worst case; only for an unfinished run, and absent in JSON if
    /// there is none.
    #[serde(skip_serializing_if = "is_default")]
    pub in_flight_usd: Money,
    /// Expected cost of the jobs with calls, estimated before their first call.
    pub estimated_usd: Option<Money>,
    /// Maximum cost of those jobs, with every call that may be repeated.
    pub worst_case_usd: Option<Money>,
    /// Deviation of the total cost from the estimate, as a share of it: 0.1 is a tenth more. `None`
    /// while jobs are pending, and without an estimate.
    pub estimate_error: Option<f64>,
    /// Amount by which bills exceeded their reservations.
    pub overrun_usd: Money,
    /// Cap of the run's cost; none is unlimited.
    pub budget_usd: Option<Money>,
    /// Money of the month of the report, over all runs of the ledger; absent in JSON where the
    /// ledger does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<MonthCost>,
    /// All input tokens, cached ones included.
    pub input_tokens: u64,
    /// Input tokens from the provider's prompt cache.
    pub cached_input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Calls that were sent.
    pub calls: u64,
    /// Verdicts that came from the cache.
    pub cached_verdicts: u64,
    /// Calls without a reported usage, booked at their maximum cost; absent in JSON if there are
    /// none.
    #[serde(skip_serializing_if = "is_default")]
    pub unmetered_calls: u64,
}

/// Cost of all runs of a month.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MonthCost {
    /// A day of the month; JSON has the month, as in `2026-11`.
    #[serde(serialize_with = "as_month")]
    pub month: Date,
    /// Billed and presumed spent.
    pub spent_usd: Money,
    /// Cap of the month's cost; none is unlimited.
    pub budget_usd: Option<Money>,
}

/// True if a run has verdicts, and all of them came from the cache.
pub(crate) fn is_from_cache(scored: u64, cached_verdicts: u64) -> bool {
    scored > 0 && cached_verdicts >= scored
}

impl Coverage {
    /// Coverage of this many jobs, of which some have ended.
    pub fn new(planned: u64, counts: OutcomeCounts) -> Self {
        let OutcomeCounts { scored, no_output, unscorable, failed, skipped } = counts;
        let pending = planned.saturating_sub(counts.total());
        let none = Self::default();
        Self { planned, scored, no_output, unscorable, failed, skipped, pending, ..none }
    }

    /// Coverage of a run, of which some jobs have ended.
    pub fn of_run(record: &RunRecord, counts: OutcomeCounts) -> Self {
        let planned = record.planned;
        let unpublished = planned.saturating_sub(record.jobs());
        Self { planned, unpublished, ..Self::new(record.jobs(), counts) }
    }

    /// The coverage with the number of jobs by kind of error.
    pub(crate) fn with_errors(mut self, errors: IndexMap<ErrorKind, u64>) -> Self {
        self.errors = errors;
        self.errors.sort_by(|left, left_count, right, right_count| {
            right_count.cmp(left_count).then(left.cmp(right))
        });
        self
    }

    /// Numbers of the jobs that are not scored, with the word for each; zeros are left out.
    pub fn unscored(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let counts = [
            (self.no_output, "without output"),
            (self.unscorable, "unscorable"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
            (self.pending, "pending"),
            (self.unpublished, "not published"),
        ];
        counts.into_iter().filter(|(count, _)| *count > 0)
    }

    /// Jobs without any result: pending or unpublished.
    pub fn without_result(&self) -> u64 {
        self.pending + self.unpublished
    }

    /// True if every planned job is scored.
    pub fn is_complete(&self) -> bool {
        self.scored >= self.planned
    }
}

impl Cost {
    /// The cost of a run by its results and its ledger; `pending` jobs have no result.
    pub(crate) fn of_run(
        record: &RunRecord,
        spent: Spent,
        ledger: Option<RunAccount>,
        pending: u64,
    ) -> Self {
        // A lease that is outstanding while the report is written belongs to an interrupted call, or to
        // one in flight: either may cost its worst case.
        let figure =
            |of: fn(RunAccount) -> Money| ledger.map(of).unwrap_or_default().max(Money::ZERO);
        let outstanding = figure(|ledger| ledger.outstanding);
        let presumed = figure(|ledger| ledger.presumed) + outstanding;
        let total_usd = spent.total(ledger.as_ref());
        let expected = spent.estimate.map(|estimate| estimate.expected_usd);
        let estimate_error =
            expected.filter(|expected| pending == 0 && expected.pico() > 0).map(|expected| {
                round_stable(
                    (total_usd - expected).approximate_dollars() / expected.approximate_dollars(),
                )
            });
        Self {
            total_usd,
            results_usd: spent.cost,
            presumed_usd: presumed,
            presumed_probable_usd: spent
                .single_calls
                .probable_cost(presumed)
                .filter(|_| presumed > Money::ZERO),
            in_flight_usd: Money::ZERO,
            estimated_usd: expected,
            worst_case_usd: spent.estimate.map(|estimate| estimate.worst_case_usd),
            estimate_error,
            overrun_usd: ledger.map(|ledger| ledger.overrun).unwrap_or_default(),
            budget_usd: match ledger {
                Some(ledger) => ledger.budget.cap(),
                None => record.budget_usd,
            },
            month: ledger.and_then(|ledger| ledger.month).map(|month| MonthCost {
                month: month.day,
                spent_usd: month.committed + outstanding,
                budget_usd: month.budget.and_then(Budget::cap),
            }),
            input_tokens: spent.usage.input_tokens,
            cached_input_tokens: spent.usage.cached_input_tokens,
            output_tokens: spent.usage.output_tokens,
            calls: spent.calls,
            cached_verdicts: spent.cached,
            unmetered_calls: spent.unmetered_calls,
        }
    }

    /// Cost of an unfinished run, whose outstanding reservations are not spent yet.
    pub fn with_in_flight(self, held: Money) -> Self {
        let (total_usd, presumed_usd) = (self.total_usd - held, self.presumed_usd - held);
        let probable = self.presumed_probable_usd.filter(|_| presumed_usd > Money::ZERO);
        let presumed_probable_usd =
            probable.and_then(|probable| presumed_usd.scaled(probable, self.presumed_usd));
        let month =
            self.month.map(|month| MonthCost { spent_usd: month.spent_usd - held, ..month });
        Self { total_usd, presumed_usd, presumed_probable_usd, in_flight_usd: held, month, ..self }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_month<S: Serializer>(day: &Date, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:04}-{:02}", day.year(), day.month()))
}
