//! Scheduling of reports.

use super::{
    super::{
        AggregatorError,
        completeness::record_of,
        reporter::{ReportOrder, Reported},
        telemetry,
    },
    Committer, ReportChannels,
};
use crate::aggregator_role::tracked_run::TrackedRun;
use juror_types::{event::Event, id::RunId};
use tokio::{sync::mpsc, time::Instant};

impl Committer {
    /// Time at which the next report is due; `None` while one is being written.
    pub(super) fn next_report_due(&self) -> Option<Instant> {
        let due = |known: &TrackedRun| known.report_due(self.options.report);
        self.reports.as_ref()?;
        let idle = self.runs.reporting.is_none();
        self.runs.known.values().filter(|_| idle).filter_map(due).min()
    }

    /// Orders the report that has been due for longest, one at a time.
    pub(super) async fn order_due_report(&mut self) -> Result<(), AggregatorError> {
        let Some(due) = self.next_report_due().filter(|due| *due <= Instant::now()) else {
            return Ok(());
        };
        let is_due = |known: &TrackedRun| known.report_due(self.options.report) == Some(due);
        let run = self.runs.known.iter().find(|(_, known)| is_due(known)).map(|(run, _)| run);
        match run.cloned() {
            Some(run) => self.order_report(run).await,
            None => Ok(()),
        }
    }

    async fn order_report(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let mut work = self.work_for(run.clone(), Vec::new());
        work.record =
            self.runs.known.get(&run).and_then(|known| {
                Some(record_of(known.status.as_ref()?, known.progress.as_ref()?))
            });
        self.perform(vec![work]).await?;
        let Some(known) = self.runs.known.get_mut(&run) else { return Ok(()) };
        let Some(open) = &known.open else { return Ok(()) };
        let order = ReportOrder {
            run: run.clone(),
            files: open.files().clone(),
            counted: open.fold().counted(),
            version: known.version,
            complete_at: known.complete_at(),
        };
        if order.complete_at.is_some() {
            // The run is finished: its last report need not share the memory with its fold.
            known.open = None;
        }
        self.runs.reporting = Some(run);
        if let Some(ReportChannels { orders, .. }) = &self.reports {
            // The writer runs until the committer has ended, or both are to end at once.
            let _ = orders.send(order).await;
        }
        Ok(())
    }

    /// Records the result of a report.
    pub(super) async fn record_report(&mut self, reported: Reported) {
        let Reported { run, version, complete_at, took, written } = reported;
        self.runs.reporting = None;
        let Some(known) = self.runs.known.get_mut(&run) else { return };
        known.reports.last = Some((Instant::now(), took));
        known.reports.failed = written.is_err();
        match written {
            Err(reason) => {
                let warning = format!("the report of run {run} failed: {reason}");
                self.events.emit(Event::Warning(warning)).await;
            }
            Ok(completed) => {
                known.reports.version = version;
                let Some(progress) = &mut known.progress else { return };
                if complete_at.is_some() {
                    progress.reported_at = complete_at;
                    self.registry.set_progress(&run, progress);
                    telemetry::completed(&completed);
                    if let Some(ReportChannels { completed: listener, .. }) = &self.reports {
                        // The receiver may have ended.
                        let _ = listener.send(completed).await;
                    }
                }
            }
        }
    }

    /// Reports every run whose report is outdated, before the end.
    pub(super) async fn report_outdated(
        &mut self,
        reported: &mut mpsc::Receiver<Reported>,
    ) -> Result<(), AggregatorError> {
        let mut rest: Vec<RunId> = Vec::new();
        while self.reports.is_some() {
            if self.runs.reporting.is_some() {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Ok(()),
                    Some(end) = reported.recv() => self.record_report(end).await,
                    else => return Ok(()),
                }
                continue;
            }
            let unreported =
                |(run, known): &(&RunId, &TrackedRun)| known.is_outdated() && !rest.contains(run);
            let Some(run) = self.runs.known.iter().find(unreported).map(|(run, _)| run.clone())
            else {
                return Ok(());
            };
            // One attempt for each.
            rest.push(run.clone());
            self.order_report(run).await?;
        }
        Ok(())
    }
}
