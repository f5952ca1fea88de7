//! A run of a fleet that is ready to publish its jobs: new, continued, or retried.

use crate::run::run_setup::RunSetup;
use juror_analysis::fold::Rounds;
use juror_types::{id::RunId, run::RunRecord, usage::Money};
use std::sync::Arc;

/// A run that passed every check, whose jobs are to be published.
pub struct RunToPublish {
    /// Setup of the run.
    pub setup: RunSetup,
    /// Record of the run to announce.
    pub record: RunRecord,
    /// State of its jobs: new, or partly published.
    pub opening: Opening,
    /// Messages of changes to a run that is continued or retried.
    pub changes: Vec<String>,
}

/// State of a run's jobs before they are published.
#[derive(Clone)]
pub enum Opening {
    /// A new run.
    New,
    /// A continued run, of which jobs may be published already, all in their first round.
    Continued {
        /// Recorded number of published jobs.
        published_before: u64,
    },
    /// A retried run: jobs that are not scored are published in their next round, and scored ones
    /// that the journal lacks in their old round.
    Retried {
        /// Progress of each job.
        rounds: Arc<Rounds>,
        /// Cost of the results in the run's journal.
        spent: Money,
    },
}

impl RunToPublish {
    /// A new run of a setup, whose files are uploaded to a bucket if one is given.
    pub fn new(setup: RunSetup, run: &RunId, upload: Option<String>) -> Self {
        let fleet = setup.settings.fleet.namespace.clone();
        let record = RunRecord { upload, ..setup.record(run.clone()).for_fleet(fleet) };
        Self { setup, record, opening: Opening::New, changes: Vec::new() }
    }
}
