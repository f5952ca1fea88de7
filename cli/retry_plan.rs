//! Another round of a fleet's run, about to be published: which of its jobs are sent again, and what
//! they may cost.

use crate::{
    budget_cap::Cap, commands::run::run_files, exit::Failure, finish::journal_failure,
    fleet::backend_failure, publish::Opening, run_request::RunInvocation, session::Session,
};
use juror_analysis::fold::{Fold, Rounds};
use juror_app::settings::Settings;
use juror_ledger::redis::RedisLedger;
use juror_types::{id::RunId, run::RunRecord, usage::Money};
use std::sync::Arc;

/// What is to be published again, and how.
pub struct AnotherRound {
    /// What the run is about.
    pub session: Session,
    /// The run, as it is to be known.
    pub record: RunRecord,
    /// How far each of its jobs has come.
    pub rounds: Arc<Rounds>,
    /// What it may cost.
    pub cap: Cap,
    /// What the results in its journal cost.
    spent: Money,
}

/// How it is known which results the journal has.
#[derive(Clone, Copy)]
enum Written {
    /// It is here.
    InJournal,
    /// It is elsewhere, and has so many scored jobs, as the aggregator told last. It is not known
    /// which, so if more are stored, all of them are sent for.
    Told { scored: u64 },
}

impl AnotherRound {
    /// Takes the record of the run's directory, if there is one, unless Redis has one. `asked` says
    /// what the run may cost from now on, if that changes.
    pub async fn of(
        backend: &RedisLedger,
        asked: &RunInvocation<'_>,
        run: &RunId,
        here: Option<RunRecord>,
    ) -> Result<Self, Failure> {
        let status = backend.run_status(run).await.map_err(backend_failure)?;
        let told = status.as_ref().and_then(|status| status.progress.as_ref());
        let written = match here {
            Some(_) => Written::InJournal,
            None => Written::Told { scored: told.map_or(0, |told| told.scored) },
        };
        let Some(known) = status.map(|status| status.record).or(here) else {
            let settings = asked.settings()?;
            return Err(Failure::usage(format!(
                "there is no run {run} in {}, and the fleet {} knows none either",
                settings.run.runs_dir.display(),
                settings.fleet.namespace
            )));
        };
        let mut session = asked.session(run, Some(&known))?;
        let cap = Cap::of(backend, run, asked.flags.budget_usd, known.budget_usd).await?;
        session.settings.budget.run_usd = cap.now;
        let (rounds, spent) = rounds(backend, &session.settings, run, written).await?;
        // What a cancellation left out is published now.
        let RunRecord { deadline, lane, .. } = session.record(run.clone());
        let record = RunRecord { budget_usd: cap.now, published: None, deadline, lane, ..known };
        Ok(Self { session, record, rounds: Arc::new(rounds), cap, spent })
    }

    /// How its jobs are published.
    pub fn opening(&self) -> Opening {
        Opening::Again { rounds: Arc::clone(&self.rounds), spent: self.spent }
    }
}

/// How far each job has come, by the journal and by Redis: the one may lag behind what is stored,
/// or have lost it on the way, the other forgets in time. And what the results in the journal cost,
/// lest an emptied Redis open the run with its whole budget.
async fn rounds(
    backend: &RedisLedger,
    settings: &Settings,
    run: &RunId,
    written: Written,
) -> Result<(Rounds, Money), Failure> {
    let (mut rounds, spent) = match written {
        Written::InJournal => {
            let files = run_files(&settings.run.runs_dir, run)?;
            let fold = Fold::of_journal(&files).map_err(journal_failure)?;
            (fold.rounds(), fold.spent().cost)
        }
        Written::Told { .. } => (Rounds::default(), Money::ZERO),
    };
    let noting = |job, round, outcome| rounds.note(&job, round, outcome);
    backend.for_each_outcome(run, noting).await.map_err(backend_failure)?;
    if let Written::Told { scored } = written
        && scored >= rounds.scored()
    {
        rounds.trust_journal();
    }
    Ok((rounds, spent))
}
