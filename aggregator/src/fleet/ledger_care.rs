//! Looks after the fleet's ledger: processes that are gone, and a home that was started anew or
//! emptied and has forgotten what journals still tell.

use super::{
    board::{Entries, Entry},
    home::FleetHome,
};
use crate::{
    fold::Fold,
    journal::{JournalError, RunFiles},
};
use juror_common::{
    admission::{AdmissionError, Reconciliation},
    event::{Event, Events},
    id::RunId,
    usage::Money,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// How soon to reconcile again where owners are waited for.
const WAITING: Duration = Duration::from_secs(1);

pub(super) struct LedgerCare {
    pub(super) home: Arc<dyn FleetHome>,
    pub(super) runs_dir: PathBuf,
    pub(super) board: watch::Receiver<Entries>,
    pub(super) events: Events,
    /// How often to sweep.
    pub(super) heartbeat: Duration,
    /// How often to look whether admission pauses.
    pub(super) check: Duration,
    /// Asks to end at once.
    pub(super) stop: CancellationToken,
}

/// Why the ledger could not be looked after this time.
#[derive(Debug, thiserror::Error)]
enum CareError {
    #[error(transparent)]
    Home(#[from] AdmissionError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Reader(#[from] tokio::task::JoinError),
}

/// A pause of admission.
#[derive(Default)]
struct Pause {
    /// What the results of runs cost that nothing came of here.
    read: BTreeMap<RunId, Money>,
}

impl LedgerCare {
    /// Goes on until `ended`.
    pub(super) async fn run(self, ended: CancellationToken) {
        ended.run_until_cancelled(self.look_again_and_again()).await;
    }

    async fn look_again_and_again(&self) {
        let mut swept = None;
        let (mut pause, mut trouble) = (None, None);
        loop {
            if swept.is_none_or(|swept: Instant| swept.elapsed() >= self.heartbeat) {
                swept = Some(Instant::now());
                if let Err(error) = self.home.sweep().await {
                    tracing::debug!(%error, "the ledger was not swept");
                }
            }
            match self.look(&mut pause).await {
                Ok(()) => trouble = None,
                Err(error) => self.tell(&error, &mut trouble).await,
            }
            sleep(if pause.is_some() { WAITING } else { self.check }).await;
        }
    }

    /// What a journal tells must be in the ledger. After a restart, or when the home was emptied, all
    /// runs are told that the home knows or that are not complete, which ends the pause. At other
    /// times each run is told that goes on.
    async fn look(&self, pause: &mut Option<Pause>) -> Result<(), CareError> {
        if !self.home.is_paused().await? {
            *pause = None;
            let costs = self.costs(|_, entry| !entry.settled);
            if !costs.is_empty() {
                self.home.reconcile(&costs.into_iter().collect::<Vec<_>>()).await?;
            }
            return Ok(());
        }
        if pause.is_none() {
            self.say(
                "Redis was started anew or emptied: calls pause until the ledger is reconciled",
            )
            .await;
        }
        let read = &mut pause.get_or_insert_default().read;
        let announced = self.home.announced().await?;
        self.read_others(&announced, read).await?;
        let mut costs = read.clone();
        // A complete run that the home does not know goes on by `juror retry`, which tells it.
        costs.extend(self.costs(|run, entry| {
            let complete = entry.progress.as_ref().is_some_and(|told| told.reported_at.is_some());
            !complete || announced.contains(run)
        }));
        match self.home.reconcile(&costs.into_iter().collect::<Vec<_>>()).await? {
            Reconciliation::Waiting { owners } => {
                tracing::info!(owners = owners.len(), "waiting for owners to say what they hold");
            }
            Reconciliation::Done { presumed } => {
                *pause = None;
                self.say(&format!(
                    "the ledger is reconciled, and calls go on; {presumed} that were under way are presumed spent"
                ))
                .await;
            }
        }
        Ok(())
    }

    /// What results cost of these runs on the board.
    fn costs(&self, which: impl Fn(&RunId, &Entry) -> bool) -> BTreeMap<RunId, Money> {
        let entries = self.board.borrow();
        let chosen = entries.iter().filter(|(run, entry)| which(run, entry));
        let costs = chosen
            .filter_map(|(run, entry)| Some((run.clone(), entry.progress.as_ref()?.cost_usd)));
        costs.filter(|(_, cost)| *cost > Money::ZERO).collect()
    }

    /// Reads the journals of known runs that nothing came of since this aggregator works.
    async fn read_others(
        &self,
        announced: &[RunId],
        read: &mut BTreeMap<RunId, Money>,
    ) -> Result<(), CareError> {
        for run in announced {
            let on_board =
                |entries: &Entries| entries.get(run).is_some_and(|entry| entry.progress.is_some());
            if read.contains_key(run) || on_board(&self.board.borrow()) {
                continue;
            }
            let (runs_dir, of_run, stop) = (self.runs_dir.clone(), run.clone(), self.stop.clone());
            let reading = spawn_blocking(move || cost_of(&runs_dir, &of_run, &stop));
            let cost = match reading.await? {
                // It must not hold up the calls of all other runs.
                Err(error) if error.is_damage() => {
                    self.say(&format!("the ledger of run {run} stays as Redis has it: {error}"))
                        .await;
                    Money::ZERO
                }
                cost => cost?,
            };
            read.insert(run.clone(), cost);
        }
        Ok(())
    }

    /// Says what is wrong, once.
    async fn tell(&self, error: &CareError, told: &mut Option<String>) {
        let problem = error.to_string();
        // That the home is away, the survey says.
        let is_away = matches!(error, CareError::Home(AdmissionError::Unavailable(_)));
        if !is_away && told.as_ref() != Some(&problem) {
            self.say(&format!("the ledger cannot be looked after: {problem}")).await;
            *told = Some(problem);
        }
    }

    async fn say(&self, what: &str) {
        self.events.emit(Event::Warning(what.to_owned())).await;
    }
}

/// What the results in a run's journal cost; nothing where there is none of the fleet's.
fn cost_of(runs_dir: &Path, run: &RunId, stop: &CancellationToken) -> Result<Money, JournalError> {
    let files = match RunFiles::open(runs_dir, run) {
        Ok(files) if files.record().fleet.is_some() => files.until(stop.clone()),
        Ok(_) | Err(JournalError::Missing { .. }) => return Ok(Money::ZERO),
        Err(error) => return Err(error),
    };
    Ok(Fold::of_journal(&files)?.spent().cost)
}
