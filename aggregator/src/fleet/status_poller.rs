//! Asks the fleet's backend what is known of runs, and notes there how far they have come.

use crate::fleet::{backend::FleetBackend, run_registry::Entries};
use juror_ledger::{
    error::LedgerError,
    redis::{RunProgress, RunStatus},
};
use juror_types::{
    event::{Event, Events},
    id::RunId,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Answer to a question for a run's status.
#[derive(Debug)]
pub(super) enum StatusAnswer {
    /// This.
    Known(Box<RunStatus>),
    /// No record: it was never announced, or is forgotten.
    Unknown,
    /// The fleet's backend cannot be asked now.
    Away,
}

/// Intervals of the questions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intervals {
    /// For runs of which something is to be expected.
    pub(super) expected: Duration,
    /// For all runs, since any may be announced again.
    pub(super) announced: Duration,
}

pub(super) struct StatusSurvey {
    pub(super) backend: Arc<dyn FleetBackend>,
    pub(super) intervals: Intervals,
    pub(super) board: watch::Receiver<Entries>,
    pub(super) answers: mpsc::Sender<(RunId, StatusAnswer)>,
    pub(super) events: Events,
    /// Progress of each run that was noted last.
    pub(super) noted: BTreeMap<RunId, RunProgress>,
    pub(super) is_away: bool,
}

impl StatusSurvey {
    /// Asks and notes until `ended`, then notes what is left, unless it is stopped.
    pub(super) async fn run(mut self, ended: CancellationToken, stop: CancellationToken) {
        ended.run_until_cancelled(self.ask_again_and_again()).await;
        stop.run_until_cancelled(self.note_the_rest()).await;
    }

    async fn ask_again_and_again(&mut self) {
        let mut tick = interval(self.intervals.expected);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked_all = None;
        let mut asked = BTreeSet::new();
        loop {
            tokio::select! {
                biased;
                _ = tick.tick() => {
                    let all = asked_all.is_none_or(|asked: Instant| {
                        asked.elapsed() >= self.intervals.announced
                    });
                    if all {
                        asked_all = Some(Instant::now());
                    }
                    asked.clear();
                    self.ask_for_all(all).await;
                }
                changed = self.board.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let waited_for = self.runs(|entry| entry.asked);
                    // Once between two ticks, so that nobody who is away is asked all the time.
                    for run in waited_for.into_iter().filter(|run| asked.insert(run.clone())) {
                        self.ask(run).await;
                    }
                }
            }
        }
    }

    async fn ask_for_all(&mut self, announced_too: bool) {
        let mut runs = self.runs(|entry| !entry.settled);
        if announced_too {
            match self.backend.announced().await {
                Ok(announced) => {
                    self.is_back().await;
                    runs.extend(announced);
                }
                Err(error) => self.is_away(&error).await,
            }
        }
        for run in runs {
            self.ask(run).await;
        }
    }

    fn runs(
        &mut self,
        which: impl Fn(&crate::fleet::run_registry::RegistryEntry) -> bool,
    ) -> BTreeSet<RunId> {
        let entries = self.board.borrow_and_update();
        entries.iter().filter(|(_, entry)| which(entry)).map(|(run, _)| run.clone()).collect()
    }

    async fn ask(&mut self, run: RunId) {
        let answer = match self.backend.status(&run).await {
            Ok(status) => {
                self.is_back().await;
                match status {
                    Some(status) => {
                        self.note(&run, status.progress.as_ref()).await;
                        StatusAnswer::Known(Box::new(status))
                    }
                    None => StatusAnswer::Unknown,
                }
            }
            Err(error) => {
                self.is_away(&error).await;
                StatusAnswer::Away
            }
        };
        // The committer that wants no answer has ended, and so shall we.
        let _ = self.answers.send((run, answer)).await;
    }

    /// Notes a run's progress unless it is what the backend says.
    async fn note(&mut self, run: &RunId, told: Option<&RunProgress>) {
        let progress = self.board.borrow().get(run).and_then(|entry| entry.progress.clone());
        let Some(progress) = progress else { return };
        if told != Some(&progress)
            && let Err(error) = self.backend.note_progress(run, &progress).await
        {
            return self.is_away(&error).await;
        }
        self.noted.insert(run.clone(), progress);
    }

    async fn note_the_rest(&mut self) {
        let entries: Vec<_> = self.board.borrow().clone().into_iter().collect();
        for (run, entry) in entries {
            let Some(progress) = entry.progress else { continue };
            if self.noted.get(&run) == Some(&progress) {
                continue;
            }
            if let Err(error) = self.backend.note_progress(&run, &progress).await {
                // It is asked for again when the next aggregator begins.
                return self.is_away(&error).await;
            }
        }
    }

    async fn is_away(&mut self, error: &LedgerError) {
        if !std::mem::replace(&mut self.is_away, true) {
            let warning = format!(
                "{error}; results are committed meanwhile, but new runs and last reports wait"
            );
            self.events.emit(Event::Warning(warning)).await;
        }
    }

    async fn is_back(&mut self) {
        if std::mem::take(&mut self.is_away) {
            let warning = "the fleet's backend answers again".to_owned();
            self.events.emit(Event::Warning(warning)).await;
        }
    }
}
