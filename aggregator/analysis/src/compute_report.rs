//! Computation of a run's report from its journal, in one pass and constant memory.

use crate::{
    bill_warnings::{Charges, over_budget_warning},
    distinct_names::DistinctNames,
    evidence_summary::EvidenceTally,
    fold::{Counted, Fold},
    gate::{ApiStreak, Gate},
    history::{PastRun, RunSeries},
    issues::{Statements, Tone},
    item_index::ItemIndex,
    item_row::Urgency,
    judged_items::{JudgedItems, order_items},
    likely_clusters::{ClusterDetector, LikelyClusters},
    metrics::{AveragingPolicy, Metric, MetricDefinition, Tally, metric_at, overall},
    missing_stage_data::MissingStageData,
    repeats::repeats,
    run_facts::{Cost, Coverage, RunSummary, is_from_cache},
    run_report::Report,
    run_warnings::{
        averaging_warnings, coverage_warnings, endpoint_warning, fingerprint_warning,
        steady_gate_warning,
    },
    sequential_sampling::missed_width,
    stability::ItemStability,
    verdict_checks::VerdictChecks,
};
use indexmap::IndexMap;
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::RunAccount;
use juror_types::{
    outcome::{ErrorKind, JobResult},
    rubric::{Formula, Rubric},
    run::RunRecord,
};
use std::collections::BTreeMap;

/// Maximum number of results that are listed where all would be too many.
const MAX_WORST: usize = 20;

/// Maximum number of different statements without a known topic that are counted, for issues and
/// strengths each.
const MAX_UNKNOWN: usize = 50_000;

/// Inputs of a report, beside the journal.
#[derive(Clone, Debug)]
pub struct ReportInput<'a> {
    /// The current results, by the fold of the same journal; none to find them while they are read.
    pub counted: Option<&'a Counted>,
    /// The rubric of the run, read from its record's text.
    pub rubric: &'a Rubric,
    /// The ledger of the run; `None` if it has no record of the run.
    pub ledger: Option<RunAccount>,
    /// Gate that the run must meet.
    pub gate: Option<&'a Gate>,
    /// Earlier comparable runs, newest first, if the gate detects declines.
    pub earlier: &'a [PastRun],
    /// Stability of the items; the gate is evaluated without the flaky ones.
    pub flaky: &'a ItemStability,
    /// Policy for jobs without a verdict in averages.
    pub averaging: AveragingPolicy,
}

static NO_FLAKY_ITEMS: ItemStability =
    ItemStability { runs: Vec::new(), flaky: BTreeMap::new(), noise_variance: None };

impl<'a> ReportInput<'a> {
    /// Inputs of a report without ledger, gate and flaky items.
    pub fn new(rubric: &'a Rubric, averaging: AveragingPolicy) -> Self {
        let flaky = &NO_FLAKY_ITEMS;
        Self { counted: None, rubric, ledger: None, gate: None, earlier: &[], flaky, averaging }
    }
}

/// Reads a run's results and summarizes them, in one pass; in one more where jobs have several
/// results, and with repeats.
pub fn compute_report(files: &RunFiles, input: &ReportInput<'_>) -> Result<Report, JournalError> {
    let record = files.record();
    let journal_bytes = files.journal_bytes();
    let begin = || Scan::new(record, input);
    let mut report = match input.counted {
        Some(counted) => {
            counted.read(files, begin(), Scan::add)?.finish(files, journal_bytes, counted)
        }
        None => {
            let (scan, counted) = Fold::read_current(files, begin, Scan::add)?;
            scan.finish(files, journal_bytes, &counted)
        }
    };
    if record.repeat > 1 && record.judge.is_some() {
        let found = repeats(input.rubric, report.items.read(files)?)?;
        report.warnings.extend(found.warning());
        report.repeats = Some(found);
    }
    Ok(report)
}

struct Scan<'a> {
    input: &'a ReportInput<'a>,
    judged: bool,
    decisive: MetricDefinition,
    tally: Tally<'a>,
    /// Tally without flaky items, for the gate; `None` if there are none.
    steady: Option<Tally<'a>>,
    items: ItemIndex,
    issues: Statements,
    strengths: Statements,
    found: ScanTotals,
}

/// Totals of a scan that begin empty, whatever the run.
#[derive(Default)]
struct ScanTotals {
    judged_items: JudgedItems,
    checks: VerdictChecks,
    evidence: EvidenceTally,
    streak: ApiStreak,
    charges: Charges,
    missing: MissingStageData,
    errors: IndexMap<ErrorKind, u64>,
    worst: Vec<JobResult>,
    simulated: bool,
    clusters: ClusterDetector,
    fingerprints: DistinctNames,
    endpoints: DistinctNames,
}

impl<'a> Scan<'a> {
    fn new(record: &RunRecord, input: &'a ReportInput<'a>) -> Self {
        let criteria = input.rubric.criteria.iter().map(|criterion| criterion.title.clone());
        let titles: Vec<String> = match input.rubric.formula {
            Formula::SumOverMax => Vec::new(),
            Formula::WeightedGroups => criteria.collect(),
        };
        let tally = || Tally::for_run(input.rubric, record, input.averaging);
        let leaves_out = input.gate.is_some() && !input.flaky.flaky.is_empty();
        Self {
            input,
            judged: record.judge.is_some(),
            decisive: MetricDefinition::decisive(input.rubric),
            tally: tally(),
            steady: leaves_out.then(tally),
            items: ItemIndex::new(record.repeat, input.counted.map_or(0, Counted::len) as usize),
            issues: Statements::new(Tone::Issues, titles.clone(), MAX_UNKNOWN)
                .with_findings(input.rubric.vocabulary.clone()),
            strengths: Statements::new(Tone::Strengths, titles, MAX_UNKNOWN),
            found: ScanTotals::default(),
        }
    }

    fn add(&mut self, result: JobResult, offset: u64) {
        let item = self.items.add(&result, offset);
        self.tally.add(&result, item as usize);
        if let Some(steady) = &mut self.steady
            && !self.input.flaky.is_flaky(&result.screenshot_id)
        {
            steady.add(&result, item as usize);
        }
        let found = &mut self.found;
        found.charges.add(&result);
        found.missing.add(&result);
        found.evidence.add(item, &result);
        found.streak.add(&result);
        if let Some(kind) = result.error.as_ref().map(|error| error.kind) {
            *found.errors.entry(kind).or_insert(0) += 1;
        }
        let score = self.decisive.counted_value(&result, self.judged, self.input.averaging);
        found.clusters.add(&result, score);
        if let Some(judge) = &result.judge {
            judge.fingerprint.iter().for_each(|name| found.fingerprints.add(name));
            judge.base_url.iter().for_each(|name| found.endpoints.add(name));
        }
        found.simulated |= result.is_simulated();
        if let Some(verdict) = result.verdict() {
            found.judged_items.add(item, verdict.correctness());
            found.checks.add(verdict);
            match verdict.findings.as_slice() {
                [] => self.issues.add(item, &verdict.issues),
                findings => self.issues.add_findings(item, findings),
            }
            self.strengths.add(item, &verdict.strengths);
        }
        found.keep_if_bad(result);
    }

    fn finish(mut self, files: &RunFiles, journal_bytes: u64, counted: &Counted) -> Report {
        self.items.sort();
        let (input, record) = (self.input, files.record());
        let run = self.found.run_summary(files, journal_bytes);
        let found = self.found;
        let coverage = Coverage::of_run(record, counted.counts).with_errors(found.errors);
        let cost = Cost::of_run(record, counted.spent, input.ledger, coverage.pending);
        let (metrics, grades, mut warnings) = self.tally.finish();
        let steady = self.steady.map(|tally| tally.finish().0);
        let from_cache = is_from_cache(coverage.scored, cost.cached_verdicts);
        let series = RunSeries { earlier: input.earlier, from_cache, simulated: found.simulated };
        let gate = input.gate.map(|gate| {
            let (judged, measured) =
                (steady.as_deref().unwrap_or(&metrics), found.evidence.coverage(record));
            gate.evaluate(judged, &coverage, measured, found.streak, series)
        });
        let judged_items = found.judged_items.count;
        let (mut common_issues, dropped_issues) = self.issues.finish(judged_items);
        let (mut common_strengths, dropped_strengths) = self.strengths.finish(judged_items);
        for group in common_issues.iter_mut().chain(&mut common_strengths) {
            order_items(group, &self.items, &found.judged_items);
        }
        let likely_clusters = found.clusters.finish();
        let width = metric_at(&metrics, &self.decisive.path).and_then(Metric::width);
        warnings.extend(missed_width(record, width, coverage.pending));
        warnings.extend(found.checks.warnings());
        warnings.extend(found.charges.warnings(counted.spent.unmetered_calls));
        warnings.extend(over_budget_warning(&cost));
        warnings.extend(found.missing.warnings(input.rubric, self.judged));
        warnings.extend(dropped_warning(dropped_issues + dropped_strengths));
        warnings.extend(averaging_warnings(input.averaging, &coverage));
        warnings.extend(coverage_warnings(record, &coverage, input.ledger.is_some()));
        let steady_gate = input.gate.filter(|_| steady.is_some());
        warnings.extend(steady_gate.map(|gate| steady_gate_warning(gate, input.flaky)));
        warnings.extend(likely_clusters.as_ref().and_then(LikelyClusters::warning));
        warnings.extend(fingerprint_warning(&found.fingerprints));
        warnings.extend(found.evidence.warnings());
        // A fleet's workers may have several, and the record has that of the last resume.
        warnings.extend(endpoint_warning(&found.endpoints).filter(|_| record.fleet.is_none()));
        Report {
            run,
            overall: overall(input.rubric, &metrics, grades.as_ref()),
            grades,
            coverage,
            cost,
            gate,
            repeats: None,
            calibration: None,
            comparison: None,
            likely_clusters,
            verdict_checks: (found.checks.verdicts > 0).then_some(found.checks),
            evidence: found.evidence.finish(),
            common_issues,
            common_strengths,
            uncounted_issues: dropped_issues,
            warnings,
            metrics,
            items: self.items,
            worst: found.worst,
            rubric: input.rubric.clone(),
            stages: record.stages.clone(),
        }
    }
}

impl ScanTotals {
    fn keep_if_bad(&mut self, result: JobResult) {
        let place =
            self.worst.partition_point(|kept| urgency_order(kept) <= urgency_order(&result));
        if place < MAX_WORST {
            self.worst.insert(place, JobResult { reply: None, ..result });
            self.worst.truncate(MAX_WORST);
        }
    }

    fn run_summary(&self, files: &RunFiles, journal_bytes: u64) -> RunSummary {
        let record = files.record().clone();
        let endpoints = (!self.endpoints.is_empty()).then(|| self.endpoints.listed());
        let last_result = files.last_written().map(|last_result| last_result.to_string());
        RunSummary {
            id: record.run_id,
            dataset: record.dataset,
            rubric: record.rubric,
            judge: record.judge,
            base_url: endpoints.or(record.base_url),
            fingerprints: self.fingerprints.to_vec(),
            simulated: self.simulated,
            repeat: record.repeat,
            finished_at: last_result.unwrap_or_else(|| record.created_at.clone()),
            created_at: record.created_at,
            judging: files.judging_time(),
            program_version: record.program_version,
            journal_bytes,
        }
    }
}

/// Warning about statements that were not counted.
fn dropped_warning(dropped: u64) -> Option<String> {
    (dropped > 0).then(|| {
        format!(
            "{dropped} issues and strengths are not listed: more than {MAX_UNKNOWN} different ones have no known topic, the maximum that is counted"
        )
    })
}

/// Sort key of results by urgency, then by id.
fn urgency_order(result: &JobResult) -> (Urgency, &str, u32) {
    (Urgency::from_result(result), result.screenshot_id.as_str(), result.repeat)
}
