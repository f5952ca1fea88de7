//! States of the fleet's runs, as a worker sees them: looked up in Redis after each change that it
//! tells of and every few seconds, each with a context as long as its jobs may be judged.

use super::context_factory::{ContextError, ContextFactory};
use async_trait::async_trait;
use juror_ledger::{admission::Admission as _, error::LedgerError, redis::RunStatus};
use juror_types::{
    id::RunId,
    job::{Job, Judge},
    run::RunRecord,
};
use juror_worker::{
    context::Context,
    run::{RunStatusProvider, WorkerRunState},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex as Lock, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Mutex,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Time for which a looked-up state is believed though something has changed since, money of
/// another run, say.
const CACHE_TTL: Duration = Duration::from_secs(1);
/// Interval of looking up runs whose jobs are in hand, so that a pause or a cancellation reaches
/// those that wait. Each look-up brings the run's whole record: with many workers, one for each job
/// would take Redis as long as the judgements do.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Time for which a run is remembered after its last job.
const TTL: Duration = Duration::from_secs(10 * 60);
/// Number of runs that are remembered, beside those whose jobs are in hand.
const REMEMBERED: usize = 32;

/// The runs that this worker has seen.
pub struct SeenRuns {
    contexts: ContextFactory,
    known: Lock<HashMap<RunId, Arc<Mutex<KnownRun>>>>,
}

/// A run as it was seen last.
#[derive(Default)]
struct KnownRun {
    looked_up: Option<LookUp>,
    /// None if nobody knows it.
    status: Option<RunStatus>,
    context: Option<Arc<Context>>,
    /// Context that the batches of a cancelled run are collected with.
    cancelled: Option<Arc<Context>>,
}

/// Status of a run as it was last looked up.
#[derive(Clone, Copy)]
struct LookUp {
    at: Instant,
    /// The backend's count of changes before.
    change: u64,
}

impl SeenRuns {
    /// Contexts of no runs yet.
    pub fn new(contexts: ContextFactory) -> Self {
        Self { contexts, known: Lock::default() }
    }

    /// Looks again and again how runs stand whose jobs are in hand, until it is stopped.
    pub async fn watch(&self, stop: &CancellationToken) {
        let mut ticks = interval(LOOK_AGAIN);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let for_ever = async {
            loop {
                ticks.tick().await;
                for (run, known) in self.in_progress() {
                    let mut known = known.lock().await;
                    // Whoever asks next meets the same error.
                    let _ = self.look_up(&run, &mut known).await;
                }
            }
        };
        stop.run_until_cancelled(for_ever).await;
    }

    fn known(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Mutex<KnownRun>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runs whose jobs are in hand; others are forgotten after a while.
    fn in_progress(&self) -> Vec<(RunId, Arc<Mutex<KnownRun>>)> {
        let mut known = self.known();
        known.retain(|_, known| is_in_hand(known) || was_seen_lately(known));
        let used = known.iter().filter(|(_, known)| is_in_hand(known));
        used.map(|(run, known)| (run.clone(), Arc::clone(known))).collect()
    }

    /// The run's place; beyond so many, others make room whose jobs are not in hand.
    fn place_of(&self, run: &RunId) -> Arc<Mutex<KnownRun>> {
        let mut known = self.known();
        if !known.contains_key(run) && known.len() >= REMEMBERED {
            known.retain(|_, known| is_in_hand(known));
        }
        Arc::clone(known.entry(run.clone()).or_default())
    }

    /// Brings what is known of a run up to date. A run that does not go on, or not as the same one,
    /// loses its context, and whoever waits under it is told.
    async fn look_up(&self, run: &RunId, known: &mut KnownRun) -> Result<(), LedgerError> {
        let backend = self.contexts.backend();
        let change = *backend.changes().borrow();
        let status = backend.query(&|| Box::pin(backend.backend().run_status(run))).await?;
        let is_same = |new: &RunRecord| match &known.status {
            Some(old) => alike(&old.record, new),
            None => false,
        };
        if !status.as_ref().is_some_and(|new| accepts_jobs(new) && is_same(&new.record)) {
            Self::leave(known);
        }
        if !status.as_ref().is_some_and(|new| new.cancelled)
            && let Some(context) = known.cancelled.take()
        {
            context.shutdown.drain.cancel();
        }
        known.status = status;
        known.looked_up = Some(LookUp { at: Instant::now(), change });
        Ok(())
    }

    /// True if what was looked up is still to be believed for this job. A run that stands still may
    /// go on at any time, which is heard of as a change.
    fn is_fresh(&self, job: &Job, known: &KnownRun) -> bool {
        let Some((looked_up, status)) = known.looked_up.zip(known.status.as_ref()) else {
            return false;
        };
        let is_unchanged = *self.contexts.backend().changes().borrow() == looked_up.change;
        let believed = match (accepts_jobs(status), is_unchanged) {
            (true, true) => LOOK_AGAIN,
            (true, false) | (false, true) => CACHE_TTL,
            (false, false) => return false,
        };
        looked_up.at.elapsed() < believed && fits(job, &status.record)
    }

    /// True if a job of the run has met a refusal, and the pause is not noted yet.
    fn is_about_to_pause(&self, known: &KnownRun) -> bool {
        let is_stopped = |context: &Arc<Context>| context.shutdown.drain.is_cancelled();
        known.context.as_ref().is_some_and(is_stopped) && !self.contexts.is_stopping()
    }

    fn leave(known: &mut KnownRun) {
        if let Some(context) = known.context.take() {
            context.shutdown.drain.cancel();
        }
    }

    async fn note_pause(
        &self,
        run: &RunId,
        reason: &str,
        known: &mut KnownRun,
    ) -> Result<(), LedgerError> {
        let backend = self.contexts.backend();
        backend.query(&|| Box::pin(backend.backend().pause_run(run, reason))).await?;
        Self::leave(known);
        known.looked_up = None;
        Ok(())
    }
}

#[async_trait]
impl RunStatusProvider for SeenRuns {
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError> {
        let run = &job.run_id;
        let place = self.place_of(run);
        let mut known = place.lock().await;
        if self.is_about_to_pause(&known) {
            // One of its jobs has met a refusal, and is about to note the pause.
            return Ok(WorkerRunState::Paused("no call of it can succeed".to_owned()));
        }
        if !self.is_fresh(job, &known) {
            self.look_up(run, &mut known).await?;
        }
        let record = match open_record(job, known.status.as_ref()) {
            Ok(record) => record,
            Err(run_state) => return Ok(run_state),
        };
        if let Some(context) = &known.context {
            return Ok(WorkerRunState::Open(Arc::clone(context)));
        }
        match self.contexts.make(record).await {
            Ok(context) => {
                let context = Arc::new(context);
                known.context = Some(Arc::clone(&context));
                Ok(WorkerRunState::Open(context))
            }
            Err(ContextError::Ledger(error)) => Err(error),
            Err(unjudgeable @ ContextError::Unjudgeable(_)) => {
                let reason = unjudgeable.to_string();
                self.note_pause(run, &reason, &mut known).await?;
                Ok(WorkerRunState::Paused(reason))
            }
        }
    }

    async fn shard_context(&self, run: &RunId) -> Result<Option<Arc<Context>>, LedgerError> {
        let place = self.place_of(run);
        let mut known = place.lock().await;
        if self.is_about_to_pause(&known) {
            return Ok(None);
        }
        self.look_up(run, &mut known).await?;
        let Some(status) = known.status.as_ref().filter(|status| status.paused.is_none()) else {
            return Ok(None);
        };
        let (record, is_cancelled) = (&status.record, status.cancelled);
        let context = if is_cancelled { &known.cancelled } else { &known.context };
        if let Some(context) = context {
            return Ok(Some(Arc::clone(context)));
        }
        let made = match is_cancelled {
            true => self.contexts.make_for_cancelled(record).await,
            false => self.contexts.make(record).await,
        };
        match made {
            Ok(context) => {
                let context = Arc::new(context);
                let place = if is_cancelled { &mut known.cancelled } else { &mut known.context };
                Ok(Some(Arc::clone(place.insert(context))))
            }
            Err(ContextError::Ledger(error)) => Err(error),
            // Another worker may have what this one lacks.
            Err(unjudgeable @ ContextError::Unjudgeable(_)) => {
                tracing::warn!(%run, %unjudgeable, "the batches of a run are left to other workers");
                Ok(None)
            }
        }
    }

    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), LedgerError> {
        let place = self.place_of(run);
        let mut known = place.lock().await;
        self.note_pause(run, reason, &mut known).await
    }
}

/// True if somebody works under the run's context, or is looking it up.
fn is_in_hand(known: &Arc<Mutex<KnownRun>>) -> bool {
    match known.try_lock() {
        Ok(known) => [&known.context, &known.cancelled]
            .into_iter()
            .any(|context| context.as_ref().is_some_and(|context| Arc::strong_count(context) > 1)),
        Err(_) => true,
    }
}

fn was_seen_lately(known: &Arc<Mutex<KnownRun>>) -> bool {
    let looked_up = known.try_lock().ok().and_then(|known| known.looked_up);
    looked_up.is_some_and(|look| look.at.elapsed() < TTL)
}

fn accepts_jobs(status: &RunStatus) -> bool {
    !status.cancelled && status.paused.is_none()
}

/// True if a context made by one record does for the other.
fn alike(one: &RunRecord, other: &RunRecord) -> bool {
    one.rubric == other.rubric
        && one.judge == other.judge
        && one.max_side == other.max_side
        && one.deadline == other.deadline
        && one.lane == other.lane
}

/// True if the run's record has what the job needs: the rubric's text, and the terms of its judge.
fn fits(job: &Job, record: &RunRecord) -> bool {
    let model =
        |judge: &Option<Judge>| judge.as_ref().map(|judge| (judge.provider, judge.model.clone()));
    job.rubric.digest == record.rubric.digest && model(&job.judge) == model(&record.judge)
}

/// The record that a job can be judged by, or how its run stands instead.
fn open_record<'a>(
    job: &Job,
    status: Option<&'a RunStatus>,
) -> Result<&'a RunRecord, WorkerRunState> {
    let Some(status) = status else {
        return Err(WorkerRunState::Unknown(
            "nobody has announced it, or Redis has forgotten it; `juror enqueue` with the same \
             --run-id announces it again"
                .to_owned(),
        ));
    };
    match &status.paused {
        _ if status.cancelled => Err(WorkerRunState::Cancelled),
        Some(reason) => Err(WorkerRunState::Paused(reason.clone())),
        None if fits(job, &status.record) => Ok(&status.record),
        None => Err(WorkerRunState::Unknown(
            "a job has another rubric or another judge than the run that was announced under this \
             name"
                .to_owned(),
        )),
    }
}
