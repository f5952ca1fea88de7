//! Orders of reports, which are written one at a time.

use juror_analysis::{fold::Counted, run_facts::Coverage, run_report::Report};
use juror_journal::journal::RunFiles;
use juror_ledger::{admission::RunAccount, error::LedgerError, redis::FleetBackend};
use juror_types::{id::RunId, usage::Money};
use std::{fmt::Debug, path::PathBuf, sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::spawn_blocking, time::Instant};
use tokio_util::sync::CancellationToken;

/// A report to be written.
#[derive(Debug)]
pub(super) struct ReportOrder {
    pub(super) run: RunId,
    pub(super) files: RunFiles,
    pub(super) counted: Counted,
    /// Version of the run with these results.
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
    /// Id of the run.
    pub run: RunId,
    /// Coverage of the run.
    pub coverage: Coverage,
    /// Cost, including presumed spending.
    pub cost_usd: Money,
    /// Path of report.json.
    pub report: PathBuf,
}

/// Writer of runs' reports.
pub trait ReportWriter: Debug + Send + Sync {
    /// Writes `report.json` of a run with these results; `is_complete` is true if every job has
    /// one. Returns the report.
    ///
    /// # Errors
    /// The reason why it cannot be written, as a message.
    fn write(
        &self,
        files: &RunFiles,
        counted: &Counted,
        ledger: Option<RunAccount>,
        is_complete: bool,
    ) -> Result<Report, String>;
}

/// Writes reports as they are ordered, until the channel is closed.
pub(super) async fn report(
    mut orders: mpsc::Receiver<ReportOrder>,
    reported: mpsc::Sender<Reported>,
    backend: Arc<dyn FleetBackend>,
    writer: Arc<dyn ReportWriter>,
    stop: CancellationToken,
) {
    while let Some(order) = orders.recv().await {
        let began = Instant::now();
        let (run, version, complete_at) = (order.run.clone(), order.version, order.complete_at);
        let written = write(order, &backend, &writer, &stop).await;
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
    writer: &Arc<dyn ReportWriter>,
    stop: &CancellationToken,
) -> Result<CompletedRun, String> {
    let asking = ledger(backend.as_ref(), &order.run, order.complete_at.is_some());
    let reply = stop.run_until_cancelled(asking).await;
    let ledger = reply.ok_or("the aggregator is stopping")?.map_err(|error| error.to_string())?;
    let (writer, stop) = (Arc::clone(writer), stop.clone());
    let writing = spawn_blocking(move || write_now(order, ledger, &*writer, stop));
    writing.await.map_err(|error| error.to_string())?
}

/// The money of a run. The leases of a complete one end first: it makes no more calls.
async fn ledger(
    backend: &dyn FleetBackend,
    run: &RunId,
    is_complete: bool,
) -> Result<Option<RunAccount>, LedgerError> {
    if is_complete {
        backend.close_leases(run).await?;
    }
    backend.run_account(run).await
}

fn write_now(
    order: ReportOrder,
    ledger: Option<RunAccount>,
    writer: &dyn ReportWriter,
    stop: CancellationToken,
) -> Result<CompletedRun, String> {
    let ReportOrder { run, files, counted, complete_at, .. } = order;
    let files = files.until(stop);
    let Report { coverage, cost, .. } =
        writer.write(&files, &counted, ledger, complete_at.is_some())?;
    let report = files.path_of("report.json");
    Ok(CompletedRun { run, coverage, cost_usd: cost.total_usd, report })
}
