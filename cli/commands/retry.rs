//! `juror retry`: another round for the jobs that a run did not score, here or in its fleet.

use crate::{
    args::{JudgingFlags, RetryArguments, RunArguments, RunFlags},
    commands::{
        self,
        follow::{Following, require_journal_and_baseline},
    },
    exit::{AppError, Exit},
    interactive::publish,
    progress::{DatasetProgress, ProgressDisplay},
    run_argument::locate,
    setup_request::print_warnings,
    signals::SignalStream,
    terminal,
};
use juror_analysis::fold::Rounds;
use juror_app::{
    fleet::{self, retry_plan::RetryPlan},
    run::{
        preflight::{known_run, no_such_run},
        run_setup::RenderedBy,
    },
    settings::{BaseLayers, Layer, Settings},
};
use juror_ledger::redis::RedisLedger;
use juror_producer::fleet::{Published, PublishedEnd};
use juror_types::{id::RunId, run::RunRecord};
use std::sync::Arc;

pub async fn run(arguments: &RetryArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let (run, base) = &locate(&arguments.run, base)?;
    let fleet_flags = &arguments.fleet;
    let flags = fleet_flags
        .layer()
        .with("run.deadline", arguments.deadline.clone())
        .with("run.lane", arguments.lane.clone());
    let settings = base.resolve(flags.clone())?;
    let local_record = known_run(&settings.run.runs_dir, run)?;
    match &local_record {
        Some(record) if record.fleet.is_none() => {
            return retry_local_run(arguments, run, base).await;
        }
        None if settings.fleet.redis.is_none() => {
            let remedy = "for a fleet's run, add --redis URL";
            return Err(no_such_run(&arguments.run, &settings.run.runs_dir, remedy));
        }
        _ => {}
    }
    if !arguments.calling.layer().is_empty() {
        return Err(AppError::invalid(format!(
            "run {run} is judged by a fleet, whose workers configure endpoint, limits and \
             concurrency: omit these flags"
        )));
    }
    let namespace = fleet::namespace_of(local_record.as_ref(), fleet_flags.namespace.as_deref())?;
    let flags = flags.overlaid_with(namespace);
    let settings = base.resolve(flags.clone())?;
    let backend = fleet::open_backend(&settings).await?;
    let retrying = Retrying { arguments, flags, settings: &settings, backend: &backend };
    let ended = retrying.run(base, run, local_record).await;
    backend.close().await;
    ended
}

struct Retrying<'a> {
    arguments: &'a RetryArguments,
    flags: Layer,
    settings: &'a Settings,
    backend: &'a Arc<RedisLedger>,
}

impl Retrying<'_> {
    async fn run(
        self,
        base: &BaseLayers,
        run: &RunId,
        local_record: Option<RunRecord>,
    ) -> Result<Exit, AppError> {
        let signals = SignalStream::open();
        let (resume, budget_usd) = (Some(run.to_string()), self.arguments.budget_usd);
        let flags = RunFlags { resume, budget_usd, ..RunFlags::default() };
        let checking = DatasetProgress::new(ProgressDisplay::fitting());
        let on_item = |items| checking.show(items);
        let mut setup_request = flags.setup_request(self.flags.clone(), base, &on_item);
        setup_request.rendered_by = RenderedBy::Workers;
        let RetryPlan { run: prepared, rounds } =
            RetryPlan::for_run(self.backend, &setup_request, run, local_record).await?;
        if self.arguments.wait {
            require_journal_and_baseline(&prepared.setup.settings, &[])?;
        }
        let budget = prepared.record.budget_usd;
        print_warnings(&prepared.setup, budget, RenderedBy::Workers);
        let opened = || {
            prepared.changes.iter().for_each(|change| terminal::print_hint(change));
            Ok(())
        };
        let priority = self.arguments.priority.unwrap_or_default().into();
        let published = publish(&prepared, self.backend, priority, opened).await?;
        self.print(run, &rounds, published)?;
        let following = Following {
            backend: self.backend,
            run,
            settings: &prepared.setup.settings,
            outputs: &[],
            calibration: None,
        };
        match published.end {
            PublishedEnd::Closed if self.arguments.wait => following.wait(signals).await,
            PublishedEnd::Closed => Ok(Exit::Done),
            PublishedEnd::Cancelled | PublishedEnd::Stopped => Ok(Exit::Incomplete),
        }
    }

    fn print(&self, run: &RunId, rounds: &Rounds, published: Published) -> Result<(), AppError> {
        let Published { jobs, end } = published;
        if terminal::is_json() && !self.arguments.wait {
            terminal::print_json(&serde_json::json!({
                "run_id": run, "fleet": self.settings.fleet.namespace, "published": jobs,
                "scored": rounds.scored(), "missing": rounds.missing(), "complete": end == PublishedEnd::Closed,
            }))?;
        }
        if end == PublishedEnd::Closed && terminal::is_quiet() {
            return Ok(());
        }
        if rounds.missing() > 0 {
            terminal::print_notice(&format!(
                "{} scored jobs may be missing from the journal: they are republished to return \
                 their stored results, without a call",
                rounds.missing()
            ));
        }
        terminal::print_notice(&match end {
            PublishedEnd::Closed if jobs == 0 => {
                format!("run {run} is complete: all its {} jobs are scored", rounds.scored())
            }
            PublishedEnd::Closed if self.arguments.wait => {
                format!("{jobs} jobs of run {run} are requeued")
            }
            PublishedEnd::Closed => format!(
                "{jobs} jobs of run {run} are requeued\n  follow it with: juror enqueue --wait \
                 --resume {run}"
            ),
            PublishedEnd::Cancelled => {
                format!("run {run} was cancelled after {jobs} jobs were requeued")
            }
            PublishedEnd::Stopped => format!(
                "stopped: {jobs} jobs of run {run} are requeued, and the run stays open\n  resume \
                 with: juror retry {run}"
            ),
        });
        Ok(())
    }
}

async fn retry_local_run(
    arguments: &RetryArguments,
    run: &RunId,
    base: &BaseLayers,
) -> Result<Exit, AppError> {
    if arguments.priority.is_some() || arguments.wait {
        return Err(AppError::invalid(format!(
            "run {run} is a run of this machine, which takes neither --priority nor --wait: omit them"
        )));
    }
    let run = RunFlags {
        resume: Some(run.to_string()),
        budget_usd: arguments.budget_usd,
        deadline: arguments.deadline.clone(),
        judging: JudgingFlags { lane: arguments.lane.clone(), ..JudgingFlags::default() },
        ..RunFlags::default()
    };
    let calling = arguments.calling.clone();
    let resumed = RunArguments { run, until_width: None, calling };
    Box::pin(commands::run::run(&resumed, base)).await
}
