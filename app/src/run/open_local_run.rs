//! Opening a run on this machine: its directory, its journal and its ledger.

use super::{
    judging_session::{JudgingSession, RunStart},
    run_setup::RunSetup,
};
use crate::{
    error::AppError,
    judge,
    local_ledger::local_error,
    reused_run_name::{LedgerPlace, refuse_reused_name},
};
use juror_aggregator::run_journal::RunJournal;
use juror_files::kept_inputs::KeptInputs;
use juror_journal::journal::JournalWriter;
use juror_ledger::{
    admission::Admission,
    budgets::{self, ZoneChange},
    sqlite::SqliteLedger,
};
use juror_types::{
    id::{OwnerId, RunId},
    run::RunRecord,
    usage::Money,
};
use juror_worker::{evidence_resources::EvidenceResources, run_context::JudgeSetup};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A run that is open.
pub struct OpenedRun {
    /// Locked journal.
    pub journal: RunJournal,
    /// The judging session, as recorded.
    pub judging_session: JudgingSession,
    /// Parts that every round shares.
    pub resources: RoundResources,
    /// A change of the time zone of budgets that opening it made.
    pub zone_change: Option<ZoneChange>,
    /// A warning of a ledger that the run did not begin with.
    pub other_ledger: Option<String>,
    /// Highest possible cost of calls that were in flight when an earlier process died: their bill is
    /// unknown.
    pub presumed: Money,
}

/// Parts of a run that every round of it shares.
pub struct RoundResources {
    /// Owner of its leases.
    pub owner: OwnerId,
    /// Setup of the judge; `None` with the judge off.
    pub judge: Option<Arc<JudgeSetup>>,
    /// Folder of kept inputs; `None` if they are not kept.
    pub kept_inputs: Option<KeptInputs>,
    /// Resources of measuring.
    pub evidence: Arc<EvidenceResources>,
}

/// Opens a run with this record, which is to be written. The judge is none if it is off. Runs that
/// this process judges at the same time share the rendering resources `evidence`.
pub async fn open_local_run(
    setup: &RunSetup,
    record: &RunRecord,
    start: RunStart,
    judge: Option<Arc<JudgeSetup>>,
    evidence: Arc<EvidenceResources>,
    backend: &SqliteLedger,
) -> Result<OpenedRun, AppError> {
    let (run, runs_dir) = (&record.run_id, &setup.settings.run.runs_dir);
    if start == RunStart::New && !runs_dir.join(run.as_str()).join("run.json").exists() {
        refuse_reused_name(backend, run, LedgerPlace::Machine(&setup.settings)).await?;
    }
    let (record, mut judging_session) = JudgingSession::begin(record, runs_dir, start);
    let writer = match start {
        RunStart::New => JournalWriter::create(runs_dir, &record),
        RunStart::Continued => JournalWriter::reopen(runs_dir, &record),
    }?;
    judging_session.starts_at(&writer);
    let kept_inputs = record.keep_inputs.then(|| KeptInputs::create(writer.files().directory()));
    let kept_inputs = kept_inputs.transpose().map_err(AppError::internal)?;
    let owner = OwnerId::random();
    backend.adopt(run, &owner).await.map_err(local_error)?;
    let mut journal = RunJournal::read(writer, &CancellationToken::new())?;
    append_stored_results(&mut journal, backend, run).await?;
    let spent = journal.fold().spent().cost;
    let known = backend.ledger(run).await.map_err(local_error)?;
    let other_ledger = (known.is_none() && spent > Money::ZERO).then(|| {
        format!(
            "the ledger in {} has no account of run {run}: the costs in its journal count, but what \
             calls without a reply may have cost is only in the ledger that it began with (--state)",
            setup.settings.run.state_dir().display()
        )
    });
    let opened = budgets::open_run(backend, &record, &setup.settings.budget, spent).await;
    let zone_change = opened.map_err(local_error)?;
    let ledger = backend.ledger(run).await.map_err(local_error)?;
    let presumed = ledger.map(|ledger| ledger.presumed).unwrap_or_default();
    if let Some(judge) = &judge {
        let limits = judge::limits(&setup.settings, Some(&judge.terms.facts));
        backend.set_limits(&judge.endpoint, limits).await.map_err(local_error)?;
    }
    let resources = RoundResources { owner, judge, kept_inputs, evidence };
    Ok(OpenedRun { journal, judging_session, resources, zone_change, other_ledger, presumed })
}

/// Appends every stored result that the journal lacks: a result is stored before it is published,
/// so a crash can keep it from the journal. This precedes the planning of jobs, so that unscored
/// jobs are judged in their next round after any crash.
async fn append_stored_results(
    journal: &mut RunJournal,
    backend: &SqliteLedger,
    run: &RunId,
) -> Result<(), AppError> {
    let mut last = None;
    loop {
        let page = backend.stored_rounds(run, last.as_ref()).await.map_err(local_error)?;
        let mut missing = Vec::new();
        for (job, round) in &page {
            if journal.fold().latest(job).is_none_or(|latest| latest.round < *round) {
                missing.extend(backend.stored_result(run, job).await.map_err(local_error)?);
            }
        }
        journal.commit(&missing)?;
        match page.into_iter().next_back() {
            Some((job, _)) => last = Some(job),
            None => return Ok(()),
        }
    }
}
