//! Reads on in a run's journal as long as somebody listens.

use super::{LiveProgress, LiveState};
use juror_analysis::fold::Fold;
use juror_app::{catalog::Catalog, items::ItemSource};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::Ledger;
use juror_types::usage::Money;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval},
};

/// Interval at which the journal is looked at.
const LOOKING: Duration = Duration::from_millis(500);

/// The ledger is opened anew each time, so it is looked at every other second.
const LOOKS_PER_LEDGER: u64 = 4;

/// The rate is that of so many looks: half a minute.
const LOOKS_OF_A_RATE: usize = 60;

/// One run's.
pub struct Watcher {
    catalog: Arc<Catalog>,
    item_source: Arc<dyn ItemSource>,
    sender: watch::Sender<Arc<LiveState>>,
    reading: Reading,
}

/// Position up to which the journal is read.
struct Reading {
    files: RunFiles,
    offset: u64,
    fold: Fold,
    state: LiveState,
    looks: VecDeque<(Instant, u64)>,
}

impl Watcher {
    /// A watcher that has read nothing yet.
    pub fn new(
        files: RunFiles,
        catalog: Arc<Catalog>,
        item_source: Arc<dyn ItemSource>,
        sender: watch::Sender<Arc<LiveState>>,
    ) -> Self {
        let reading = Reading {
            files,
            offset: 0,
            fold: Fold::default(),
            state: LiveState::default(),
            looks: VecDeque::new(),
        };
        Self { catalog, item_source, sender, reading }
    }

    /// Sends each new state, until no process works on the run or nobody listens.
    pub async fn watch(self, is_unheard: impl Fn(&watch::Sender<Arc<LiveState>>) -> bool) {
        let Self { catalog, item_source, sender, mut reading } = self;
        let mut ledger = None;
        let mut number: u64 = 0;
        let mut looks = interval(LOOKING);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !is_unheard(&sender) {
            looks.tick().await;
            let catalog = Arc::clone(&catalog);
            let looking = spawn_blocking(move || {
                let looked = reading.look(&catalog);
                (reading, looked)
            });
            let Ok((read, looked)) = looking.await else { return };
            reading = read;
            if let Err(error) = looked {
                tracing::warn!("a run cannot be followed: {error}");
                return;
            }
            // At its end, so that the last word is right.
            if number.is_multiple_of(LOOKS_PER_LEDGER) || !reading.state.progress.is_running {
                ledger = item_source.ledger(reading.files.record()).await;
            }
            number += 1;
            reading.book(ledger.as_ref());
            let (state, now) = (&reading.state, Instant::now());
            sender.send_if_modified(|sent| {
                let is_new = !sent.is_read
                    || sent.results != state.results
                    || !same(&sent.progress, &state.progress);
                if is_new {
                    *sent = Arc::new(state.clone());
                }
                is_new
            });
            if !reading.state.progress.is_running {
                return;
            }
            reading.note(now);
        }
    }
}

/// True if nothing but the clock went on.
fn same(one: &LiveProgress, other: &LiveProgress) -> bool {
    one.is_running == other.is_running
        && one.planned == other.planned
        && one.budget_usd == other.budget_usd
        && one.spent_usd == other.spent_usd
        && one.in_flight_usd == other.in_flight_usd
}

impl Reading {
    /// Reads what is new.
    fn look(&mut self, catalog: &Catalog) -> Result<(), JournalError> {
        // First, so that a run that has ended is seen with its last result.
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
            spent_usd: Money::ZERO,
            in_flight_usd: Money::ZERO,
            budget_usd: record.budget_usd,
            rate: self.rate(),
            seconds_left: None,
            is_running,
        };
        let left = progress.planned.saturating_sub(progress.done());
        progress.seconds_left = progress.rate.map(|rate| left as f64 / rate);
        self.state.progress = progress;
        self.state.is_read = true;
        Ok(())
    }

    /// Tells what is spent by the results so far and the ledger. What calls hold is in flight as
    /// long as some process works on the run; afterwards nobody will settle it.
    fn book(&mut self, ledger: Option<&Ledger>) {
        let spent = self.fold.spent();
        let progress = &mut self.state.progress;
        (progress.spent_usd, progress.in_flight_usd) = match ledger {
            Some(ledger) if progress.is_running => (spent.booked(Some(ledger)), ledger.outstanding),
            ledger => (spent.total(ledger), Money::ZERO),
        };
    }

    fn note(&mut self, now: Instant) {
        self.looks.push_back((now, self.state.results));
        if self.looks.len() > LOOKS_OF_A_RATE {
            self.looks.pop_front();
        }
    }

    /// Results per second since the oldest look that is remembered.
    fn rate(&self) -> Option<f64> {
        let (since, before) = self.looks.front()?;
        let seconds = since.elapsed().as_secs_f64();
        let results = self.state.results.saturating_sub(*before);
        (results > 0 && seconds > 0.0).then(|| results as f64 / seconds)
    }
}
