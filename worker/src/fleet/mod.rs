//! Jobs of many runs: the seam by which a worker learns what the run of a job is, and what becomes
//! of jobs that cannot be judged now.

mod cancelled;
mod delivery;
mod in_hand;
mod told;

pub(crate) use delivery::work;

use crate::context::Context;
use async_trait::async_trait;
use in_hand::InHand;
use juror_common::{
    admission::AdmissionError,
    id::{OwnerId, RunId},
    job::Job,
    store::Store,
};
use std::sync::Arc;
use told::Told;

/// How runs stand, as far as this worker must know.
#[async_trait]
pub trait Standings: Send + Sync {
    /// How the job's run stands now, or stood a moment ago.
    async fn standing(&self, job: &Job) -> Result<Standing, AdmissionError>;

    /// Notes for all workers that no call of this run can succeed until a person does something.
    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), AdmissionError>;
}

/// How a run stands.
#[derive(Clone)]
pub enum Standing {
    /// Its jobs are judged, with this context. Its `shutdown.drain` is given as soon as the run
    /// stands otherwise.
    Open(Arc<Context>),
    /// Its jobs are kept, and nobody is called for them, for this reason.
    Paused(String),
    /// Its jobs end untried.
    Cancelled,
    /// Nobody knows it, or not as its job does, for this reason. Its jobs are kept: what knew it
    /// may come back.
    Unknown(String),
}

/// What a worker that takes jobs of any run needs beside their contexts.
pub struct Fleet {
    standings: Arc<dyn Standings>,
    store: Arc<dyn Store>,
    owner: OwnerId,
    in_hand: InHand,
    told: Told,
}

impl Fleet {
    /// Runs stand as `standings` says; jobs of cancelled runs are ended in `store`, claimed by
    /// `owner`.
    pub fn new(standings: Arc<dyn Standings>, store: Arc<dyn Store>, owner: OwnerId) -> Self {
        Self { standings, store, owner, in_hand: InHand::default(), told: Told::default() }
    }
}

#[cfg(test)]
pub(crate) mod tests;
