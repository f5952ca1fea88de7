//! Writes `report.json`, one run at a time.

use super::open_run::FoldSnapshot;
use crate::fleet::backend::FleetBackend;
use juror_analysis::{
    calibration::stored_calibration::KnownCalibration,
    comparison::Comparison,
    gate::Gate,
    history::runs_of_one_kind,
    metrics::AveragingPolicy,
    run_facts::Coverage,
    run_report::Report,
    stability::ItemStability,
    summary::{SummaryInput, summarize},
};
use juror_journal::journal::RunFiles;
use juror_ledger::{admission::Ledger, error::LedgerError};
use juror_report::{NoAttachments, write_output};
use juror_types::{error_chain::with_causes, id::RunId, rubric::Rubric, usage::Money};
use std::{fmt::Debug, path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::spawn_blocking, time::Instant};
use tokio_util::sync::CancellationToken;

/// A report to be written.
#[derive(Debug)]
pub(super) struct ReportOrder {
    pub(super) run: RunId,
    pub(super) snapshot: FoldSnapshot,
    /// Version of the run in the snapshot.
    pub(super) version: u64,
    /// The number of results with which it is complete, if it is.
    pub(super) complete_at: Option<u64>,
}

/// Result of an order.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) run: RunId,
    pub(super) version: u64,
    pub(super) complete_at: Option<u64>,
    pub(super) took: Duration,
    /// The report, or the reason why it was not written.
    pub(super) written: Result<CompletedRun, String>,
}

/// A run whose report was written with all its results.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletedRun {
    /// The run.
    pub run: RunId,
    /// Coverage of the run.
    pub coverage: Coverage,
    /// Its cost, including presumed spending.
    pub cost_usd: Money,
    /// Its report.
    pub report: PathBuf,
}

/// Comparison of complete runs with the baselines of their records.
pub trait BaselineComparer: Debug + Send + Sync {
    /// The comparison of a run with its baseline; none if its record names none.
    ///
    /// # Errors
    /// The reason why it cannot be compared, as a message.
    fn compare(&self, files: &RunFiles, report: &Report) -> Result<Option<Comparison>, String>;
}

/// Options of reports.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Treatment of failed jobs in averages.
    pub averaging: AveragingPolicy,
    /// Gate for the runs: its name or file.
    pub gate: Option<String>,
    /// A calibration of the judge; by default, the newest one beside the run is used.
    pub calibration: Option<KnownCalibration>,
    /// Comparison with baselines; without it, runs are not compared.
    pub comparer: Option<Arc<dyn BaselineComparer>>,
}

/// Writes reports as they are ordered, until the channel is closed.
pub(super) async fn report(
    mut orders: mpsc::Receiver<ReportOrder>,
    reported: mpsc::Sender<Reported>,
    backend: Arc<dyn FleetBackend>,
    options: ReportOptions,
    stop: CancellationToken,
) {
    while let Some(order) = orders.recv().await {
        let began = Instant::now();
        let (run, version, complete_at) = (order.run.clone(), order.version, order.complete_at);
        let written = write(order, &backend, &options, &stop).await;
        let took = began.elapsed();
        let end = Reported { run, version, complete_at, took, written };
        if reported.send(end).await.is_err() {
            return;
        }
    }
}

async fn write(
    order: ReportOrder,
    backend: &Arc<dyn FleetBackend>,
    options: &ReportOptions,
    stop: &CancellationToken,
) -> Result<CompletedRun, String> {
    let asking = ledger(backend.as_ref(), &order.run, order.complete_at.is_some());
    let asked = stop.run_until_cancelled(asking).await;
    let ledger = asked.ok_or("the aggregator is stopping")?.map_err(|error| error.to_string())?;
    let (options, stop) = (options.clone(), stop.clone());
    let writing = spawn_blocking(move || write_now(order, ledger, &options, stop));
    writing.await.map_err(|error| error.to_string())?
}

/// The money of a run. The leases of a complete one end first: it makes no more calls.
async fn ledger(
    backend: &dyn FleetBackend,
    run: &RunId,
    is_complete: bool,
) -> Result<Option<Ledger>, LedgerError> {
    if is_complete {
        backend.close_leases(run).await?;
    }
    backend.ledger(run).await
}

/// Compares a complete run with its baseline. A failed comparison becomes a warning in its report.
fn compare(
    comparer: &dyn BaselineComparer,
    files: &RunFiles,
    gate: Option<&Gate>,
    report: &mut Report,
) {
    match comparer.compare(files, report) {
        Ok(Some(comparison)) => {
            if let (Some(gate), Some(targets)) = (gate, &mut report.targets) {
                gate.decide_changes(targets, &comparison);
            }
            report.comparison = Some(comparison);
        }
        Ok(None) => {}
        Err(cause) => report.warnings.push(format!("not compared with its baseline: {cause}")),
    }
}

fn write_now(
    order: ReportOrder,
    ledger: Option<Ledger>,
    options: &ReportOptions,
    stop: CancellationToken,
) -> Result<CompletedRun, String> {
    let ReportOrder { run, snapshot: FoldSnapshot { files, counted }, complete_at, .. } = order;
    let files = files.until(stop);
    let rubric = Rubric::parse(&files.record().rubric_text, &format!("the rubric of run {run}"))
        .map_err(|error| with_causes(&error))?;
    let gate = options.gate.as_deref().map(|gate| Gate::load(gate, &rubric)).transpose();
    let gate = gate.map_err(|error| with_causes(&error))?;
    let gate = match files.directory().parent() {
        Some(runs_dir) => gate.map(|gate| gate.anchored_at_blessed(runs_dir)),
        None => gate,
    };
    let watches = gate.as_ref().is_some_and(Gate::watches_declines);
    let earlier = if watches { runs_of_one_kind(&files) } else { Vec::new() };
    let input = SummaryInput {
        counted: &counted,
        rubric: &rubric,
        ledger,
        gate: gate.as_ref(),
        earlier: &earlier,
        flaky: &ItemStability::default(),
        averaging: options.averaging,
    };
    let mut summary = summarize(&files, &input).map_err(|error| with_causes(&error))?;
    summary.add_calibration(&files, options.calibration.as_ref());
    if let (Some(comparer), Some(_)) = (&options.comparer, complete_at) {
        compare(&**comparer, &files, gate.as_ref(), &mut summary);
    }
    let path = files.path_of("report.json");
    write_output(&path, &summary, &files, &NoAttachments).map_err(|error| with_causes(&error))?;
    let cost_usd = summary.cost.total_usd;
    Ok(CompletedRun { run, coverage: summary.coverage, cost_usd, report: path })
}
