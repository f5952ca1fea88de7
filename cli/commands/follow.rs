//! Follows a run of the fleet until its report is written, and exits with the report's code.

use crate::{
    commands::report,
    exit::{AppError, Exit},
    interactive,
    location_flags::quoted,
    progress::{Progress, ProgressDisplay, ProgressTask, RunTally},
    signals::SignalStream,
    terminal,
};
use juror_aggregator::aggregator_role::RunsLock;
use juror_analysis::{fold::Spent, format::dollars, run_facts::Coverage};
use juror_app::{reporting::baseline::Baseline, settings::Settings};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::{
    admission::{Admission as _, RunAccount},
    error::LedgerError,
    redis::{RedisLedger, RunProgress, RunStatus},
};
use juror_report::phrasing::coverage_text;
use juror_types::{
    event::Events, id::RunId, outcome::OutcomeCounts, run::RunRecord, shutdown::Shutdown,
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Interval at which the run's status is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A run that is followed.
pub struct Following<'run> {
    pub backend: &'run RedisLedger,
    pub run: &'run RunId,
    pub settings: &'run Settings,
    /// Files to write at its end, in addition to its report.
    pub outputs: &'run [PathBuf],
    /// Calibration that the command's flags name.
    pub calibration: Option<&'run Path>,
}

impl Following<'_> {
    /// Waits for the run's report, and exits with its code. `signals` is open since the command
    /// began.
    pub async fn wait(self, signals: SignalStream) -> Result<Exit, AppError> {
        let mut view = View::new(self.run.clone());
        let following = async |shutdown: &Shutdown| {
            let reported = shutdown.drain.run_until_cancelled(self.reported(&mut view)).await;
            view.progress.end();
            reported
        };
        let (reported, signals) =
            interactive::until_signal(signals, Events::silent(), following).await;
        match reported {
            Some(reported) => {
                let (status, ledger) = reported?;
                let remedy = format!("write it with: juror report {}", self.run);
                let concluded = self.conclude(&status, ledger.as_ref());
                signals.exit_on_signal(&remedy, concluded).await
            }
            None => {
                terminal::print_notice(&format!(
                    "detached; the run continues\n  follow it with: juror enqueue --wait --resume \
                     {0}{1}\n  cancel it with: juror cancel {0}",
                    self.run,
                    self.end_flags()
                ));
                Ok(Exit::Incomplete)
            }
        }
    }

    /// Polls until the run's final report is written.
    async fn reported(&self, view: &mut View) -> Result<(RunStatus, Option<RunAccount>), AppError> {
        loop {
            match self.poll().await {
                Ok(Some((status, ledger))) => {
                    view.show(&status, ledger.as_ref());
                    if status.is_reported() {
                        return Ok((status, ledger));
                    }
                }
                Ok(None) => {
                    return Err(AppError::internal(format!(
                        "run {} is no longer in Redis; its journal, if there is one, is in the \
                         aggregator's runs directory",
                        self.run
                    )));
                }
                Err(LedgerError::Unavailable(problem)) => view.report_outage(&problem),
                Err(broken) => return Err(broken.into()),
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn poll(&self) -> Result<Option<(RunStatus, Option<RunAccount>)>, LedgerError> {
        let Some(status) = self.backend.run_status(self.run).await? else { return Ok(None) };
        Ok(Some((status, self.backend.ledger(self.run).await?)))
    }

    /// Prints the report if the journal can be read, otherwise the run's counts.
    async fn conclude(
        &self,
        status: &RunStatus,
        ledger: Option<&RunAccount>,
    ) -> Result<Exit, AppError> {
        let exit = match RunFiles::open(&self.settings.run.runs_dir, self.run) {
            Ok(files) => report::report(&files, self.settings, self.outputs).await?,
            Err(JournalError::Missing { .. }) if !needs_journal(self.settings, self.outputs) => {
                self.print_counts(status, ledger)?
            }
            Err(error) => return Err(AppError::internal(error)),
        };
        Ok(if status.cancelled { exit.max(Exit::Incomplete) } else { exit })
    }

    /// Flags that the run's end takes.
    fn end_flags(&self) -> String {
        let outputs = self.outputs.iter().map(|path| ("-o", path.as_path()));
        let calibration = self.calibration.map(|path| ("--calibration", path));
        let flag =
            |(flag, path): (&str, &Path)| format!(" {flag} {}", quoted(&path.to_string_lossy()));
        outputs.chain(calibration).map(flag).collect()
    }

    fn print_counts(
        &self,
        status: &RunStatus,
        ledger: Option<&RunAccount>,
    ) -> Result<Exit, AppError> {
        let RunProgress { counts, cost_usd, .. } = status.progress.clone().unwrap_or_default();
        // With what the ledger counts as spent beyond the results, as the report has it.
        let cost_usd = Spent { cost: cost_usd, ..Spent::default() }.booked(ledger);
        let OutcomeCounts { scored, no_output, unscorable, failed, skipped } = counts;
        // Each published job has a result by now.
        let published = status.cancelled.then(|| counts.total());
        let record = RunRecord { published, ..status.record.clone() };
        let coverage = Coverage::of_run(&record, counts);
        if terminal::is_json() {
            terminal::print_json(&serde_json::json!({
                "run_id": self.run, "planned": coverage.planned, "scored": scored,
                "no_output": no_output, "unscorable": unscorable, "failed": failed, "skipped": skipped,
                "cost_usd": cost_usd,
            }))?;
        } else {
            terminal::print(&format!(
                "run {}: {}; {}\nIts report is in the aggregator's runs directory.",
                self.run,
                coverage_text(&coverage),
                dollars(cost_usd)
            ))?;
        }
        Ok(if coverage.is_complete() { Exit::Done } else { Exit::Incomplete })
    }
}

/// Refuses a run whose end cannot be decided or written here: its journal is elsewhere, or its
/// baseline cannot be read.
pub fn require_journal_and_baseline(
    settings: &Settings,
    outputs: &[PathBuf],
) -> Result<(), AppError> {
    let runs_dir = &settings.run.runs_dir;
    if !needs_journal(settings, outputs) || RunsLock::is_known(runs_dir) {
        Baseline::from_settings(settings)?;
        return Ok(());
    }
    Err(AppError::invalid(format!(
        "--output and the run's gate and baseline need its journal, and no aggregator works in {}: set \
         --runs-dir to the aggregator's runs directory (start the aggregator first), or omit --wait \
         and report the run on the aggregator's machine",
        runs_dir.display()
    )))
}

/// Progress display of a followed run.
struct View {
    run: RunId,
    progress: Progress,
    paused: bool,
    cancelled: bool,
    is_unavailable: bool,
}

impl View {
    fn new(run: RunId) -> Self {
        let progress = Progress::new(ProgressDisplay::fitting(), ProgressTask::Judging);
        Self { run, progress, paused: false, cancelled: false, is_unavailable: false }
    }

    fn show(&mut self, status: &RunStatus, ledger: Option<&RunAccount>) {
        self.is_unavailable = false;
        if let Some(tally) = tally(status, ledger) {
            self.progress.set(tally);
        }
        match (&status.paused, self.paused) {
            (Some(reason), false) => self.progress.notice(&format!(
                "paused: {reason}\n  its jobs are kept; fix the cause, then resume with: juror \
                 retry {}",
                self.run
            )),
            (None, true) => self.progress.notice("the run continues"),
            _ => {}
        }
        if status.cancelled && !self.cancelled {
            self.progress.notice("cancelled: jobs that are not judged yet are skipped");
        }
        (self.paused, self.cancelled) = (status.paused.is_some(), status.cancelled);
    }

    fn report_outage(&mut self, problem: &str) {
        if !self.is_unavailable {
            self.progress.warn(&format!("{problem}; retrying"));
        }
        self.is_unavailable = true;
    }
}

/// True if the run's end is decided or written by its journal, and not by counts alone.
fn needs_journal(settings: &Settings, outputs: &[PathBuf]) -> bool {
    !outputs.is_empty() || settings.run.baseline().is_some() || settings.run.gate().is_some()
}

/// Progress of a run; `None` while it is unknown.
fn tally(status: &RunStatus, ledger: Option<&RunAccount>) -> Option<RunTally> {
    let progress = status.progress.as_ref()?;
    let planned = status.expected.unwrap_or(status.record.planned);
    Some(RunTally {
        planned,
        done: progress.results.min(planned),
        unscored: progress.counts.unscored(),
        spent: ledger.map_or(progress.cost_usd, |ledger| ledger.committed),
        budget: ledger.and_then(|ledger| ledger.budget.cap()),
    })
}
