//! Status of runs from the fleet's backend, and its effects on commits.

use super::{
    super::{
        AggregatorError,
        batch::Incoming,
        complete::{foreign, record_of},
    },
    Committer,
};
use crate::fleet::{
    blocking::{CommitWork, From, look_up},
    run_state::{Known, ResultPlace},
    status_poller::StatusAnswer,
};
use juror_journal::journal::JournalError;
use juror_ledger::redis::{RunProgress, RunStatus};
use juror_types::{event::Event, id::RunId, run::RunRecord};
use tokio::task::spawn_blocking;

impl Committer {
    pub(super) async fn learn(
        &mut self,
        run: RunId,
        answer: StatusAnswer,
    ) -> Result<(), AggregatorError> {
        if RunId::parse(run.as_str()).is_err() {
            // No run of ours; its results, should there be any, are set aside as they come.
            return Ok(());
        }
        match answer {
            StatusAnswer::Known(status) => self.learn_status(run, *status).await,
            StatusAnswer::Unknown => self.learn_that_it_is_unknown(run).await,
            StatusAnswer::Away => self.go_on_without(run).await,
        }
    }

    async fn learn_status(&mut self, run: RunId, status: RunStatus) -> Result<(), AggregatorError> {
        let known = self.runs.known.get(&run);
        if known.is_none() && status.is_reported() {
            // It had ended before anything came of it here.
            self.board.settle(&run);
            return Ok(());
        }
        let before = known.and_then(|known| known.status.as_ref());
        let is_news = before.is_none_or(|before| {
            before.record != status.record
                || before.cancelled != status.cancelled
                || before.expected != status.expected
        });
        let known = self.runs.known.entry(run.clone()).or_insert_with(Known::new);
        known.status = Some(status);
        if is_news {
            self.take_record(&run).await?;
        }
        self.close_if_settled(&run);
        Ok(())
    }

    /// Makes or checks the directory of a run that something new is known of.
    async fn take_record(&mut self, run: &RunId) -> Result<(), AggregatorError> {
        let Some(known) = self.runs.known.get_mut(run) else { return Ok(()) };
        let Some(status) = known.status.as_ref() else { return Ok(()) };
        let there = match &known.open {
            Some(open) => Some(open.record().clone()),
            None => match look_up_in(self.runs_dir.clone(), run.clone()).await? {
                Err(error) if error.is_damage() => {
                    self.turn_away_damaged(run, Vec::new(), &error).await;
                    return Ok(());
                }
                found => found?,
            },
        };
        if let Some(reason) = there.as_ref().and_then(|record| foreign(record, &status.record)) {
            self.turn_away_foreign(run, &reason).await;
            return Ok(());
        }
        let none = RunProgress::default();
        let record = record_of(status, known.progress.as_ref().unwrap_or(&none));
        known.place = ResultPlace::Directory;
        let batch = std::mem::take(&mut known.waiting);
        let from = match (known.open.take(), there) {
            (Some(open), _) => From::Open(Box::new(open)),
            (None, Some(_)) => From::Directory,
            (None, None) => From::Record,
        };
        self.perform(vec![CommitWork { run: run.clone(), from, record: Some(record), batch }]).await
    }

    /// A run that the fleet's backend does not know goes on if it has a directory: it was
    /// forgotten.
    async fn learn_that_it_is_unknown(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let Some(known) = self.runs.known.get_mut(&run) else {
            self.board.forget(&run);
            return Ok(());
        };
        let is_unknown = known.place == ResultPlace::Unknown;
        if known.status.take().is_some() && known.place == ResultPlace::Directory {
            let warning = format!(
                "Redis does not know run {run} any more: results that come are committed, but no further call goes out; judge what is left of it by: juror retry {run}"
            );
            self.events.emit(Event::Warning(warning)).await;
        }
        if is_unknown && !self.go_on_by_directory(&run).await? {
            let reason = format!(
                "the fleet knows no run {run}, and {} has no directory of it",
                self.runs_dir.display()
            );
            let known = self.runs.known.shift_remove(&run);
            self.board.forget(&run);
            let waiting = known.map(|known| known.waiting).unwrap_or_default();
            self.dead_letter(&run, waiting, reason).await;
            return Ok(());
        }
        self.board.settle(&run);
        Ok(())
    }

    /// While the fleet's backend is away, a run that has a directory goes on; results of others
    /// wait.
    async fn go_on_without(&mut self, run: RunId) -> Result<(), AggregatorError> {
        let waits =
            self.runs.known.get(&run).is_some_and(|known| known.place == ResultPlace::Unknown);
        if waits {
            self.go_on_by_directory(&run).await?;
        }
        Ok(())
    }

    /// Answers whether there is a directory.
    async fn go_on_by_directory(&mut self, run: &RunId) -> Result<bool, AggregatorError> {
        let record = match look_up_in(self.runs_dir.clone(), run.clone()).await? {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(false),
            Err(error) if error.is_damage() => {
                self.turn_away_damaged(run, Vec::new(), &error).await;
                return Ok(true);
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(reason) = foreign(&record, &record) {
            self.turn_away_foreign(run, &reason).await;
            return Ok(true);
        }
        if let Some(known) = self.runs.known.get_mut(run) {
            known.place = ResultPlace::Directory;
            let batch = std::mem::take(&mut known.waiting);
            let work = self.work_on(run.clone(), batch);
            self.perform(vec![work]).await?;
        }
        Ok(true)
    }

    async fn turn_away_foreign(&mut self, run: &RunId, why: &str) {
        let reason = format!("{why}: take another --run-id, or move that directory away");
        self.turn_away(run, Vec::new(), reason).await;
    }

    /// Sets a run aside whose files a person must look at, so that all others go on.
    pub(super) async fn turn_away_damaged(
        &mut self,
        run: &RunId,
        batch: Vec<Incoming>,
        error: &JournalError,
    ) {
        let reason = format!(
            "{error}; then start juror aggregate anew, and send what was kept aside: juror dead-letters replay --all --run {run}"
        );
        let warning = format!("run {run} is set aside, and all others go on: {reason}");
        self.events.emit(Event::Warning(warning)).await;
        self.turn_away(run, batch, reason).await;
    }

    async fn turn_away(&mut self, run: &RunId, mut batch: Vec<Incoming>, reason: String) {
        let Some(known) = self.runs.known.get_mut(run) else { return };
        let status = known.status.take();
        batch.append(&mut known.waiting);
        *known = Known { status, ..Known::at(ResultPlace::Aside(reason.clone())) };
        self.board.settle(run);
        self.dead_letter(run, batch, reason).await;
    }

    /// Lets go of a run of which nothing more is to be expected. Another result, or another
    /// announcement, brings it back.
    pub(super) fn close_if_settled(&mut self, run: &RunId) {
        let settled = self.runs.known.get(run).is_some_and(Known::is_settled);
        if settled && self.runs.reporting.as_ref() != Some(run) {
            self.runs.known.shift_remove(run);
            self.board.settle(run);
        }
    }
}

async fn look_up_in(
    runs_dir: std::path::PathBuf,
    run: RunId,
) -> Result<Result<Option<RunRecord>, JournalError>, tokio::task::JoinError> {
    spawn_blocking(move || look_up(&runs_dir, &run)).await
}
