//! The aggregator's role in a fleet: journals and reports of its runs, metrics and budget alerts.

use super::Fleet;
use crate::{
    budgets::alerts::{AlertWatch, RETRY_PAUSES},
    error::AppError,
    reporting::fleet_reports::FleetReports,
    settings::Settings,
};
use futures_util::future::BoxFuture;
use juror_aggregator::aggregator_role::{
    self, AggregatorOptions, CompletedRun, FleetResources, LockRole, RunsLock,
};
use juror_queue::Queue as _;
use juror_telemetry::Metrics;
use juror_types::{event::Events, shutdown::Shutdown};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval},
};

/// Interval at which a standby tries to acquire the lock.
const LOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which queues and budgets are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of unacknowledged dead letters; there are few.
const DEAD_LETTER_PREFETCH: usize = 16;

/// An aggregator of a fleet, active or standby.
pub struct AggregatorRole<'process> {
    /// Fleet that is served.
    pub fleet: &'process Fleet,
    /// Settings of the process.
    pub settings: &'process Settings,
    /// Writer of its runs' reports.
    pub reports: FleetReports,
    /// True if the fleet's results move to this runs directory.
    pub take_over: bool,
    /// Receiver of warnings.
    pub events: Events,
    /// Receiver of completed runs.
    pub completed: mpsc::Sender<CompletedRun>,
    /// Receiver of its role at the lock.
    pub role: watch::Sender<LockRole>,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
}

impl<'process> AggregatorRole<'process> {
    /// Commits results and reports runs until `shutdown` or a fatal error.
    ///
    /// # Errors
    /// [`AppError::Conflict`] if the fleet's results are stored in another directory.
    pub fn run(self, shutdown: &'process Shutdown) -> BoxFuture<'process, Result<(), AppError>> {
        Box::pin(async move {
            let runs_dir = &self.settings.run.runs_dir;
            let waiting = RunsLock::wait(runs_dir, LOCK_INTERVAL, shutdown, &self.role);
            let Some(lock) = waiting.await? else { return Ok(()) };
            // Before the first delivery: the results may belong to another directory.
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let directory = aggregator_role::identify(&lock, host)?;
            let backend = &self.fleet.backend;
            aggregator_role::claim(backend.as_ref(), &directory, self.take_over).await?;
            self.role.send_replace(LockRole::Active);
            let options = AggregatorOptions::default();
            let queues = &self.fleet.queues;
            let resources = FleetResources {
                lock,
                directory,
                results: queues.results().subscribe(options.prefetch()).await?,
                dead: queues.poison(DEAD_LETTER_PREFETCH).await?,
                jobs: Arc::new(queues.jobs()),
                dead_letters: Arc::new(queues.jobs()),
                held: Arc::new(queues.jobs()),
                backend: backend.clone(),
                events: self.events.clone(),
                completed: self.completed,
                metrics: Arc::clone(&self.metrics),
                reports: Arc::new(self.reports),
                options,
            };
            let Self { fleet, settings, events, metrics, .. } = self;
            tokio::select! {
                ended = aggregator_role::run(resources, shutdown.clone()) => Ok(ended.map(drop)?),
                () = measure(fleet, &metrics), if settings.fleet.listen.is_some() => Ok(()),
                () = alert(fleet, settings, events), if !settings.budget.alerts.is_empty() => {
                    Ok(())
                }
            }
        })
    }
}

/// Sends the alerts of the settings when the fleet's runs, days and months reach them.
async fn alert(fleet: &Fleet, settings: &Settings, events: Events) {
    let (records, alerts) = (fleet.backend.as_ref(), settings.budget.alerts.as_slice());
    let watch = AlertWatch { records, alerts, retry_pauses: &RETRY_PAUSES, events };
    let mut ticks = interval(MEASURE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let checked = async { watch.check(&fleet.backend.announced_runs().await?).await };
        if let Err(error) = checked.await {
            tracing::debug!(%error, "budget alerts were not checked");
        }
    }
}

/// Records the lengths of the queues and the remainders of budgets at an interval.
async fn measure(fleet: &Fleet, metrics: &Metrics) {
    let mut ticks = interval(MEASURE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The readiness conditions report an unavailable server.
        let _ = tokio::join!(fleet.queues.measure(metrics), fleet.backend.measure(metrics));
    }
}
