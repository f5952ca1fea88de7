//! `juror enqueue`: publishes a run's jobs to the fleet.

mod output;

use crate::{
    args::{EnqueueArguments, GlobalFlags, RunFlags},
    commands::follow::{Following, require_journal},
    exit::{Exit, Failure},
    finish,
    invocation::{print_plan, print_warnings},
    location_flags,
    progress::DatasetProgress,
    publish_interactive::publish,
    settings_sources,
    signals::SignalStream,
    terminal,
};
use jiff::Timestamp;
use juror_app::{
    error::AppError,
    fleet::{
        self,
        budget_cap::Cap,
        publish::{Opening, Publication, new_record, uploader},
        require,
    },
    leftovers::{LedgerPlace, refuse_leftovers},
    protected_files::ProtectedFiles,
    reporting::{self, baseline::Baseline, calibrations},
    run::{
        inspection::inspect_files,
        ready::known_run,
        run_request::{RunInvocation, new_run_id},
        session::{DrawingPlace, Session},
    },
    settings::{FleetSettings, Settings},
};
use juror_ledger::redis::{RedisLedger, RunStatus};
use juror_producer::fleet::{Published, PublishedEnd, change_budgets};
use juror_queue::rabbitmq::broker_version;
use juror_types::{id::RunId, lane::Lane, run::RunRecord};
use output::EnqueueOutput;
use std::sync::Arc;

pub async fn run(arguments: &EnqueueArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let flags = &arguments.run;
    let layers = [flags.layers(), arguments.fleet.layers()].concat();
    let base = settings_sources::read(global)?;
    let checking = DatasetProgress::new(global.quiet);
    let on_item = |items| checking.show(items);
    let mut invocation = flags.invocation(layers, &base, &on_item);
    invocation.place = DrawingPlace::Elsewhere;
    let settings = invocation.settings()?;
    fleet::refuse_kept_inputs(&settings)?;
    let named = invocation.run_id(&settings)?;
    finish::check_baseline_flags(&flags.against, &settings)?;
    let protected =
        ProtectedFiles::from_settings(&settings, settings_sources::settings_file(global).0)
            .and("the dataset", flags.dataset.as_deref());
    let own_run = named.as_ref().map(|run| settings.run.runs_dir.join(run.as_str()));
    match own_run {
        Some(directory) => protected.in_run(directory, "report"),
        None => protected,
    }
    .check_reports(&flags.output)?;
    match arguments.wait {
        true => require_journal(&settings, &flags.output)?,
        false if needs_wait(flags) => {
            return Err(Failure::usage(
                "--output, --gate, --calibration, --strict, --margin and --max-lost apply at a run's \
            end: add --wait",
            ));
        }
        false => {}
    }
    let baseline = match arguments.wait {
        true => Baseline::from_settings(&settings)?,
        false => None,
    };
    calibrations::named(&settings)?;
    require("broker", settings.fleet.broker.as_ref())?;
    let backend = fleet::open_backend(&settings).await?;
    let output = EnqueueOutput {
        json: global.json,
        quiet: global.quiet,
        wait: arguments.wait,
        fleet: &settings.fleet.namespace,
        location_flags: location_flags::for_fleet(global, &arguments.fleet),
    };
    let enqueuing = Enqueuing {
        arguments,
        global,
        invocation,
        settings: &settings,
        baseline,
        backend: &backend,
        output,
    };
    let ended = enqueuing.run(named).await;
    backend.close().await;
    ended
}

struct Enqueuing<'a> {
    arguments: &'a EnqueueArguments,
    global: &'a GlobalFlags,
    invocation: RunInvocation<'a>,
    settings: &'a Settings,
    baseline: Option<Baseline>,
    backend: &'a Arc<RedisLedger>,
    output: EnqueueOutput<'a>,
}

impl Enqueuing<'_> {
    async fn run(&self, named: Option<RunId>) -> Result<Exit, Failure> {
        let signals = SignalStream::open();
        let known = match &named {
            Some(run) => self.known(run).await?,
            None => None,
        };
        let run = named.unwrap_or_else(|| new_run_id(""));
        let record = known.as_ref().map(|known| &known.record);
        let published = known.as_ref().filter(|known| known.expected.is_some());
        if let Some(known) = published.filter(|_| self.arguments.run.dataset.is_none()) {
            return self.follow_published(&run, known, signals).await;
        }
        let mut session = self.invocation.session(&run, record)?;
        self.check_upload(&session, record)?;
        if let Some(baseline) = &self.baseline {
            baseline.check(&run, &session.rubric.reference())?;
        }
        if self.arguments.wait {
            reporting::gate(self.settings, &session.rubric)?;
        }
        if self.arguments.run.dry_run {
            return self.dry_run(&session).await;
        }
        if let Some(known) = published {
            return self.follow_published(&run, known, signals).await;
        }
        let cap = match &known {
            Some(known) => Some(self.cap(known).await?),
            None => None,
        };
        if let Some(cap) = cap {
            session.settings.budget.run_usd = cap.now;
        }
        print_warnings(&session, DrawingPlace::Elsewhere, self.global.quiet);
        let published = self.publish(&session, &run, known.as_ref().zip(cap)).await?;
        self.output.published(&run, session.plan.jobs, published)?;
        match published.end {
            PublishedEnd::Stopped => Ok(Exit::Incomplete),
            PublishedEnd::Cancelled if !self.arguments.wait => Ok(Exit::Incomplete),
            PublishedEnd::Closed | PublishedEnd::Cancelled => {
                self.wait_if_requested(&run, signals).await
            }
        }
    }

    /// The fleet's status of a named run; none if the run is new. Errors if it cannot be continued.
    async fn known(&self, run: &RunId) -> Result<Option<RunStatus>, Failure> {
        let FleetSettings { namespace, .. } = &self.settings.fleet;
        let runs_dir = &self.settings.run.runs_dir;
        let here = known_run(runs_dir, run)?;
        if here.as_ref().is_some_and(|record| record.fleet.is_none()) {
            return Err(Failure::usage(format!(
                "run {run} is a run of this machine, in {}: use another --run-id, or resume it \
                 with: juror run --resume {run}",
                runs_dir.display()
            )));
        }
        let status = self.backend.run_status(run).await.map_err(AppError::from)?;
        match (status, here) {
            (Some(status), _) if status.cancelled && !self.arguments.wait => {
                Err(Failure::usage(format!(
                    "run {run} was cancelled; follow it to its end with --wait, or judge its \
                     remaining jobs with: juror retry {run}"
                )))
            }
            (Some(status), _) => Ok(Some(status)),
            (None, Some(_)) => Err(Failure::usage(format!(
                "run {run} has a directory in {}, but is no longer in the Redis of fleet \
                 {namespace}; judge its remaining jobs with: juror retry {run}",
                runs_dir.display()
            ))),
            (None, None) if self.arguments.run.dataset.is_none() => Err(Failure::usage(format!(
                "run {run} is unknown in fleet {namespace}; give a dataset to start it"
            ))),
            (None, None) => {
                let place = LedgerPlace::Fleet(namespace);
                refuse_leftovers(&**self.backend, run, place).await?;
                Ok(None)
            }
        }
    }

    /// Checks that a run uploads to one place, which can be used.
    fn check_upload(&self, session: &Session, known: Option<&RunRecord>) -> Result<(), Failure> {
        let Some(place) = &self.arguments.upload else { return Ok(()) };
        match known {
            Some(known) if known.upload.as_ref() != Some(place) => {
                let before = known.upload.as_deref().map_or("nowhere".to_owned(), str::to_owned);
                Err(Failure::usage(format!(
                    "run {} uploaded its files to {before}, not to {place}: omit --upload",
                    known.run_id
                )))
            }
            _ => {
                uploader(place, session)?;
                Ok(())
            }
        }
    }

    /// Changes budget, deadline and lane of a run that is completely published, and waits for its
    /// end if requested.
    async fn follow_published(
        &self,
        run: &RunId,
        known: &RunStatus,
        signals: SignalStream,
    ) -> Result<Exit, Failure> {
        if !known.cancelled {
            self.output.published_already(run, known.is_reported())?;
        }
        if self.arguments.run.dry_run {
            return Ok(Exit::Done);
        }
        let (deadline, lane) = (self.deadline(), self.lane());
        if self.arguments.run.budget_usd.is_some() || deadline.is_some() || lane.is_some() {
            let cap = self.cap(known).await?;
            let record = continued(known, cap, deadline, lane);
            let changed = match self.arguments.run.budget_usd {
                Some(_) => change_budgets(self.backend, &record, &self.settings.budget).await,
                None => self.backend.update_record(&record).await.map(|_| None),
            };
            if let Some(change) = changed.map_err(AppError::from)? {
                terminal::warn(&change.to_string());
            }
            self.output.cap(run, cap);
            self.output.deadline(run, known.record.deadline, deadline);
            self.output.lane(run, known.record.lane, lane);
        }
        self.wait_if_requested(run, signals).await
    }

    async fn cap(&self, known: &RunStatus) -> Result<Cap, Failure> {
        let RunRecord { run_id, budget_usd, .. } = &known.record;
        let given = self.arguments.run.budget_usd;
        Ok(Cap::from_ledger(self.backend, run_id, given, *budget_usd).await?)
    }

    /// The deadline that the flag gives.
    fn deadline(&self) -> Option<Timestamp> {
        self.arguments.run.deadline.as_ref().and(self.settings.deadline())
    }

    /// The lane that the flag gives.
    fn lane(&self) -> Option<Lane> {
        self.arguments.run.judging.lane.as_ref().map(|_| self.settings.run.lane)
    }

    async fn dry_run(&self, session: &Session) -> Result<Exit, Failure> {
        let broker = require("broker", self.settings.fleet.broker.as_ref())?;
        let tls = self.settings.fleet.broker_tls();
        broker_version(&broker, &tls).await.map_err(AppError::from)?;
        inspect_files(session).await?;
        print_warnings(session, DrawingPlace::Elsewhere, self.global.quiet);
        print_plan(session, "Nothing was published.", self.global.json)?;
        Ok(Exit::Done)
    }

    async fn publish(
        &self,
        session: &Session,
        run: &RunId,
        known: Option<(&RunStatus, Cap)>,
    ) -> Result<Published, Failure> {
        let (deadline, lane) = (self.deadline(), self.lane());
        let record = match known {
            Some((known, cap)) => continued(known, cap, deadline, lane),
            None => new_record(session, run, self.arguments.upload.clone()),
        };
        let publication = Publication {
            session,
            backend: self.backend,
            record: &record,
            opening: match known {
                Some((known, _)) => Opening::GoOn { noted: known.published },
                None => Opening::New,
            },
            priority: self.arguments.priority.into(),
            uploaded: None,
            max_connect_wait: None,
        };
        let mut announced = false;
        let published = publish(publication, self.global.quiet, || {
            announced = true;
            if let Some((known, cap)) = known {
                self.output.cap(run, cap);
                self.output.deadline(run, known.record.deadline, deadline);
                self.output.lane(run, known.record.lane, lane);
            }
            let printed = self.output.announced(run);
            printed.map_err(|failure| AppError::internal(failure.to_string()))
        })
        .await;
        if published.is_err() && announced {
            self.output.print_resume_hint(run);
        }
        published
    }

    async fn wait_if_requested(&self, run: &RunId, signals: SignalStream) -> Result<Exit, Failure> {
        if !self.arguments.wait {
            return Ok(Exit::Done);
        }
        let following = Following {
            backend: self.backend,
            run,
            settings: self.settings,
            outputs: &self.arguments.run.output,
            global: self.global,
            location_flags: &self.output.location_flags,
        };
        following.wait(signals).await
    }
}

fn needs_wait(flags: &RunFlags) -> bool {
    let files = !flags.output.is_empty() || flags.known.calibration.is_some();
    let comparing = &flags.against.comparing;
    let decides = comparing.strict || comparing.margin.is_some() || comparing.max_lost.is_some();
    files || flags.gate.is_some() || decides
}

/// Record of a continued run with its new cap, deadline and lane.
fn continued(
    known: &RunStatus,
    cap: Cap,
    deadline: Option<Timestamp>,
    lane: Option<Lane>,
) -> RunRecord {
    let deadline = deadline.or(known.record.deadline);
    let lane = lane.unwrap_or(known.record.lane);
    RunRecord { budget_usd: cap.now, deadline, lane, ..known.record.clone() }
}
