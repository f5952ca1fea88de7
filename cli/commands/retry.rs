//! `juror retry`: another round for what a run did not score, where the run is judged.

use crate::{
    args::{GlobalFlags, RetryArguments, RunFlags},
    commands::run::{Ends, known_run, no_such_run, resume},
    exit::{Exit, Failure},
    fleet,
    follow::{Following, require_journal},
    publish::Publication,
    retry_plan::AnotherRound,
    run_argument::locate,
    run_request::{RunInvocation, tell_warnings},
    settings_sources as layers,
    settings_sources::BaseLayers,
    signals::SignalStream,
    terminal as screen,
};
use juror_analysis::fold::Rounds;
use juror_app::settings::{Layer, Settings};
use juror_ledger::redis::RedisLedger;
use juror_producer::fleet::{Published, PublishedEnd};
use juror_types::{id::RunId, run::RunRecord};
use std::sync::Arc;

/// Runs `juror retry`.
pub async fn run(arguments: &RetryArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (run, global) = &locate(&arguments.run, global)?;
    let mut layers: Vec<_> = arguments.budget_usd.map(layers::budget).into_iter().collect();
    layers.extend(arguments.deadline.clone().map(layers::deadline));
    layers.extend(arguments.fleet.layers());
    let settings = layers::settle(global, layers.clone())?;
    let here = known_run(&settings.run.runs_dir, run)?;
    match &here {
        Some(record) if record.fleet.is_none() => return retry_here(arguments, run, global).await,
        None if settings.fleet.redis.is_none() => {
            let remedy = "if it is a fleet's, name its Redis by --redis URL";
            return Err(no_such_run(&arguments.run, &settings.run.runs_dir, remedy));
        }
        _ => {}
    }
    if !arguments.calling.layers().is_empty() {
        return Err(Failure::usage(format!(
            "run {run} is judged by a fleet, whose workers have an endpoint, limits and a \
             --max-concurrency of their own: leave those flags out"
        )));
    }
    layers.extend(fleet::namespace_of(here.as_ref(), &arguments.fleet)?);
    let settings = layers::settle(global, layers.clone())?;
    if arguments.wait {
        require_journal(&settings, Ends::default())?;
    }
    let backend = fleet::open_backend(&settings).await?;
    let retrying = Retrying { arguments, global, layers, settings: &settings, backend: &backend };
    let ended = retrying.run(run, here).await;
    backend.close().await;
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
    let flags = RunFlags {
        budget_usd: arguments.budget_usd,
        deadline: arguments.deadline.clone(),
        ..RunFlags::default()
    };
    resume(run, flags, arguments.calling.clone(), global).await
}

struct Retrying<'a> {
    arguments: &'a RetryArguments,
    global: &'a GlobalFlags,
    layers: Vec<Layer>,
    settings: &'a Settings,
    backend: &'a Arc<RedisLedger>,
}

impl Retrying<'_> {
    async fn run(self, run: &RunId, here: Option<RunRecord>) -> Result<Exit, Failure> {
        let signals = SignalStream::open();
        let (resume, budget_usd) = (Some(run.to_string()), self.arguments.budget_usd);
        let flags = RunFlags { resume, budget_usd, ..RunFlags::default() };
        let ground = BaseLayers::read(self.global)?;
        let asked = RunInvocation {
            flags: &flags,
            layers: self.layers.clone(),
            ground: &ground,
            quiet: self.global.quiet,
        };
        let again = AnotherRound::of(self.backend, &asked, run, here).await?;
        tell_warnings(&again.session, self.global.quiet);
        let publication = Publication {
            session: &again.session,
            backend: self.backend,
            record: &again.record,
            opening: again.opening(),
            priority: self.arguments.priority.unwrap_or_default().into(),
            quiet: self.global.quiet,
        };
        let opened = || {
            again.cap.tell(run, self.global.quiet);
            Ok(())
        };
        let published = publication.publish(opened).await?;
        self.tell(run, &again.rounds, published)?;
        match published.end {
            PublishedEnd::Closed if self.arguments.wait => self.wait(run, signals).await,
            PublishedEnd::Closed => Ok(Exit::Done),
            PublishedEnd::Cancelled | PublishedEnd::Stopped => Ok(Exit::Incomplete),
        }
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
                 stored results, without a call",
                rounds.missing()
            ));
        }
        let again = format!("{run}{}", fleet::location_flags(self.global, &self.arguments.fleet));
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

    async fn wait(&self, run: &RunId, signals: SignalStream) -> Result<Exit, Failure> {
        let following = Following {
            backend: self.backend,
            run,
            settings: self.settings,
            ends: Ends::default(),
            global: self.global,
            location_flags: &fleet::location_flags(self.global, &self.arguments.fleet),
        };
        following.wait(signals).await
    }
}
