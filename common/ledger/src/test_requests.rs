//! Requests, claims and figures of the tests of both backends and of the conformance suites.

use crate::{
    admission::{AdmissionRequest, Settlement},
    job_store::{Claim, ClaimKey, JobStore},
};
use juror_types::{
    id::{JobId, LeaseId, OwnerId, RunId},
    usage::{Money, Usage},
};

pub(crate) fn run() -> RunId {
    RunId::new("nightly")
}

pub(crate) fn request(lease: &str, owner: &str, worst: i64) -> AdmissionRequest {
    AdmissionRequest {
        lease: LeaseId::new(lease),
        owner: OwnerId::new(owner),
        run: run(),
        endpoint: "judge".to_owned(),
        input_tokens: 10,
        max_output_tokens: 10,
        worst_cost: Money::from_pico(worst),
    }
}

pub(crate) fn bill(lease: &str, cost: i64, claim: &ClaimKey) -> Settlement {
    Settlement {
        lease: LeaseId::new(lease),
        cost: Money::from_pico(cost),
        usage: Usage::default(),
        metered: true,
        finished: None,
        claim: claim.clone(),
    }
}

pub(crate) async fn claim(backend: &impl JobStore, job: &str) -> ClaimKey {
    let key = ClaimKey { run: run(), job: JobId::new(job), round: 0, fence: 0 };
    let granted = backend.claim(&key, &OwnerId::new("here")).await.unwrap();
    let Claim::Granted { fence, .. } = granted else { panic!("not finished yet") };
    ClaimKey { fence, ..key }
}

/// Committed, presumed, carried and outstanding.
pub(crate) async fn figures(backend: &impl crate::admission::Admission) -> [i64; 4] {
    let ledger = backend.ledger(&run()).await.unwrap().unwrap();
    [ledger.committed, ledger.presumed, ledger.unattributed_cost, ledger.outstanding]
        .map(Money::pico)
}
