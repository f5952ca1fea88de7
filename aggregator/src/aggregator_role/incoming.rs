//! Incoming results, grouped by run. Pure.

use indexmap::IndexMap;
use juror_queue::{DeadLetter, Delivery};
use juror_types::{
    id::RunId,
    job::Job,
    message_check::{ForeignMessage, check_job, check_result},
    outcome::JobResult,
};

/// A delivery that becomes a line of a journal.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A worker's result.
    Result(Delivery<JobResult>),
    /// A dead-lettered job.
    Dead(Delivery<DeadLetter<Job>>),
}

impl Incoming {
    /// Run of the message.
    pub(super) fn run(&self) -> &RunId {
        match self {
            Self::Result(delivery) => &delivery.message.run_id,
            Self::Dead(delivery) => &delivery.message.message.run_id,
        }
    }

    /// Schema version.
    pub(super) fn schema(&self) -> u32 {
        match self {
            Self::Result(delivery) => delivery.message.schema,
            Self::Dead(delivery) => delivery.message.message.schema,
        }
    }

    /// Checks that a part of Juror published it, for a job of its run.
    pub(super) fn check(&self) -> Result<(), ForeignMessage> {
        match self {
            Self::Result(delivery) => check_result(&delivery.message),
            Self::Dead(delivery) => check_job(&delivery.message.message),
        }
    }
}

/// The batch grouped by run, each in order of arrival.
pub(super) fn by_run(batch: Vec<Incoming>) -> IndexMap<RunId, Vec<Incoming>> {
    let mut runs: IndexMap<RunId, Vec<Incoming>> = IndexMap::new();
    for incoming in batch {
        match runs.get_mut(incoming.run()) {
            Some(known) => known.push(incoming),
            None => {
                runs.insert(incoming.run().clone(), vec![incoming]);
            }
        }
    }
    runs
}
