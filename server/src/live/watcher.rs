//! Watcher of a run's journal, while it has followers.

use super::{LiveProgress, LiveState};
use juror_analysis::fold::Fold;
use juror_app::{item_source::ItemSource, run_catalog::RunCatalog};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::RunAccount;
use juror_types::usage::Money;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval},
};

/// Interval of reading the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Number of polls per reading of the ledger, which is opened each time.
const POLLS_PER_LEDGER: u64 = 4;

/// Number of polls over which the rate is measured: half a minute.
const RATE_WINDOW: usize = 60;

/// Sends each new state of a run, until no process works on it or it has no followers.
pub async fn watch_run(
    files: RunFiles,
    catalog: Arc<RunCatalog>,
    item_source: &dyn ItemSource,
    sender: watch::Sender<Arc<LiveState>>,
    is_unfollowed: impl Fn(&watch::Sender<Arc<LiveState>>) -> bool,
) {
    let mut reader = JournalReader {
        files,
        offset: 0,
        fold: Fold::default(),
        state: LiveState::default(),
        polls: VecDeque::new(),
    };
    let mut ledger = None;
    let mut number: u64 = 0;
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !is_unfollowed(&sender) {
        ticks.tick().await;
        let catalog = Arc::clone(&catalog);
        let polling = spawn_blocking(move || {
            let polled = reader.poll(&catalog);
            (reader, polled)
        });
        let Ok((read, polled)) = polling.await else { return };
        reader = read;
        if let Err(error) = polled {
            tracing::warn!("a run cannot be followed: {error}");
            return;
        }
        // The state is sent at the end too, so that the last one is exact.
        if number.is_multiple_of(POLLS_PER_LEDGER) || !reader.state.progress.is_running {
            ledger = item_source.ledger(reader.files.record()).await;
        }
        number += 1;
        reader.update_costs(ledger.as_ref());
        let (state, now) = (&reader.state, Instant::now());
        sender.send_if_modified(|sent| {
            let is_new = !sent.is_read
                || sent.results != state.results
                || without_rate(&sent.progress) != without_rate(&state.progress);
            if is_new {
                *sent = Arc::new(state.clone());
            }
            is_new
        });
        if !reader.state.progress.is_running {
            return;
        }
        reader.record_poll(now);
    }
}

/// Incremental reader of a journal.
struct JournalReader {
    files: RunFiles,
    offset: u64,
    fold: Fold,
    state: LiveState,
    polls: VecDeque<(Instant, u64)>,
}

impl JournalReader {
    /// Reads new results.
    fn poll(&mut self, catalog: &RunCatalog) -> Result<(), JournalError> {
        // Before reading, so that an ended run is seen with its last result.
        let is_running = self.files.is_held();
        self.files = catalog.files(&self.files.record().run_id)?;
        let mut results = self.files.results_from(self.offset)?;
        for read in &mut results {
            let (offset, result) = read?;
            self.fold.apply(&result, offset);
            self.state.add(result);
        }
        self.offset = results.end();
        let record = self.files.record();
        let mut progress = LiveProgress {
            planned: record.jobs(),
            counts: self.fold.counts(),
            budget_usd: record.budget_usd,
            rate: self.rate(),
            is_running,
            ..LiveProgress::default()
        };
        let left = progress.planned.saturating_sub(progress.done());
        progress.seconds_left = progress.rate.map(|rate| left as f64 / rate);
        self.state.progress = progress;
        self.state.is_read = true;
        Ok(())
    }

    /// Updates the costs from results and ledger. Money held by calls is in flight while a process
    /// works on the run; afterwards it will not be settled and counts as spent.
    fn update_costs(&mut self, ledger: Option<&RunAccount>) {
        let spent = self.fold.spent();
        let progress = &mut self.state.progress;
        (progress.spent_usd, progress.in_flight_usd) = match ledger {
            Some(ledger) if progress.is_running => (spent.booked(Some(ledger)), ledger.outstanding),
            ledger => (spent.total(ledger), Money::ZERO),
        };
    }

    fn record_poll(&mut self, now: Instant) {
        self.polls.push_back((now, self.state.results));
        if self.polls.len() > RATE_WINDOW {
            self.polls.pop_front();
        }
    }

    /// Results per second in the window.
    fn rate(&self) -> Option<f64> {
        let (since, before) = self.polls.front()?;
        let seconds = since.elapsed().as_secs_f64();
        let results = self.state.results.saturating_sub(*before);
        (results > 0 && seconds > 0.0).then(|| results as f64 / seconds)
    }
}

/// The progress without rate and remaining time, which alone make no new state.
fn without_rate(progress: &LiveProgress) -> LiveProgress {
    LiveProgress { rate: None, seconds_left: None, ..*progress }
}
