//! `juror enqueue`: publishes a run's jobs to the fleet.

mod output;

use crate::{
    args::EnqueueArguments,
    commands::follow::{Following, require_journal_and_baseline},
    end_of_run,
    exit::{AppError, Exit},
    interactive::publish,
    progress::{DatasetProgress, ProgressDisplay},
    setup_request::{print_plan, print_warnings},
    signals::SignalStream,
    terminal,
};
use juror_app::{
    fleet::{
        self, KEEPS_NO_INPUTS, enqueue::EnqueueRequest, require, run_to_publish::RunToPublish,
    },
    protected_files::ProtectedFiles,
    reporting,
    run::{
        inspection::inspect_files,
        run_setup::{RenderedBy, RunSetup},
        run_setup_request::new_run_id,
    },
    settings::{BaseLayers, Settings},
};
use juror_ledger::redis::{RedisLedger, RunStatus};
use juror_producer::fleet::{Published, PublishedEnd};
use juror_queue::rabbitmq::broker_version;
use juror_types::id::RunId;
use output::EnqueueOutput;
use std::sync::Arc;

pub async fn run(arguments: &EnqueueArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = &arguments.run;
    let layer = flags.layer().overlaid_with(arguments.fleet.layer());
    let checking = DatasetProgress::new(ProgressDisplay::fitting());
    let on_item = |items| checking.show(items);
    let mut setup_request = flags.setup_request(layer, base, &on_item);
    setup_request.rendered_by = RenderedBy::Workers;
    let settings = setup_request.settings()?;
    if settings.run.keep_inputs {
        return Err(AppError::invalid(KEEPS_NO_INPUTS));
    }
    let named = setup_request.run_id(&settings)?;
    ProtectedFiles::from_settings(&settings, &base.settings_file)
        .and("the dataset", flags.dataset.as_deref())
        .in_run(named.as_ref().map(|run| settings.run.runs_dir.join(run.as_str())), "report")
        .check_reports(&flags.output)?;
    let writes_at_end = !flags.output.is_empty() || flags.calibration.calibration.is_some();
    if writes_at_end && !arguments.wait {
        let refusal = "--output and --calibration apply at a run's end: add --wait";
        return Err(AppError::invalid(refusal));
    }
    reporting::calibration(&settings)?;
    require("broker", settings.fleet.broker.as_ref())?;
    let backend = fleet::open_backend(&settings).await?;
    let output = EnqueueOutput { wait: arguments.wait, fleet: &settings.fleet.namespace };
    let request = EnqueueRequest {
        setup_request,
        settings: &settings,
        upload: arguments.upload.clone(),
        deadline: flags.deadline.as_ref().and(settings.deadline()),
        lane: flags.judging.lane.as_ref().map(|_| settings.run.lane),
        decides: flags.gate.is_some() || !flags.baseline.layer().is_empty(),
        follows: arguments.wait,
    };
    let enqueuing = Enqueuing { arguments, request, backend: &backend, output };
    let ended = enqueuing.run(named).await;
    backend.close().await;
    ended
}

struct Enqueuing<'a> {
    arguments: &'a EnqueueArguments,
    request: EnqueueRequest<'a>,
    backend: &'a Arc<RedisLedger>,
    output: EnqueueOutput<'a>,
}

impl Enqueuing<'_> {
    async fn run(&self, named: Option<RunId>) -> Result<Exit, AppError> {
        let signals = SignalStream::open();
        let known = match &named {
            Some(run) => self.request.known(self.backend, run).await?,
            None => None,
        };
        let settings = self.settings_to_follow(known.as_ref())?;
        let run = named.unwrap_or_else(|| new_run_id(""));
        let published = known.as_ref().filter(|known| known.expected.is_some());
        if let Some(known) = published.filter(|_| self.arguments.run.dataset.is_none()) {
            return self.follow_published(&run, known, &settings, signals).await;
        }
        let setup = self.request.setup(&run, known.as_ref().map(|known| &known.record))?;
        self.arguments.run.warn_without_judge(&setup);
        if self.arguments.run.dry_run {
            return self.dry_run(&setup).await;
        }
        if let Some(known) = published {
            return self.follow_published(&run, known, &settings, signals).await;
        }
        let prepared = self.request.prepare(self.backend, &run, setup, known.as_ref()).await?;
        let budget = prepared.record.budget_usd;
        print_warnings(&prepared.setup, budget, RenderedBy::Workers);
        let published = self.publish(&prepared).await?;
        self.output.published(&run, prepared.setup.plan.jobs, published)?;
        match published.end {
            PublishedEnd::Stopped => Ok(Exit::Incomplete),
            PublishedEnd::Cancelled if !self.arguments.wait => Ok(Exit::Incomplete),
            PublishedEnd::Closed | PublishedEnd::Cancelled => {
                self.wait_if_requested(&run, &settings, signals).await
            }
        }
    }

    /// Settings by which a run ends, as a known one has recorded them.
    ///
    /// # Errors
    /// A run to be followed whose end cannot be decided here.
    fn settings_to_follow(&self, known: Option<&RunStatus>) -> Result<Settings, AppError> {
        let settings = match known {
            Some(known) => self.request.setup_request.settings_for(&known.record)?,
            None => self.request.settings.clone(),
        };
        end_of_run::check_baseline_flags(&self.arguments.run.baseline, &settings)?;
        if self.arguments.wait {
            require_journal_and_baseline(&settings, &self.arguments.run.output)?;
        }
        Ok(settings)
    }

    /// Changes budget, deadline, lane and gate of a run that is completely published, and waits for
    /// its end if requested.
    async fn follow_published(
        &self,
        run: &RunId,
        known: &RunStatus,
        settings: &Settings,
        signals: SignalStream,
    ) -> Result<Exit, AppError> {
        if !known.cancelled {
            self.output.published_already(run, known.is_reported())?;
        }
        if self.arguments.run.dry_run {
            return Ok(Exit::Done);
        }
        let changes = self.request.change(self.backend, &known.record).await?;
        if let Some(change) = changes.zone {
            terminal::warn(&change.to_string());
        }
        self.output.changes(&changes.messages);
        self.wait_if_requested(run, settings, signals).await
    }

    async fn dry_run(&self, setup: &RunSetup) -> Result<Exit, AppError> {
        let fleet = &self.request.settings.fleet;
        let (broker, tls) = (require("broker", fleet.broker.as_ref())?, fleet.broker_tls());
        broker_version(&broker, &tls).await?;
        inspect_files(setup).await?;
        let budget = setup.settings.budget.run_usd;
        print_warnings(setup, budget, RenderedBy::Workers);
        print_plan(setup, "Nothing was published.")?;
        Ok(Exit::Done)
    }

    async fn publish(&self, prepared: &RunToPublish) -> Result<Published, AppError> {
        let run = &prepared.record.run_id;
        let mut announced = false;
        let published = publish(prepared, self.backend, self.arguments.priority.into(), || {
            announced = true;
            self.output.changes(&prepared.changes);
            self.output.announced(run)
        })
        .await;
        if published.is_err() && announced {
            self.output.print_resume_hint(run);
        }
        published
    }

    async fn wait_if_requested(
        &self,
        run: &RunId,
        settings: &Settings,
        signals: SignalStream,
    ) -> Result<Exit, AppError> {
        if !self.arguments.wait {
            return Ok(Exit::Done);
        }
        let following = Following {
            backend: self.backend,
            run,
            settings,
            outputs: &self.arguments.run.output,
            calibration: self.arguments.run.calibration.calibration.as_deref(),
        };
        following.wait(signals).await
    }
}
