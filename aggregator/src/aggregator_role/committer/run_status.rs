//! Run statuses from the fleet's backend, and their effects on commits.

use super::{
    super::{
        AggregatorError,
        completeness::{foreign, record_of},
        incoming::Incoming,
    },
    Committer,
};
use crate::aggregator_role::{
    commit_work::{CommitWork, RunSource, look_up, removed},
    status_poller::StatusReply,
    tracked_run::{ResultPlace, TrackedRun},
};
use juror_journal::journal::JournalError;
use juror_ledger::redis::{RunProgress, RunStatus};
use juror_types::{event::Event, id::RunId, run::RunRecord};
use std::path::PathBuf;
use tokio::task::spawn_blocking;

impl Committer {
    pub(super) async fn apply_status(
        &mut self,
        run: RunId,
        answer: StatusReply,
    ) -> Result<(), AggregatorError> {
        if RunId::parse(run.as_str()).is_err() {
            // An unknown run; any results of it are dead-lettered as they come.
            return Ok(());
        }
        match answer {
            StatusReply::Known(status) => self.apply_run_status(run, *status).await,
            StatusReply::Unknown => self.record_unknown_run(run).await,
            StatusReply::Unavailable => self.continue_without_backend(run).await,
        }
    }

    async fn apply_run_status(
        &mut self,
        run: RunId,
        status: RunStatus,
    ) -> Result<(), AggregatorError> {
        let known = self.runs.known.get(&run);
        if known.is_none() && status.is_reported() {
            // The run ended before any of its results arrived.
            self.registry.mark_finished(&run);
            return Ok(());
        }
        let before = known.and_then(|known| known.status.as_ref());
        let is_news = before.is_none_or(|before| {
            before.record != status.record
                || before.cancelled != status.cancelled
                || before.expected != status.expected
        });
        let known = self.runs.known.entry(run.clone()).or_insert_with(TrackedRun::new);
        known.status = Some(status);
        if is_news {
            self.update_record(&run).await?;
        }
        self.close_if_settled(&run);
        Ok(())
    }

    /// Creates or checks the directory of a run whose status has changed.
    async fn update_record(&mut self, run: &RunId) -> Result<(), AggregatorError> {
        let Some(known) = self.runs.known.get_mut(run) else { return Ok(()) };
        let Some(status) = known.status.as_ref() else { return Ok(()) };
        let there = match &known.open {
            Some(open) => Some(open.record().clone()),
            None => match record_in_directory(self.runs_dir.clone(), run.clone()).await {
                Err(AggregatorError::Journal(error)) if error.is_damage() => {
                    self.quarantine_damaged(run, Vec::new(), &error).await;
                    return Ok(());
                }
                found => found?,
            },
        };
        if there.is_none() && known.place == ResultPlace::Directory {
            let error = removed(&self.runs_dir, run);
            self.quarantine_damaged(run, Vec::new(), &error).await;
            return Ok(());
        }
        if let Some(reason) = there.as_ref().and_then(|record| foreign(record, &status.record)) {
            self.reject_foreign(run, &reason).await;
            return Ok(());
        }
        let none = RunProgress::default();
        let record = record_of(status, known.progress.as_ref().unwrap_or(&none));
        known.place = ResultPlace::Directory;
        let batch = std::mem::take(&mut known.waiting);
        let from = match (known.open.take(), there) {
            (Some(open), _) => RunSource::Open(Box::new(open)),
            (None, Some(_)) => RunSource::Directory,
            (None, None) => RunSource::Record,
        };
        self.perform(vec![CommitWork { run: run.clone(), from, record: Some(record), batch }]).await
    }

    /// Handles a run that is unknown to the fleet's backend: it continues if it has a directory,
    /// since the backend lost it.
    async fn record_unknown_run(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let Some(known) = self.runs.known.get_mut(&run) else {
            self.registry.remove(&run);
            return Ok(());
        };
        let is_unknown = known.place == ResultPlace::Unknown;
        if known.status.take().is_some() && known.place == ResultPlace::Directory {
            let warning = format!(
                "Redis has lost run {run}: arriving results are committed, but no further calls are made; to judge the remaining jobs, run: juror retry {run}"
            );
            self.events.emit(Event::Warning(warning)).await;
        }
        if is_unknown && !self.continue_by_directory(&run).await? {
            let reason = format!(
                "run {run} is unknown to the fleet, and {} has no directory of it",
                self.runs_dir.display()
            );
            let known = self.runs.known.shift_remove(&run);
            self.registry.remove(&run);
            let waiting = known.map(|known| known.waiting).unwrap_or_default();
            self.dead_letter(&run, waiting, reason).await;
            return Ok(());
        }
        self.registry.mark_finished(&run);
        Ok(())
    }

    /// Handles an unreachable backend: a run with a directory continues; results of others wait.
    async fn continue_without_backend(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let waits =
            self.runs.known.get(&run).is_some_and(|known| known.place == ResultPlace::Unknown);
        if waits {
            self.continue_by_directory(&run).await?;
        }
        Ok(())
    }

    /// Continues a run by its directory; returns false if there is none.
    async fn continue_by_directory(&mut self, run: &RunId) -> Result<bool, AggregatorError> {
        let record = match record_in_directory(self.runs_dir.clone(), run.clone()).await {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(false),
            Err(AggregatorError::Journal(error)) if error.is_damage() => {
                self.quarantine_damaged(run, Vec::new(), &error).await;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        if let Some(reason) = foreign(&record, &record) {
            self.reject_foreign(run, &reason).await;
            return Ok(true);
        }
        if let Some(known) = self.runs.known.get_mut(run) {
            known.place = ResultPlace::Directory;
            let batch = std::mem::take(&mut known.waiting);
            let work = self.work_for(run.clone(), batch);
            self.perform(vec![work]).await?;
        }
        Ok(true)
    }

    async fn reject_foreign(&mut self, run: &RunId, why: &str) {
        let reason = format!("{why}: use another --run-id, or move that directory away");
        self.reject(run, Vec::new(), reason).await;
    }

    /// Quarantines a run with damaged files, so that other runs are unaffected.
    pub(super) async fn quarantine_damaged(
        &mut self,
        run: &RunId,
        batch: Vec<Incoming>,
        error: &JournalError,
    ) {
        let reason = format!(
            "{error}; then restart juror aggregate, and replay its results: juror dead-letters replay --all --run {run}"
        );
        let warning = format!("run {run} is quarantined: {reason}; other runs are unaffected");
        self.events.emit(Event::Warning(warning)).await;
        self.reject(run, batch, reason).await;
    }

    async fn reject(&mut self, run: &RunId, mut batch: Vec<Incoming>, reason: String) {
        let Some(known) = self.runs.known.get_mut(run) else { return };
        let status = known.status.take();
        batch.append(&mut known.waiting);
        *known = TrackedRun { status, ..TrackedRun::at(ResultPlace::DeadLetters(reason.clone())) };
        self.registry.mark_finished(run);
        self.dead_letter(run, batch, reason).await;
    }

    /// Closes a run without pending results. Another result, or another announcement, reopens it.
    pub(super) fn close_if_settled(&mut self, run: &RunId) {
        let is_finished = self.runs.known.get(run).is_some_and(TrackedRun::is_finished);
        if is_finished && self.runs.reporting.as_ref() != Some(run) {
            self.runs.known.shift_remove(run);
            self.registry.mark_finished(run);
        }
    }
}

async fn record_in_directory(
    runs_dir: PathBuf,
    run: RunId,
) -> Result<Option<RunRecord>, AggregatorError> {
    Ok(spawn_blocking(move || look_up(&runs_dir, &run)).await??)
}
