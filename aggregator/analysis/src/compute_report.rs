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
    metrics::{AveragingPolicy, Metric, MetricDefinition, Overall, Tally},
    missing_stage_data::MissingStageData,
    repeats::repeats,
    run_cost::cost,
    run_facts::{Coverage, RunSummary, is_from_cache},
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
    /// The ledger of the run; none if it has no record of the run.
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
        Some(counted) => counted.read(files, begin(), Scan::add)?.finish(record, input, counted),
        None => {
            let (scan, counted) = Fold::read_current(files, begin, Scan::add)?;
            scan.finish(record, input, &counted)
        }
    };
    report.run.journal_bytes = journal_bytes;
    report.run.judging = files.judging_time();
    if let Some(last_result) = files.last_written() {
        report.run.finished_at = last_result.to_string();
    }
    if record.repeat > 1 && record.judge.is_some() {
        let found = repeats(input.rubric, report.items.read(files)?)?;
        report.warnings.extend(found.warning());
        report.repeats = Some(found);
    }
    Ok(report)
}

struct Scan<'a> {
    tally: Tally<'a>,
    /// Tally without flaky items, for the gate; none where there are none.
    steady: Option<Tally<'a>>,
    flaky: &'a ItemStability,
    items: ItemIndex,
    issues: Statements,
    strengths: Statements,
    judged_items: JudgedItems,
    checks: VerdictChecks,
    evidence: EvidenceTally,
    streak: ApiStreak,
    charges: Charges,
    missing: MissingStageData,
    errors: IndexMap<ErrorKind, u64>,
    worst: Vec<JobResult>,
    simulated: bool,
    decisive: MetricDefinition,
    judged: bool,
    averaging: AveragingPolicy,
    clusters: ClusterDetector,
    fingerprints: DistinctNames,
    endpoints: DistinctNames,
}

impl<'a> Scan<'a> {
    fn new(record: &RunRecord, input: &ReportInput<'a>) -> Self {
        let judged = record.judge.is_some();
        let criteria = input.rubric.criteria.iter().map(|criterion| criterion.title.clone());
        let titles: Vec<String> = match input.rubric.formula {
            Formula::SumOverMax => Vec::new(),
            Formula::WeightedGroups => criteria.collect(),
        };
        let tally = || Tally::for_run(input.rubric, record, input.averaging);
        let leaves_out = input.gate.is_some() && !input.flaky.flaky.is_empty();
        Self {
            tally: tally(),
            steady: leaves_out.then(tally),
            flaky: input.flaky,
            items: ItemIndex::new(record.repeat, input.counted.map_or(0, Counted::len) as usize),
            issues: Statements::new(Tone::Issues, titles.clone(), MAX_UNKNOWN)
                .with_findings(input.rubric.vocabulary.clone()),
            strengths: Statements::new(Tone::Strengths, titles, MAX_UNKNOWN),
            judged_items: JudgedItems::default(),
            checks: VerdictChecks::default(),
            evidence: EvidenceTally::default(),
            streak: ApiStreak::default(),
            charges: Charges::default(),
            missing: MissingStageData::default(),
            errors: IndexMap::new(),
            worst: Vec::new(),
            simulated: false,
            decisive: MetricDefinition::decisive(input.rubric),
            judged,
            averaging: input.averaging,
            clusters: ClusterDetector::default(),
            fingerprints: DistinctNames::default(),
            endpoints: DistinctNames::default(),
        }
    }

    fn add(&mut self, result: JobResult, offset: u64) {
        let item = self.items.add(&result, offset);
        self.tally.add(&result, item as usize);
        if let Some(steady) =
            self.steady.as_mut().filter(|_| !self.flaky.is_flaky(&result.screenshot_id))
        {
            steady.add(&result, item as usize);
        }
        self.charges.add(&result);
        self.missing.add(&result);
        self.evidence.add(item, &result);
        self.streak.add(&result);
        if let Some(kind) = result.error.as_ref().map(|error| error.kind) {
            *self.errors.entry(kind).or_insert(0) += 1;
        }
        let score = self.decisive.counted_value(&result, self.judged, self.averaging);
        self.clusters.add(&result, score);
        if let Some(judge) = &result.judge {
            judge.fingerprint.iter().for_each(|name| self.fingerprints.add(name));
            judge.base_url.iter().for_each(|name| self.endpoints.add(name));
        }
        self.simulated |= result.is_simulated();
        if let Some(verdict) = result.verdict() {
            self.judged_items.add(item, verdict.correctness());
            self.checks.add(verdict);
            match verdict.findings.as_slice() {
                [] => self.issues.add(item, &verdict.issues),
                findings => self.issues.add_findings(item, findings),
            }
            self.strengths.add(item, &verdict.strengths);
        }
        self.keep_if_bad(result);
    }

    fn keep_if_bad(&mut self, result: JobResult) {
        let place =
            self.worst.partition_point(|kept| urgency_order(kept) <= urgency_order(&result));
        if place < MAX_WORST {
            self.worst.insert(place, JobResult { reply: None, ..result });
            self.worst.truncate(MAX_WORST);
        }
    }

    fn finish(mut self, record: &RunRecord, input: &ReportInput<'_>, counted: &Counted) -> Report {
        self.items.sort();
        self.errors.sort_by(|left, left_count, right, right_count| {
            right_count.cmp(left_count).then(left.cmp(right))
        });
        let (metrics, grades, mut warnings) = self.tally.finish();
        let counts = counted.counts();
        let coverage = Coverage { errors: self.errors, ..Coverage::of_run(record, counts) };
        let score = metrics.iter().find(|metric| metric.definition.path == self.decisive.path);
        let width = score.and_then(Metric::width);
        warnings.extend(missed_width(record, width, coverage.pending));
        let judged_items = self.judged_items.count;
        let (mut common_issues, dropped_issues) = self.issues.finish(judged_items);
        let (mut common_strengths, dropped_strengths) = self.strengths.finish(judged_items);
        for group in common_issues.iter_mut().chain(&mut common_strengths) {
            order_items(group, &self.items, &self.judged_items);
        }
        warnings.extend(self.checks.warnings());
        warnings.extend(self.charges.warnings(counted.spent().unmetered_calls));
        let cost = cost(record, counted.spent(), input.ledger, coverage.pending);
        warnings.extend(over_budget_warning(&cost));
        warnings.extend(self.missing.warnings(input.rubric, self.judged));
        warnings.extend(dropped_warning(dropped_issues + dropped_strengths));
        warnings.extend(averaging_warnings(input.averaging, &coverage));
        warnings.extend(coverage_warnings(record, &coverage, input.ledger.is_some()));
        let steady = self.steady.map(|tally| tally.finish().0);
        let steady_gate = input.gate.filter(|_| steady.is_some());
        warnings.extend(steady_gate.map(|gate| steady_gate_warning(gate, self.flaky)));
        let judged_metrics = steady.as_deref().unwrap_or(&metrics);
        let from_cache = is_from_cache(coverage.scored, cost.cached_verdicts);
        let series = RunSeries { earlier: input.earlier, from_cache, simulated: self.simulated };
        let measured = self.evidence.coverage(record);
        let evaluate =
            |gate: &Gate| gate.evaluate(judged_metrics, &coverage, measured, self.streak, series);
        let gate = input.gate.map(evaluate);
        let likely_clusters = self.clusters.finish();
        warnings.extend(likely_clusters.as_ref().and_then(LikelyClusters::warning));
        warnings.extend(fingerprint_warning(&self.fingerprints));
        warnings.extend(self.evidence.warnings());
        // A fleet's workers may have several, and the record has that of the last resume.
        warnings.extend(endpoint_warning(&self.endpoints).filter(|_| record.fleet.is_none()));
        let endpoints = (!self.endpoints.is_empty()).then(|| self.endpoints.listed());
        Report {
            likely_clusters,
            run: RunSummary {
                base_url: endpoints.or_else(|| record.base_url.clone()),
                fingerprints: self.fingerprints.into_vec(),
                ..run_summary(record, self.simulated)
            },
            overall: Overall::from_metrics(&metrics, grades),
            intervals: metrics
                .iter()
                .map(|metric| (metric.definition.path.clone(), metric.interval))
                .collect(),
            cost,
            gate,
            coverage,
            repeats: None,
            calibration: None,
            comparison: None,
            evidence: self.evidence.finish(),
            verdict_checks: (self.checks.verdicts > 0).then_some(self.checks),
            common_issues,
            common_strengths,
            uncounted_issues: dropped_issues,
            warnings,
            metrics,
            items: self.items,
            worst: self.worst,
            rubric: input.rubric.clone(),
            stages: record.stages.clone(),
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

fn run_summary(record: &RunRecord, simulated: bool) -> RunSummary {
    RunSummary {
        id: record.run_id.clone(),
        dataset: record.dataset.clone(),
        rubric: record.rubric.clone(),
        judge: record.judge.clone(),
        base_url: None,
        fingerprints: Vec::new(),
        simulated,
        repeat: record.repeat,
        created_at: record.created_at.clone(),
        finished_at: record.created_at.clone(),
        judging: None,
        program_version: record.program_version.clone(),
        journal_bytes: 0,
    }
}
