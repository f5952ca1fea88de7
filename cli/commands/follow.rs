//! Follows a run of the fleet until its report is written, and ends as that says.

use crate::{
    args::GlobalFlags,
    commands::report,
    exit::{Exit, Failure},
    interactive,
    progress::{Doing, Progress, ProgressDisplay, RunTally},
    signals::SignalStream,
    terminal,
};
use juror_aggregator::fleet::RunsLock;
use juror_analysis::format::dollars;
use juror_app::{error::AppError, settings::Settings};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::{
    admission::{Admission as _, Budget, Ledger},
    error::LedgerError,
    redis::{RedisLedger, RunProgress, RunStatus},
};
use juror_types::{event::Events, id::RunId, shutdown::Shutdown};
use std::{path::PathBuf, time::Duration};

const LOOKING: Duration = Duration::from_secs(1);

/// A run that is followed.
pub struct Following<'run> {
    /// The fleet's backend.
    pub backend: &'run RedisLedger,
    /// The run.
    pub run: &'run RunId,
    /// The settings.
    pub settings: &'run Settings,
    /// Files to write at its end, beside its report.
    pub outputs: &'run [PathBuf],
    /// Flags of the output.
    pub global: &'run GlobalFlags,
    /// The flags by which the next command finds the same run.
    pub location_flags: &'run str,
}

/// Refuses what only a run's journal can answer where the aggregator keeps that elsewhere.
pub fn require_journal(settings: &Settings, outputs: &[PathBuf]) -> Result<(), Failure> {
    let run = &settings.run;
    let wanted = !outputs.is_empty() || run.baseline().is_some() || run.gate.is_some();
    let runs_dir = &settings.run.runs_dir;
    if !wanted || RunsLock::is_known(runs_dir) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--output, --gate and --baseline need the run's journal, and no aggregator works in {}: share its runs \
         directory and name that by --runs-dir (start the aggregator first), or leave them out and \
         call `juror report` where the aggregator is",
        runs_dir.display()
    )))
}

impl Following<'_> {
    /// Waits for the run's report, and exits by it. `signals` have heard what came before.
    pub async fn wait(self, signals: SignalStream) -> Result<Exit, Failure> {
        let mut view = View::new(format!("{}{}", self.run, self.location_flags), self.global.quiet);
        let following = async |shutdown: &Shutdown| {
            let reported = shutdown.drain.run_until_cancelled(self.reported(&mut view)).await;
            view.progress.end();
            reported
        };
        let (reported, signals) =
            interactive::until_signal(signals, Events::silent(), following).await;
        match reported {
            Some(status) => {
                let remedy = format!("write it by: juror report {}", self.run);
                signals.exit_on_signal(&remedy, self.conclude(&status?)).await
            }
            None => {
                terminal::print_notice(&format!(
                    "the run goes on without us\n  follow it with: juror enqueue --wait --resume \
                     {0}{1}\n  end it with: juror cancel {0}{1}",
                    self.run, self.location_flags
                ));
                Ok(Exit::Incomplete)
            }
        }
    }

    /// Looks until the run is reported with all the results that it will have.
    async fn reported(&self, view: &mut View) -> Result<RunStatus, Failure> {
        loop {
            match self.look().await {
                Ok(Some((status, ledger))) => {
                    view.show(&status, ledger.as_ref());
                    if status.is_reported() {
                        return Ok(status);
                    }
                }
                Ok(None) => {
                    return Err(Failure::error(format!(
                        "the fleet does not know run {} any more; its journal, if there is one, \
                         is in the aggregator's runs directory",
                        self.run
                    )));
                }
                Err(LedgerError::Unavailable(problem)) => view.is_away(&problem),
                Err(broken) => return Err(AppError::from(broken).into()),
            }
            tokio::time::sleep(LOOKING).await;
        }
    }

    async fn look(&self) -> Result<Option<(RunStatus, Option<Ledger>)>, LedgerError> {
        let Some(status) = self.backend.run_status(self.run).await? else { return Ok(None) };
        Ok(Some((status, self.backend.ledger(self.run).await?)))
    }

    /// As `juror report` would, where the journal can be read; otherwise by the counts.
    async fn conclude(&self, status: &RunStatus) -> Result<Exit, Failure> {
        let exit = match RunFiles::open(&self.settings.run.runs_dir, self.run) {
            Ok(files) => report::report(&files, self.settings, self.outputs, self.global).await?,
            Err(JournalError::Missing { .. })
                if self.outputs.is_empty() && self.settings.run.baseline().is_none() =>
            {
                self.count(status)?
            }
            Err(error) => return Err(Failure::error(error)),
        };
        Ok(if status.cancelled { exit.and(Exit::Incomplete) } else { exit })
    }

    fn count(&self, status: &RunStatus) -> Result<Exit, Failure> {
        let planned = status.record.planned;
        let RunProgress { scored, no_output, unscorable, failed, skipped, cost_usd, .. } =
            status.progress.clone().unwrap_or_default();
        if self.global.json {
            terminal::print_json(&serde_json::json!({
                "run_id": self.run, "planned": planned, "scored": scored,
                "no_output": no_output, "unscorable": unscorable, "failed": failed, "skipped": skipped,
                "cost_usd": cost_usd,
            }))?;
        } else {
            terminal::print(&format!(
                "run {}: {scored} of {planned} scored, {no_output} without output, \
                 {unscorable} unscorable, {failed} failed, {skipped} skipped, {}\nIts report is in the aggregator's runs directory.",
                self.run,
                dollars(cost_usd)
            ))?;
        }
        Ok(if scored >= planned { Exit::Done } else { Exit::Incomplete })
    }
}

/// Display of a run for a person.
struct View {
    /// The run, as the next command finds it.
    run: String,
    progress: Progress,
    paused: bool,
    cancelled: bool,
    away: bool,
}

impl View {
    fn new(run: String, quiet: bool) -> Self {
        let progress = Progress::new(ProgressDisplay::fitting(quiet), Doing::Judging);
        Self { run, progress, paused: false, cancelled: false, away: false }
    }

    fn show(&mut self, status: &RunStatus, ledger: Option<&Ledger>) {
        self.away = false;
        if let Some(tally) = tally(status, ledger) {
            self.progress.stand(tally);
        }
        match (&status.paused, self.paused) {
            (Some(reason), false) => self.progress.say(&format!(
                "paused: {reason}\n  its jobs are kept; once that is mended, resume with: juror \
                 retry {}",
                self.run
            )),
            (None, true) => self.progress.say("the run goes on"),
            _ => {}
        }
        if status.cancelled && !self.cancelled {
            self.progress.say("cancelled: what is not judged yet is skipped");
        }
        (self.paused, self.cancelled) = (status.paused.is_some(), status.cancelled);
    }

    fn is_away(&mut self, problem: &str) {
        if !self.away {
            self.progress.warn(&format!("{problem}; waiting for it"));
        }
        self.away = true;
    }
}

/// Progress of a run; none while it is unknown.
fn tally(status: &RunStatus, ledger: Option<&Ledger>) -> Option<RunTally> {
    let progress = status.progress.as_ref()?;
    let planned = status.expected.unwrap_or(status.record.planned);
    Some(RunTally {
        planned,
        done: progress.results.min(planned),
        troubled: progress.no_output + progress.unscorable + progress.failed + progress.skipped,
        spent: ledger.map_or(progress.cost_usd, |ledger| ledger.committed),
        budget: ledger.and_then(|ledger| match ledger.budget {
            Budget::Cap(cap) => Some(cap),
            Budget::Unlimited => None,
        }),
    })
}
