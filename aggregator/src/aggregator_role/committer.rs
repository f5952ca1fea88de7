//! The owner of all open runs: commits incoming results, applies run statuses of the fleet's
//! backend, and orders reports.

mod reporting;
mod run_status;

use super::{
    AggregatorError, AggregatorOptions, CompletedRun,
    incoming::{Incoming, by_run},
    reporter::{ReportOrder, Reported},
    telemetry,
};
use crate::aggregator_role::{
    acknowledge_deliveries::DeliveriesToEnd,
    commit_work::{CommitWork, CommittedWork, FailedCommit, RunSource},
    run_registry::RunRegistry,
    status_poller::StatusReply,
    tracked_run::{ResultPlace, TrackedRun},
};
use crate::run_journal::RunJournal;
use futures_util::future::join_all;
use indexmap::IndexMap;
use juror_telemetry::Metrics;
use juror_types::{
    SCHEMA,
    event::{Event, Events},
    id::RunId,
};
use std::{path::PathBuf, sync::Arc};
use tokio::{
    sync::mpsc,
    task::{JoinError, spawn_blocking},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

pub(super) struct Committer {
    pub(super) runs_dir: PathBuf,
    pub(super) options: AggregatorOptions,
    pub(super) events: Events,
    /// Receiver of single results.
    pub(super) finished: Events,
    pub(super) metrics: Arc<Metrics>,
    pub(super) registry: RunRegistry,
    pub(super) ending: mpsc::Sender<DeliveriesToEnd>,
    /// Channels of reports; `None` if runs are reported elsewhere.
    pub(super) reports: Option<ReportChannels>,
    /// Signal for an immediate end.
    pub(super) stop: CancellationToken,
    pub(super) runs: KnownRuns,
}

/// Outputs of the committer for reports.
pub(super) struct ReportChannels {
    pub(super) orders: mpsc::Sender<ReportOrder>,
    pub(super) completed: mpsc::Sender<CompletedRun>,
}

/// Inputs of the committer.
pub(super) struct Inputs {
    pub(super) incoming: mpsc::Receiver<Incoming>,
    pub(super) answers: mpsc::Receiver<(RunId, StatusReply)>,
    pub(super) reported: mpsc::Receiver<Reported>,
}

impl Inputs {
    /// Results only, without run statuses.
    pub(super) fn for_local_run(incoming: mpsc::Receiver<Incoming>) -> Self {
        Self { incoming, answers: mpsc::channel(1).1, reported: mpsc::channel(1).1 }
    }
}

/// The known runs.
#[derive(Default)]
pub(super) struct KnownRuns {
    known: IndexMap<RunId, TrackedRun>,
    /// Destination of results of other runs.
    others: ResultPlace,
    /// The run whose report is being written.
    reporting: Option<RunId>,
    uses: u64,
}

impl KnownRuns {
    /// The local run, which is open until its end.
    pub(super) fn for_local_run(journal: RunJournal) -> Self {
        let run = journal.record().run_id.clone();
        let known = TrackedRun { open: Some(journal), ..TrackedRun::at(ResultPlace::Directory) };
        let others = ResultPlace::DeadLetters("it is a result of another run".to_owned());
        Self { known: [(run, known)].into_iter().collect(), others, ..Self::default() }
    }

    /// The journal of the local run.
    pub(super) fn into_local_run(self) -> Option<RunJournal> {
        self.known.into_values().find_map(|known| known.open)
    }
}

impl Committer {
    /// Runs until no more inputs come, then writes the outdated reports.
    pub(super) async fn run(mut self, mut inputs: Inputs) -> Result<KnownRuns, AggregatorError> {
        let mut batch = Vec::new();
        loop {
            self.order_due_report().await?;
            let due = self.next_report_due();
            tokio::select! {
                () = self.stop.cancelled() => return Ok(self.runs),
                received = inputs.incoming.recv_many(&mut batch, self.options.batch) => {
                    if received == 0 {
                        break;
                    }
                    self.gather(&mut inputs.incoming, &mut batch).await;
                    self.commit(std::mem::take(&mut batch)).await?;
                }
                Some((run, answer)) = inputs.answers.recv() => self.apply_status(run, answer).await?,
                Some(reported) = inputs.reported.recv() => self.record_report(reported).await,
                () = until(due) => {}
            }
        }
        self.report_outdated(&mut inputs.reported).await?;
        Ok(self.runs)
    }

    /// Adds results that arrive soon, so that one fsync serves many.
    async fn gather(&self, incoming: &mut mpsc::Receiver<Incoming>, batch: &mut Vec<Incoming>) {
        let Some(wait) = self.options.batch_delay else { return };
        let most = self.options.batch;
        let others = async {
            while batch.len() < most && incoming.recv_many(batch, most - batch.len()).await > 0 {}
        };
        // Cancel-safe: received results are in the batch.
        let _ = timeout(wait, others).await;
    }

    /// Commits a batch, all its runs concurrently, and then has it acknowledged.
    async fn commit(&mut self, batch: Vec<Incoming>) -> Result<(), AggregatorError> {
        let mut work = Vec::new();
        for (run, batch) in by_run(batch) {
            if let Err(invalid) = RunId::parse(run.as_str()) {
                self.dead_letter(&run, batch, invalid.to_string()).await;
                continue;
            }
            let batch = self.without_other_versions(&run, batch).await;
            let batch = self.without_foreign_messages(&run, batch).await;
            let KnownRuns { known, others, .. } = &mut self.runs;
            let known = known.entry(run.clone()).or_insert_with(|| TrackedRun::at(others.clone()));
            match &known.place {
                ResultPlace::Directory => work.push(self.work_for(run, batch)),
                ResultPlace::DeadLetters(reason) => {
                    let reason = reason.clone();
                    self.dead_letter(&run, batch, reason).await;
                }
                ResultPlace::Unknown => {
                    known.waiting.extend(batch);
                    self.registry.request_status(&run);
                }
            }
        }
        self.perform(work).await
    }

    /// Dead-letters results of another schema version.
    async fn without_other_versions(&self, run: &RunId, batch: Vec<Incoming>) -> Vec<Incoming> {
        let (ours, others): (Vec<_>, _) =
            batch.into_iter().partition(|incoming| incoming.schema() == SCHEMA);
        if let Some(first) = others.first() {
            let reason = format!(
                "it has schema {}, but this program reads schema {SCHEMA}: use the juror version that wrote it",
                first.schema()
            );
            self.dead_letter(run, others, reason).await;
        }
        ours
    }

    /// Dead-letters what no part of Juror published: it would count as a job of the run.
    async fn without_foreign_messages(&self, run: &RunId, batch: Vec<Incoming>) -> Vec<Incoming> {
        let mut ours = Vec::with_capacity(batch.len());
        for incoming in batch {
            match incoming.check() {
                Ok(()) => ours.push(incoming),
                Err(foreign) => self.dead_letter(run, vec![incoming], foreign.to_string()).await,
            }
        }
        ours
    }

    fn work_for(&mut self, run: RunId, batch: Vec<Incoming>) -> CommitWork {
        let open = self.runs.known.get_mut(&run).and_then(|known| known.open.take());
        let from = open.map_or(RunSource::Directory, |open| RunSource::Open(Box::new(open)));
        CommitWork { run, from, record: None, batch }
    }

    /// Performs the work of several runs concurrently, as many as may be open. A run with damaged
    /// files is quarantined; on any other error nothing of those is acknowledged.
    async fn perform(&mut self, mut work: Vec<CommitWork>) -> Result<(), AggregatorError> {
        while !work.is_empty() {
            let later = work.split_off(work.len().min(self.options.open_runs.max(1)));
            let begun = work.into_iter().map(|work| {
                let (runs_dir, stop) = (self.runs_dir.clone(), self.stop.clone());
                spawn_blocking(move || work.perform(&runs_dir, &stop))
            });
            let ended = join_all(begun).await.into_iter().collect::<Result<Vec<_>, JoinError>>()?;
            let (mut all_done, mut all_damaged) = (Vec::new(), Vec::new());
            for ended in ended {
                match ended {
                    Ok(done) => all_done.push(done),
                    // A run on one machine has no other runs beside it, and ends by its error.
                    Err(undone) if undone.error.is_damage() && self.reports.is_some() => {
                        all_damaged.push(*undone);
                    }
                    Err(undone) => return Err(undone.error.into()),
                }
            }
            for done in all_done {
                self.finish_work(done).await;
            }
            for FailedCommit { run, batch, error } in all_damaged {
                self.quarantine_damaged(&run, batch, &error).await;
            }
            self.close_least_recently_used();
            work = later;
        }
        Ok(())
    }

    async fn finish_work(&mut self, done: CommittedWork) {
        telemetry::committed(&done, &self.metrics);
        let CommittedWork { run, open, batch, committed } = done;
        self.runs.uses += 1;
        let known = self.runs.known.entry(run.clone()).or_insert_with(TrackedRun::new);
        known.used = self.runs.uses;
        known.version += u64::from(!committed.news.is_empty());
        let progress = known.progress_with(open.progress());
        self.registry.set_progress(&run, &progress);
        known.progress = Some(progress);
        known.open = Some(open);
        self.end_deliveries(DeliveriesToEnd::Done(batch)).await;
        for result in committed.news {
            self.finished.emit(Event::Finished(result)).await;
        }
    }

    fn close_least_recently_used(&mut self) {
        let open = || self.runs.known.values().filter(|known| known.open.is_some());
        let excess = open().count().saturating_sub(self.options.open_runs.max(1));
        let mut uses: Vec<u64> = open().map(|known| known.used).collect();
        uses.sort_unstable();
        let Some(last) = excess.checked_sub(1).and_then(|last| uses.get(last)).copied() else {
            return;
        };
        for known in self.runs.known.values_mut().filter(|known| known.used <= last) {
            known.open = None;
        }
    }

    /// Dead-letters results that belong to no run, with a warning.
    async fn dead_letter(&self, run: &RunId, batch: Vec<Incoming>, reason: String) {
        if batch.is_empty() {
            return;
        }
        let warning =
            format!("{} results of run {run} are among the dead letters: {reason}", batch.len());
        self.events.emit(Event::Warning(warning)).await;
        self.end_deliveries(DeliveriesToEnd::DeadLetter(batch, reason)).await;
    }

    async fn end_deliveries(&self, ended: DeliveriesToEnd) {
        // The receiving task runs until the committer has ended, or both are to end at once.
        let _ = self.ending.send(ended).await;
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
impl KnownRuns {
    pub(super) fn insert(&mut self, run: RunId, known: TrackedRun) {
        self.known.insert(run, known);
    }
}
