//! `juror retry`: another round for what a run did not score, where the run is judged.

use crate::{
    args::{GlobalFlags, RetryArguments, RunFlags},
    asked::{Asked, tell_warnings},
    cap::Cap,
    commands::run::{Ends, known_run, no_such_run, resume, run_files},
    exit::{Exit, Failure},
    finish::journal_failure,
    fleet::{self, home_failure},
    follow::{Following, require_journal},
    layers,
    publication::{Opening, Publication},
    screen,
};
use juror_aggregator::fold::{Fold, Rounds};
use juror_common::{
    id::RunId,
    redis::RedisHome,
    run::RunRecord,
    settings::{Layer, Settings},
    usage::Money,
};
use juror_producer::fleet::{Published, PublishedEnd};
use std::sync::Arc;

/// Runs `juror retry`.
pub async fn run(arguments: &RetryArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let run = RunId::parse(&arguments.run).map_err(Failure::usage)?;
    let mut layers: Vec<_> = arguments.budget_usd.map(layers::budget).into_iter().collect();
    layers.extend(arguments.fleet.layers());
    let settings = layers::settle(global, layers.clone())?;
    let here = known_run(&settings.run.runs_dir, &run)?;
    match &here {
        Some(record) if record.fleet.is_none() => return retry_here(arguments, &run, global).await,
        None if settings.fleet.redis.is_none() => {
            return Err(no_such_run(&arguments.run, &settings.run.runs_dir));
        }
        _ => {}
    }
    if arguments.max_concurrency.is_some() {
        return Err(Failure::usage(format!(
            "run {run} is judged by a fleet, whose workers have a --max-concurrency of their own: \
             leave it out"
        )));
    }
    layers.extend(fleet::namespace_of(here.as_ref(), &arguments.fleet)?);
    let settings = layers::settle(global, layers.clone())?;
    if arguments.wait {
        require_journal(&settings, Ends::default())?;
    }
    let home = fleet::open_home(&settings).await?;
    let retrying = Retrying { arguments, global, layers, settings: &settings, home: &home };
    let ended = retrying.run(&run, here).await;
    home.close().await;
    ended
}

async fn retry_here(
    arguments: &RetryArguments,
    run: &RunId,
    global: &GlobalFlags,
) -> Result<Exit, Failure> {
    if arguments.priority.is_some() || arguments.wait {
        return Err(Failure::usage(format!(
            "run {run} is one of this machine: it needs no --priority, and is waited for anyway"
        )));
    }
    resume(run, arguments.budget_usd, arguments.max_concurrency, global).await
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

struct Retrying<'a> {
    arguments: &'a RetryArguments,
    global: &'a GlobalFlags,
    layers: Vec<Layer>,
    settings: &'a Settings,
    home: &'a Arc<RedisHome>,
}

impl Retrying<'_> {
    /// Takes the record of the run's directory, if there is one, unless Redis has one.
    async fn run(self, run: &RunId, here: Option<RunRecord>) -> Result<Exit, Failure> {
        let status = self.home.run_status(run).await.map_err(home_failure)?;
        let told = status.as_ref().and_then(|status| status.progress.as_ref());
        let written = match here {
            Some(_) => Written::InJournal,
            None => Written::Told { scored: told.map_or(0, |told| told.scored) },
        };
        let Some(known) = status.map(|status| status.record).or(here) else {
            return Err(Failure::usage(format!(
                "there is no run {run} in {}, and the fleet {} knows none either",
                self.settings.run.runs_dir.display(),
                self.settings.fleet.namespace
            )));
        };
        let flags = RunFlags { resume: Some(run.to_string()), ..RunFlags::default() };
        let asked = Asked { flags: &flags, layers: self.layers.clone(), global: self.global };
        let mut session = asked.session(run, Some(&known))?;
        let cap = Cap::of(self.home, run, self.arguments.budget_usd, known.budget_usd).await?;
        session.settings.budget.run_usd = cap.now;
        tell_warnings(&session, self.global.quiet);
        let (rounds, spent) = self.rounds(run, written).await?;
        let rounds = Arc::new(rounds);
        // What a cancellation left out is published now.
        let record = RunRecord { budget_usd: cap.now, published: None, ..known };
        let publication = Publication {
            session: &session,
            home: self.home,
            record: &record,
            opening: Opening::Again { rounds: Arc::clone(&rounds), spent },
            lane: self.arguments.priority.unwrap_or_default().into(),
            quiet: self.global.quiet,
        };
        let opened = || {
            cap.tell(run, self.global.quiet);
            Ok(())
        };
        let published = publication.publish(opened).await?;
        self.tell(run, &rounds, published)?;
        match published.end {
            PublishedEnd::Closed if self.arguments.wait => self.wait(run).await,
            PublishedEnd::Closed => Ok(Exit::Done),
            PublishedEnd::Cancelled | PublishedEnd::Stopped => Ok(Exit::Incomplete),
        }
    }

    /// How far each job has come, by the journal and by Redis: the one may lag behind what is
    /// stored, or have lost it on the way, the other forgets in time. And what the results in the
    /// journal cost, lest an emptied Redis open the run with its whole budget.
    async fn rounds(&self, run: &RunId, written: Written) -> Result<(Rounds, Money), Failure> {
        let (mut rounds, spent) = match written {
            Written::InJournal => {
                let files = run_files(&self.settings.run.runs_dir, run)?;
                let fold = Fold::of_journal(&files).map_err(journal_failure)?;
                (fold.rounds(), fold.spent().cost)
            }
            Written::Told { .. } => (Rounds::default(), Money::ZERO),
        };
        let noting = |job, round, outcome| rounds.note(&job, round, outcome);
        self.home.for_each_outcome(run, noting).await.map_err(home_failure)?;
        if let Written::Told { scored } = written
            && scored >= rounds.scored()
        {
            rounds.trust_journal();
        }
        Ok((rounds, spent))
    }

    fn tell(&self, run: &RunId, rounds: &Rounds, published: Published) -> Result<(), Failure> {
        let Published { jobs, end } = published;
        if self.global.json && !self.arguments.wait {
            screen::print_json(&serde_json::json!({
                "run_id": run, "fleet": self.settings.fleet.namespace, "published": jobs,
                "scored": rounds.scored(), "missing": rounds.missing(), "complete": end == PublishedEnd::Closed,
            }))?;
        }
        if end == PublishedEnd::Closed && self.global.quiet {
            return Ok(());
        }
        if rounds.missing() > 0 {
            screen::tell(&format!(
                "{} of the jobs are scored and perhaps not in the journal: they are sent for their \
                 stored results, and nobody is called for them",
                rounds.missing()
            ));
        }
        let again = format!("{run}{}", fleet::whereabouts(self.global, &self.arguments.fleet));
        screen::tell(&match end {
            PublishedEnd::Closed if jobs == 0 => {
                format!("run {run} is complete: all its {} jobs are scored", rounds.scored())
            }
            PublishedEnd::Closed if self.arguments.wait => {
                format!("{jobs} jobs of run {run} are sent again")
            }
            PublishedEnd::Closed => format!(
                "{jobs} jobs of run {run} are sent again\n  follow it with: juror enqueue --wait \
                 --resume {again}"
            ),
            PublishedEnd::Cancelled => {
                format!("run {run} was cancelled; {jobs} jobs were sent again before")
            }
            PublishedEnd::Stopped => format!(
                "stopped: {jobs} jobs of run {run} are sent again, and the run is left open\n  go \
                 on with: juror retry {again}"
            ),
        });
        Ok(())
    }

    async fn wait(&self, run: &RunId) -> Result<Exit, Failure> {
        let following = Following {
            home: self.home,
            run,
            settings: self.settings,
            ends: Ends::default(),
            global: self.global,
            whereabouts: &fleet::whereabouts(self.global, &self.arguments.fleet),
        };
        following.wait().await
    }
}
