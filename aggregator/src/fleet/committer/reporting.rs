//! Choice of the run that is reported next.

use super::{
    super::{
        AggregatorError,
        complete::record_of,
        reporter::{ReportOrder, Reported},
        telemetry,
    },
    Committer, ReportChannels,
};
use crate::fleet::run_state::Known;
use juror_types::{event::Event, id::RunId};
use tokio::{sync::mpsc, time::Instant};

impl Committer {
    /// Time at which the next report is due; none while one is being written.
    pub(super) fn next_report_due(&self) -> Option<Instant> {
        let due = |known: &Known| known.report_due(self.options.report);
        self.reports.as_ref()?;
        let idle = self.runs.reporting.is_none();
        self.runs.known.values().filter(|_| idle).filter_map(due).min()
    }

    /// Has the run reported whose report is due for longest, one at a time.
    pub(super) async fn order_due_report(&mut self) -> Result<(), AggregatorError> {
        let Some(due) = self.next_report_due().filter(|due| *due <= Instant::now()) else {
            return Ok(());
        };
        let is_due = |known: &Known| known.report_due(self.options.report) == Some(due);
        let run = self.runs.known.iter().find(|(_, known)| is_due(known)).map(|(run, _)| run);
        match run.cloned() {
            Some(run) => self.order(run).await,
            None => Ok(()),
        }
    }

    async fn order(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let mut work = self.work_on(run.clone(), Vec::new());
        let known = self.runs.known.get(&run);
        work.record = known.and_then(|known| {
            known
                .status
                .as_ref()
                .zip(known.progress.as_ref())
                .map(|(status, so_far)| record_of(status, so_far))
        });
        self.perform(vec![work]).await?;
        let Some(known) = self.runs.known.get_mut(&run) else { return Ok(()) };
        let Some(open) = &known.open else { return Ok(()) };
        let order = ReportOrder {
            run: run.clone(),
            snapshot: open.snapshot(),
            version: known.version,
            complete_at: known.complete_at(),
        };
        if order.complete_at.is_some() {
            // Nothing more is to come: its last report need not share the memory with its fold.
            known.open = None;
        }
        self.runs.reporting = Some(run);
        if let Some(ReportChannels { orders, .. }) = &self.reports {
            // Whoever writes is there until the committer has ended, or both are to end at once.
            let _ = orders.send(order).await;
        }
        Ok(())
    }

    /// Takes down what became of a report.
    pub(super) async fn note_report(&mut self, reported: Reported) {
        let Reported { run, version, complete_at, took, written } = reported;
        self.runs.reporting = None;
        let Some(known) = self.runs.known.get_mut(&run) else { return };
        known.reports.last = Some((Instant::now(), took));
        known.reports.failed = written.is_err();
        match written {
            Err(reason) => {
                let warning = format!("run {run} cannot be reported now: {reason}");
                self.events.emit(Event::Warning(warning)).await;
            }
            Ok(completed) => {
                known.reports.version = version;
                let Some(progress) = &mut known.progress else { return };
                if complete_at.is_some() {
                    progress.reported_at = complete_at;
                    self.board.tell(&run, progress);
                    telemetry::completed(&completed);
                    if let Some(ReportChannels { completed: listener, .. }) = &self.reports {
                        // Nobody may be there to hear of it.
                        let _ = listener.send(completed).await;
                    }
                }
            }
        }
    }

    /// Reports every run whose report says less than its journal, before the end.
    pub(super) async fn report_the_rest(
        &mut self,
        reported: &mut mpsc::Receiver<Reported>,
    ) -> Result<(), AggregatorError> {
        let mut rest: Vec<RunId> = Vec::new();
        while self.reports.is_some() {
            if self.runs.reporting.is_some() {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Ok(()),
                    Some(end) = reported.recv() => self.note_report(end).await,
                    else => return Ok(()),
                }
                continue;
            }
            let unreported =
                |(run, known): &(&RunId, &Known)| known.is_unreported() && !rest.contains(run);
            let Some(run) = self.runs.known.iter().find(unreported).map(|(run, _)| run.clone())
            else {
                return Ok(());
            };
            // Each is tried once.
            rest.push(run.clone());
            self.order(run).await?;
        }
        Ok(())
    }
}
