//! `juror run`: one process from dataset to report.

use crate::{
    args::{GlobalFlags, JudgingFlags, RetryArguments, RunArguments},
    commands::rubric,
    execute::{self, Execution},
    exit::{Exit, Failure},
    finish::{self, Finishing},
    judge, layers, screen,
    session::{Selection, Session, difference},
};
use juror_aggregator::{gate::Gate, journal::RunFiles};
use juror_common::{
    id::RunId,
    run::RunRecord,
    settings::{Layer, Settings},
};
use juror_worker::context::JudgeSetup;
use std::path::{Path, PathBuf};

/// Runs `juror run`.
pub async fn run(arguments: &RunArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut flags = arguments.judging.layers();
    flags.extend(arguments.budget_usd.map(budget_layer));
    flags.extend(arguments.gate.clone().map(|gate| Layer::of("run", "gate", gate)));
    let settings = layers::settle(global, flags.clone())?;
    let named = arguments.resume.as_ref().or(arguments.run_id.as_ref());
    let run_id = named.map(|id| RunId::parse(id)).transpose().map_err(Failure::usage)?;
    let known = match &run_id {
        Some(run_id) => known_run(&settings.run.runs_dir, run_id)?,
        None => None,
    };
    let continued = match (&arguments.dataset, known) {
        (None, None) => {
            let run = arguments.resume.as_deref().unwrap_or_default();
            let runs_dir = settings.run.runs_dir.display();
            return Err(Failure::usage(format!(
                "there is no run {run:?} in {runs_dir}; `juror runs` lists them, and with a \
                 dataset the run is started"
            )));
        }
        (None, Some(record)) => return resume(&record, arguments, global, flags).await,
        (Some(_), known) => known,
    };
    let settings = keep_budget(settings, continued.as_ref());
    let selection = Selection {
        dataset: arguments.dataset.clone().unwrap_or_default(),
        limit: arguments.judging.limit,
        filters: arguments.judging.filter.clone(),
    };
    let rubric = rubric::load(&settings.run.rubric)?;
    let session = Session::open(settings, rubric, selection)?;
    let run_id = run_id.unwrap_or_else(|| new_run_id(""));
    if let Some(known) = &continued
        && let Some(difference) = difference(known, &session.record(run_id.clone()))
    {
        return Err(Failure::usage(format!(
            "run {run_id} exists and is another one: {difference}; take another --run-id"
        )));
    }
    if arguments.dry_run {
        return dry_run(&session, &arguments.output, global);
    }
    begin_or_continue(session, run_id, continued, &arguments.output, global).await
}

/// Runs `juror retry`, which is resuming by another name on one machine.
pub async fn retry(arguments: &RetryArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let max_concurrency = arguments.max_concurrency;
    let judging = JudgingFlags { max_concurrency, ..JudgingFlags::default() };
    let again = RunArguments {
        dataset: None,
        judging,
        budget_usd: arguments.budget_usd,
        output: Vec::new(),
        gate: None,
        resume: Some(arguments.run.clone()),
        run_id: None,
        dry_run: false,
    };
    Box::pin(run(&again, global)).await
}

/// Continues a run from its record alone: what the flags do not say, the record does.
async fn resume(
    record: &RunRecord,
    arguments: &RunArguments,
    global: &GlobalFlags,
    flags: Vec<Layer>,
) -> Result<Exit, Failure> {
    let mut layers = vec![
        Layer::of("run", "repeat", i64::from(record.repeat)),
        Layer::of("run", "enable_llm_judge", record.judge.is_some()),
    ];
    if let Some(budget) = record.budget_usd {
        layers.push(budget_layer(budget));
    }
    if let Some(judge) = &record.judge {
        let output = i64::from(judge.max_output_tokens);
        layers.push(Layer::of("judge", "model", judge.model.clone()));
        layers.push(Layer::of("judge", "detail", judge.detail.name()));
        layers.push(Layer::of("judge", "max_output_tokens", output));
        layers.extend(judge.temperature.map(|value| Layer::of("judge", "temperature", value)));
    }
    layers.extend(record.max_side.map(|side| Layer::of("image", "max_side", i64::from(side))));
    layers.extend(record.base_url.clone().map(|url| Layer::of("judge", "base_url", url)));
    if !record.data_roots.is_empty() {
        layers.push(Layer::of("files", "data_roots", record.data_roots.clone()));
    }
    // Flags win over the record, so that a difference in them is named.
    layers.extend(flags);
    let settings = layers::settle(global, layers)?;
    let limit = arguments.judging.limit.or(record.dataset.limit);
    let filters = match arguments.judging.filter.as_slice() {
        [] => record.dataset.filters.clone(),
        given => given.to_vec(),
    };
    let selection = Selection { dataset: record.dataset.path.clone().into(), limit, filters };
    let rubric = match &arguments.judging.rubric {
        Some(rubric) => rubric::load(rubric)?,
        None => rubric::recorded(record)?,
    };
    let session = Session::open(settings, rubric, selection)?;
    if let Some(difference) = difference(record, &session.record(record.run_id.clone())) {
        return Err(Failure::usage(format!(
            "run {} cannot be resumed: {difference}; start a new run instead",
            record.run_id
        )));
    }
    if arguments.dry_run {
        return dry_run(&session, &arguments.output, global);
    }
    let run_id = record.run_id.clone();
    begin_or_continue(session, run_id, Some(record.clone()), &arguments.output, global).await
}

/// Runs a session to its report.
pub async fn begin_or_continue(
    session: Session,
    run_id: RunId,
    known: Option<RunRecord>,
    outputs: &[PathBuf],
    global: &GlobalFlags,
) -> Result<Exit, Failure> {
    let Ready { gate, setup } = ready(&session, outputs)?;
    tell_warnings(&session, global.quiet);
    let record = RunRecord {
        created_at: known
            .as_ref()
            .map_or_else(|| jiff::Timestamp::now().to_string(), |known| known.created_at.clone()),
        ..session.record(run_id.clone())
    };
    let executed = execute::execute(Execution {
        session: &session,
        record: &record,
        continued: known.is_some(),
        setup,
        quiet: global.quiet,
    })
    .await?;
    finish::finish(
        executed,
        &Finishing {
            rubric: &session.rubric,
            gate: gate.as_ref(),
            failures: session.settings.run.failures,
            outputs,
            global,
        },
    )
}

/// What a run needs beside its session.
struct Ready {
    gate: Option<Gate>,
    setup: Option<JudgeSetup>,
}

/// Checks what is left to check before anything is written or spent.
fn ready(session: &Session, outputs: &[PathBuf]) -> Result<Ready, Failure> {
    finish::check_outputs(outputs)?;
    let Session { settings, rubric, candidate, .. } = session;
    let gate = finish::gate(settings.run.gate.as_deref(), rubric)?;
    let Some(candidate) = candidate else { return Ok(Ready { gate, setup: None }) };
    let key = judge::key(settings)?;
    judge::require_key(settings, key.as_ref())?;
    let setup = judge::setup(settings, rubric, candidate, key)?;
    Ok(Ready { gate, setup: Some(setup) })
}

/// A run that is continued without a word on its budget keeps the one that it has.
fn keep_budget(mut settings: Settings, continued: Option<&RunRecord>) -> Settings {
    let known = continued.and_then(|record| record.budget_usd);
    settings.budget.run_usd = settings.budget.run_usd.or(known);
    settings
}

fn budget_layer(budget: juror_common::usage::Money) -> Layer {
    Layer::of("budget", "run_usd", budget.to_string())
}

fn known_run(runs_dir: &Path, run: &RunId) -> Result<Option<RunRecord>, Failure> {
    match runs_dir.join(run.as_str()).join("run.json").try_exists() {
        Ok(false) => Ok(None),
        _ => Ok(Some(run_files(runs_dir, run)?.record().clone())),
    }
}

/// A run's files, to be read.
pub fn run_files(runs_dir: &Path, run: &RunId) -> Result<RunFiles, Failure> {
    RunFiles::open(runs_dir, run).map_err(finish::journal_failure)
}

/// Date and time, and enough chance that two runs of one second have two names.
pub fn new_run_id(prefix: &str) -> RunId {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let chance = juror_common::id::LeaseId::random();
    let chance: String = chance.as_str().chars().take(4).collect();
    RunId::new(format!("{prefix}{now}-{chance}"))
}

fn tell_warnings(session: &Session, quiet: bool) {
    if quiet {
        return;
    }
    for warning in &session.plan.warnings {
        screen::tell(&format!("warning: {warning}"));
    }
    if session.candidate.is_some() && session.settings.budget.run_usd.is_none() {
        screen::tell("no --budget-usd: this run may cost whatever it takes");
    }
}

fn dry_run(session: &Session, outputs: &[PathBuf], global: &GlobalFlags) -> Result<Exit, Failure> {
    ready(session, outputs)?;
    tell_warnings(session, global.quiet);
    let plan = &session.plan;
    if global.json {
        screen::print_json(&serde_json::json!({
            "dataset_items": plan.dataset_items, "items": plan.items, "jobs": plan.jobs,
            "digest": plan.digest, "rubric": session.rubric.name(), "judge": session.judge(),
        }))?;
    } else {
        let judge = session.judge().map_or("off", |judge| judge.model.as_str());
        screen::print(&format!(
            "{} of {} items are sound and would be judged in {} jobs, by {}, judge: {judge}.\n\
             Nothing was spent.",
            plan.items,
            plan.dataset_items,
            plan.jobs,
            session.rubric.name(),
        ))?;
    }
    Ok(Exit::Done)
}
