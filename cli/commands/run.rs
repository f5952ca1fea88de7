//! `juror run`: one process from dataset to report.

use crate::{
    args::{CallingFlags, GlobalFlags, RunArguments, RunFlags},
    baseline::{self, Baseline},
    calibrations,
    execute::Execution,
    exit::{Exit, Failure},
    finish::{self, Finishing, Reporting},
    inspection::inspect_files,
    interactive as attended, judge,
    outputs::ProtectedFiles,
    run_argument::{locate, nearest},
    run_request::{RunInvocation, new_run_id, print_plan, tell_warnings},
    session::Session,
    settings_sources::BaseLayers,
    terminal as screen,
};
use juror_analysis::{calibration::known::KnownCalibration, gate::Gate};
use juror_journal::journal::{JournalError, RunFiles, check_vacant};
use juror_types::{id::RunId, run::RunRecord};
use juror_worker::context::JudgeSetup;
use std::path::{Path, PathBuf};

/// Runs `juror run`.
pub async fn run(arguments: &RunArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let flags = &arguments.run;
    let resumed = flags.resume.as_deref().map(|run| locate(run, global)).transpose()?;
    let (resumed, global) = match &resumed {
        Some((run, global)) => (Some(run), global),
        None => (None, global),
    };
    let layers = [flags.layers(), arguments.calling.layers()].concat();
    let ground = BaseLayers::read(global)?;
    let asked = RunInvocation { flags, layers, ground: &ground, quiet: global.quiet };
    let settings = asked.settings()?;
    let named = match resumed {
        Some(run) => Some(run.clone()),
        None => asked.run_id()?,
    };
    let known = match &named {
        Some(run) => known_run(&settings.run.runs_dir, run)?,
        None => None,
    };
    refuse_fleet_run(known.as_ref())?;
    if flags.dataset.is_none() && known.is_none() {
        let run = flags.resume.as_deref().unwrap_or_default();
        let remedy = "with a dataset the run is started";
        return Err(no_such_run(run, &settings.run.runs_dir, remedy));
    }
    if let (Some(run), None) = (resumed, &known) {
        start_instead(run, &settings.run.runs_dir, global.quiet)?;
    }
    let run = named.unwrap_or_else(|| new_run_id(""));
    let dataset = known.as_ref().map(|known| Path::new(&known.dataset.path));
    ProtectedFiles::from_settings(&settings, global)
        .and("the dataset", flags.dataset.as_deref().or(dataset))
        .in_run(settings.run.runs_dir.join(run.as_str()), "report")
        .check_reports(&flags.output)?;
    let session = asked.session(&run, known.as_ref())?;
    let ends = Ends { outputs: &flags.output, baseline: flags.against.baseline.as_deref() };
    baseline::check_flags(&flags.against)?;
    if flags.dry_run {
        ready(&session, &run, ends)?;
        inspect_files(&session).await?;
        tell_warnings(&session, global.quiet);
        print_plan(&session, "Nothing was spent.", global.json)?;
        return Ok(Exit::Done);
    }
    start_or_resume(session, run, known, ends, global).await
}

/// Continues a run of this machine from its record alone.
pub async fn resume(
    run: &RunId,
    flags: RunFlags,
    calling: CallingFlags,
    global: &GlobalFlags,
) -> Result<Exit, Failure> {
    let run = RunFlags { resume: Some(run.to_string()), ..flags };
    Box::pin(self::run(&RunArguments { run, calling }, global)).await
}

/// What is asked for at a run's end, beside its report.
#[derive(Clone, Copy, Default)]
pub struct Ends<'a> {
    /// Files to write.
    pub outputs: &'a [PathBuf],
    /// The run to compare it with.
    pub baseline: Option<&'a str>,
}

/// Runs a session to its report.
pub async fn start_or_resume(
    session: Session,
    run_id: RunId,
    known: Option<RunRecord>,
    ends: Ends<'_>,
    global: &GlobalFlags,
) -> Result<Exit, Failure> {
    let Ready { gate, baseline, calibration, setup } = ready(&session, &run_id, ends)?;
    tell_warnings(&session, global.quiet);
    let record = record(&session, &run_id, known.as_ref());
    let execution =
        Execution { session: &session, record: &record, continued: known.is_some(), setup };
    let (executed, signals) = attended::execute(execution, global.quiet).await?;
    let reporting = Reporting {
        rubric: &session.rubric,
        gate: gate.as_ref(),
        baseline: baseline.as_ref(),
        settings: &session.settings,
        calibration: calibration.as_ref(),
    };
    let finishing = Finishing { reporting, outputs: ends.outputs, global };
    let remedy = format!("write it by: juror report {run_id}");
    signals.exit_on_signal(&remedy, async { finish::finish(executed, &finishing) }).await
}

/// The record of a session's run; one that is known keeps its age and its sessions.
pub fn record(session: &Session, run: &RunId, known: Option<&RunRecord>) -> RunRecord {
    let record = session.record(run.clone());
    let created_at = known.map_or(record.created_at, |known| known.created_at.clone());
    let judging = known.and_then(|known| known.judging.clone());
    RunRecord { created_at, judging, ..record }
}

/// What a run needs beside its session.
pub struct Ready {
    /// What it must meet.
    pub gate: Option<Gate>,
    /// What it is compared against.
    pub baseline: Option<Baseline>,
    /// What is known of its judge, if a file is named.
    pub calibration: Option<KnownCalibration>,
    /// How the judge is asked; none with the judge off.
    pub setup: Option<JudgeSetup>,
}

/// Checks what is left to check before anything is written or spent.
pub fn ready(session: &Session, run: &RunId, ends: Ends<'_>) -> Result<Ready, Failure> {
    let Session { settings, rubric, candidate, .. } = session;
    let gate = finish::gate(settings.run.gate.as_deref(), rubric)?;
    let baseline = Baseline::named(ends.baseline, settings)?;
    if let Some(baseline) = &baseline {
        baseline.check(run, &rubric.reference())?;
    }
    let calibration = calibrations::named(settings)?;
    let Some(candidate) = candidate else {
        return Ok(Ready { gate, baseline, calibration, setup: None });
    };
    let key = judge::key(settings)?;
    judge::require_key(settings, key.as_ref())?;
    let setup = judge::setup(settings, rubric, candidate, key)?;
    Ok(Ready { gate, baseline, calibration, setup: Some(setup) })
}

/// Says that a run that was to be resumed is started, unless its name looks mistyped.
fn start_instead(run: &RunId, runs_dir: &Path, quiet: bool) -> Result<(), Failure> {
    if let Some(other) = nearest(runs_dir, run) {
        return Err(Failure::usage(format!(
            "there is no run {run} in {}; did you mean {other}? Go on with that by --resume \
             {other}, or start a new run by --run-id {run}",
            runs_dir.display()
        )));
    }
    if !quiet {
        screen::warn(&format!(
            "there is no run {run} in {} yet: it is started",
            runs_dir.display()
        ));
    }
    Ok(())
}

/// A run knows its backend: what a fleet judges is not judged here as well.
pub fn refuse_fleet_run(known: Option<&RunRecord>) -> Result<(), Failure> {
    let Some((record, fleet)) = known.and_then(|known| Some((known, known.fleet.as_ref()?))) else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "run {0} is the fleet's (namespace {fleet}), and this process would judge it a second \
         time; go on with it by: juror retry {0}",
        record.run_id
    )))
}

/// Why a run that nobody knows cannot be gone on with.
pub fn no_such_run(run: &str, runs_dir: &Path, remedy: &str) -> Failure {
    let other = RunId::parse(run).ok().and_then(|run| nearest(runs_dir, &run));
    let meant = other.map_or_else(String::new, |other| format!("did you mean {other}? "));
    Failure::usage(format!(
        "there is no run {run:?} in {}; {meant}`juror runs` lists them, and {remedy}",
        runs_dir.display()
    ))
}

/// The record of a run that has a directory here; none if its name is free. A name that stands for
/// a file or a folder of something else is refused.
pub fn known_run(runs_dir: &Path, run: &RunId) -> Result<Option<RunRecord>, Failure> {
    match RunFiles::open(runs_dir, run) {
        Ok(files) => Ok(Some(files.record().clone())),
        Err(JournalError::Missing { directory }) => {
            check_vacant(&directory).map_err(finish::journal_failure)?;
            Ok(None)
        }
        Err(error) => Err(finish::journal_failure(error)),
    }
}

/// A run's files, to be read.
pub fn run_files(runs_dir: &Path, run: &RunId) -> Result<RunFiles, Failure> {
    RunFiles::open(runs_dir, run).map_err(finish::journal_failure)
}
