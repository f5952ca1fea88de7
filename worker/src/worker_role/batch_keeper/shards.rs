//! The shards that a worker works on: those that it filled, and those that it took over.

use super::{BatchKeeper, KeeperScope, KeeperSettings};
use crate::{
    batch::{RunBatches, ShardLifecycle},
    interruption::{Interruption, WorkerError},
    worker_role::{RunStateProvider, pause, warn_once::WarnOnce},
};
use juror_ledger::{batches::ShardStep, error::LedgerError};
use juror_telemetry::ShardEvent;
use juror_types::{id::RunId, shutdown::Shutdown};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::{
    task::JoinSet,
    time::{Instant, Interval, MissedTickBehavior, interval, timeout},
};
use tracing::info;

/// Interval of the check for shards without new jobs.
pub(super) const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Number of ownership renewals within the owner's TTL.
const RENEWALS: u32 = 3;

/// The end of the work on one shard.
pub(super) struct ShardEnded {
    work: Arc<RunBatches>,
    number: u32,
    /// True if its batch continues at the provider.
    end: Result<bool, WorkerError>,
}

/// The shards that are worked on.
pub(super) struct Shards<'keeper> {
    pub(super) keeper: &'keeper BatchKeeper,
    run_states: &'keeper dyn RunStateProvider,
    warnings: &'keeper WarnOnce,
    pub(super) shutdown: &'keeper Shutdown,
    pub(super) tasks: JoinSet<ShardEnded>,
    working: HashSet<(RunId, u32)>,
}

impl<'keeper> Shards<'keeper> {
    /// A set without shards.
    pub(super) fn new(
        keeper: &'keeper BatchKeeper,
        run_states: &'keeper dyn RunStateProvider,
        warnings: &'keeper WarnOnce,
        shutdown: &'keeper Shutdown,
    ) -> Self {
        let (tasks, working) = (JoinSet::new(), HashSet::new());
        Self { keeper, run_states, warnings, shutdown, tasks, working }
    }

    /// Works on shards until `shutdown.drain`, or until a local run has none left.
    pub(super) async fn work(&mut self) -> Result<(), WorkerError> {
        match &self.keeper.scope {
            KeeperScope::Fleet(settings) => self.work_in_fleet(settings).await,
            KeeperScope::LocalRun(_, jobs) => self.run_to_end(jobs).await,
        }
    }

    async fn work_in_fleet(&mut self, settings: &KeeperSettings) -> Result<(), WorkerError> {
        let KeeperSettings { seal_after, owner_ttl } = *settings;
        let mut heartbeats = ticks(owner_ttl / RENEWALS);
        let mut idle_checks = ticks(IDLE_CHECK_INTERVAL.min(seal_after));
        let mut renewed = Instant::now();
        loop {
            self.start_planned().await;
            tokio::select! {
                biased;
                () = self.shutdown.drain.cancelled() => return Ok(()),
                Some(ended) = self.tasks.join_next() => {
                    if self.ended(ended?).await? {
                        self.start_owned_shards().await?;
                    }
                }
                _ = heartbeats.tick() => {
                    self.keeper.renew().await?;
                    // After an outage longer than the TTL, let live owners renew before taking
                    // shards over.
                    if renewed.elapsed() <= owner_ttl {
                        self.start_owned_shards().await?;
                    }
                    renewed = Instant::now();
                }
                _ = idle_checks.tick() => {
                    self.release_stopped_fillings().await;
                    self.seal(seal_after).await?;
                }
                () = self.keeper.changed.notified() => {}
            }
        }
    }

    /// Waits for the tasks of this process; its shards stay its own meanwhile.
    pub(super) async fn join_tasks(&mut self) -> Result<(), WorkerError> {
        let renewal = match &self.keeper.scope {
            KeeperScope::Fleet(settings) => settings.owner_ttl / RENEWALS,
            KeeperScope::LocalRun(..) => Duration::MAX,
        };
        let mut failed = Ok(());
        loop {
            match timeout(renewal, self.tasks.join_next()).await {
                Ok(None) => return failed,
                Ok(Some(ended)) => {
                    let ended = match ended {
                        Ok(ended) => self.ended(ended).await.map(drop),
                        Err(error) => Err(error.into()),
                    };
                    failed = failed.and(ended);
                }
                // A failed renewal is harmless: another worker takes the shards over.
                Err(_) => drop(self.keeper.renew().await),
            }
        }
    }

    fn spawn(&mut self, work: &Arc<RunBatches>, number: u32, step: ShardStep) {
        if !self.working.insert((work.run.clone(), number)) {
            return;
        }
        let work = Arc::clone(work);
        self.tasks.spawn(async move {
            let end = ShardLifecycle::new(&work, number).run(step).await;
            ShardEnded { work, number, end }
        });
    }

    /// Starts the work on shards whose files are written.
    pub(super) async fn start_planned(&mut self) {
        for work in self.keeper.all_works() {
            for number in work.take_planned().await {
                let step = match work.context.shutdown.drain.is_cancelled() {
                    true => ShardStep::GivenUp,
                    false => ShardStep::Planned,
                };
                self.spawn(&work, number, step);
            }
        }
    }

    /// Seals shards that got no job for this time.
    pub(super) async fn seal(&mut self, idle: Duration) -> Result<(), WorkerError> {
        for work in self.keeper.all_works() {
            if let Err(error) = work.seal_idle(idle).await {
                self.failed(&work.run, error.into()).await?;
            }
        }
        Ok(())
    }

    /// Abandons shards that are being filled and whose run no longer uses batches, and drops
    /// finished work.
    pub(super) async fn release_stopped_fillings(&mut self) {
        let mut idle = Vec::new();
        for work in self.keeper.all_works() {
            if (work.context.shutdown.drain.is_cancelled() || work.lane.is_over())
                && let Some(number) = work.stop_filling().await
            {
                self.spawn(&work, number, ShardStep::GivenUp);
            }
            if work.is_idle().await {
                idle.push(work);
            }
        }
        self.keeper.drop_idle(&idle);
    }

    /// Resumes idle shards of this worker, and takes over those of expired owners.
    pub(super) async fn start_owned_shards(&mut self) -> Result<(), WorkerError> {
        let BatchKeeper { records, owner, scope, .. } = self.keeper;
        let runs = match scope {
            KeeperScope::Fleet(_) => records.runs_with_shards().await?,
            KeeperScope::LocalRun(run, _) => vec![run.clone()],
        };
        for run in runs {
            let context = self.run_states.shard_context(&run).await?;
            let Some((context, lane)) =
                context.and_then(|context| Some((Arc::clone(&context), context.batches.clone()?)))
            else {
                continue;
            };
            self.warnings.run_is_open(&run);
            let shards = records.take_over(&run, owner).await?;
            for (number, step) in shards {
                if self.is_working_on(&run, number).await {
                    continue;
                }
                info!(%run, number, ?step, "shard started");
                context.metrics.shard(ShardEvent::TakenUp);
                let work = self.keeper.work_of(&run, &context, &lane);
                let step = match step {
                    // The planned file is on the previous owner's disk.
                    ShardStep::Planned if matches!(scope, KeeperScope::Fleet(_)) => {
                        ShardStep::GivenUp
                    }
                    step => step,
                };
                self.spawn(&work, number, step);
            }
        }
        Ok(())
    }

    async fn is_working_on(&self, run: &RunId, number: u32) -> bool {
        for work in self.keeper.all_works() {
            if work.run == *run && work.is_working_on(number).await {
                return true;
            }
        }
        self.working.contains(&(run.clone(), number))
    }

    /// Handles the end of a shard's work; returns true if its batch continues at the provider.
    pub(super) async fn ended(&mut self, ended: ShardEnded) -> Result<bool, WorkerError> {
        let ShardEnded { work, number, end } = ended;
        self.working.remove(&(work.run.clone(), number));
        match end {
            Ok(is_left) => Ok(is_left),
            Err(error) => self.failed(&work.run, error).await.map(|()| false),
        }
    }

    /// Pauses a run whose batches cannot continue, and returns errors that end the worker.
    async fn failed(&self, run: &RunId, error: WorkerError) -> Result<(), WorkerError> {
        match error {
            WorkerError::Interrupted(Interruption::Paused(reason)) => {
                Ok(pause(self.run_states, self.warnings, run, &reason).await?)
            }
            WorkerError::Interrupted(Interruption::Stopping) => Ok(()),
            error if !self.run_states.holds_jobs() => Err(error),
            WorkerError::Interrupted(Interruption::ClaimLost) => {
                info!(%run, "shard taken over by another worker");
                Ok(())
            }
            WorkerError::Interrupted(broken @ Interruption::Ledger(LedgerError::Broken(_))) => {
                Err(broken.into())
            }
            WorkerError::Interrupted(interruption) => {
                info!(%run, %interruption, "shard interrupted");
                Ok(())
            }
            // The cause of the stop is reported elsewhere.
            WorkerError::Queue(_) if self.shutdown.now.is_cancelled() => Ok(()),
            error => Err(error),
        }
    }
}

/// An interval of at least a millisecond that never catches up.
pub(super) fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
