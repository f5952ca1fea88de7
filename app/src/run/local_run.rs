//! Lifecycle of a run of this machine: it is prepared, begun, run to its end, and reported.

use super::{
    execute_local_run::execute_local_run,
    judging_session::RunStart,
    local_worker::PauseReason,
    open_local_run::{OpenedRun, open_local_run},
    preflight::{RunDependencies, dependencies, record, refuse_blessed_name},
    resume_input_changes::refuse_changed_inputs,
    run_setup::RunSetup,
};
use crate::{
    error::AppError,
    local_ledger::open_ledger_of,
    reporting::{Reporting, write_report},
};
use futures_util::future::BoxFuture;
use juror_aggregator::run_journal::RunJournal;
use juror_analysis::run_report::Report;
use juror_journal::journal::RunFiles;
use juror_ledger::{admission::RunAccount, sqlite::SqliteLedger};
use juror_types::{event::Events, id::RunId, run::RunRecord, shutdown::Shutdown, usage::Money};
use juror_worker::evidence_resources::EvidenceResources;
use std::sync::Arc;

/// A run that passed every check. Nothing is written or spent yet.
pub struct LocalRun {
    setup: RunSetup,
    dependencies: RunDependencies,
    record: RunRecord,
    start: RunStart,
}

/// Run with a locked directory and an open ledger, before any cost.
pub struct BegunRun {
    setup: RunSetup,
    dependencies: RunDependencies,
    backend: Arc<SqliteLedger>,
    opened: OpenedRun,
}

/// A run that was judged to its end, or until it was stopped or paused.
pub struct EndedRun {
    setup: RunSetup,
    dependencies: RunDependencies,
    /// Journal, still locked.
    pub journal: RunJournal,
    /// Ledger; `None` with the judge off.
    pub ledger: Option<RunAccount>,
    /// True if a stop was requested.
    pub stopped: bool,
    /// Reason of its pause, if it is paused.
    pub paused: PauseReason,
}

impl LocalRun {
    /// Checks a setup: its gate, baseline and calibration, and the judge's key; of a new run also
    /// its name, and of a continued run, whose record is `known`, the inputs of scored items.
    pub fn prepare(
        setup: RunSetup,
        run: &RunId,
        known: Option<&RunRecord>,
    ) -> Result<Self, AppError> {
        if known.is_none() {
            refuse_blessed_name(&setup.settings.run.runs_dir, run)?;
        }
        let dependencies = dependencies(&setup, run, known)?;
        if known.is_some() {
            let files = RunFiles::open(&setup.settings.run.runs_dir, run)?;
            refuse_changed_inputs(&files, &setup)?;
        }
        let record = record(&setup, run, known);
        let start = if known.is_some() { RunStart::Continued } else { RunStart::New };
        Ok(Self { setup, dependencies, record, start })
    }

    /// The same run, judged by the built-in simulator.
    pub fn simulated(mut self) -> Self {
        self.record.simulated = true;
        self
    }

    /// The setup of the run.
    pub fn setup(&self) -> &RunSetup {
        &self.setup
    }

    /// Opens the run's ledger and its directory. Runs that this process judges at the same time share
    /// the rendering resources `evidence`.
    ///
    /// # Errors
    /// [`AppError::RunInUse`] while another process judges it.
    pub fn begin(
        self,
        evidence: Arc<EvidenceResources>,
    ) -> BoxFuture<'static, Result<BegunRun, AppError>> {
        Box::pin(async move {
            let Self { setup, dependencies, record, start } = self;
            // First, since a run that cannot be paid for should leave no directory behind.
            let backend = Arc::new(open_ledger_of(&record, &setup.settings)?);
            let judge = dependencies.judge.clone();
            let opened = open_local_run(&setup, &record, start, judge, evidence, &backend).await;
            match opened {
                Ok(opened) => Ok(BegunRun { setup, dependencies, backend, opened }),
                Err(failure) => {
                    backend.close().await;
                    Err(failure)
                }
            }
        })
    }
}

impl BegunRun {
    /// Cost so far, including earlier rounds and presumed spending.
    pub fn spent(&self) -> Money {
        self.opened.journal.fold().spent().cost + self.presumed()
    }

    /// Highest possible cost of calls that were in flight when an earlier process died: their bill is
    /// unknown.
    pub fn presumed(&self) -> Money {
        self.opened.presumed
    }

    /// Cap of the run's cost; none is unlimited.
    pub fn budget(&self) -> Option<Money> {
        self.opened.journal.record().budget_usd
    }

    /// Runs producer, workers and aggregator until every job has its outcome, or until `shutdown`
    /// is given.
    pub fn run(
        self,
        events: Events,
        shutdown: &Shutdown,
    ) -> BoxFuture<'_, Result<EndedRun, AppError>> {
        Box::pin(async move {
            let Self { setup, dependencies, backend, opened } = self;
            let executed = execute_local_run(opened, &setup, &backend, events, shutdown).await;
            backend.close().await;
            let (journal, ledger, paused) = executed?;
            let stopped = shutdown.drain.is_cancelled();
            Ok(EndedRun { setup, dependencies, journal, ledger, stopped, paused })
        })
    }
}

impl EndedRun {
    /// Inputs of its report.
    pub fn reporting(&self) -> Reporting<'_> {
        self.dependencies.reporting(&self.setup)
    }

    /// Computes its report and writes `report.json`.
    pub fn report(&self) -> Result<Report, AppError> {
        let counted = self.journal.fold().counted();
        write_report(self.journal.files(), Some(&counted), self.ledger, &self.reporting())
    }
}
