//! `juror run`: judges a dataset in one process.

use crate::{
    args::RunArguments,
    end_of_run,
    exit::{AppError, Exit},
    interactive,
    progress::{self, DatasetProgress, ProgressDisplay, RunTally},
    run_argument::locate,
    setup_request::{print_plan, print_warnings},
    terminal,
};
use juror_analysis::format::dollars;
use juror_app::{
    protected_files::ProtectedFiles,
    run::{
        inspection::inspect_files,
        local_run::LocalRun,
        preflight::{known_run, nearest, no_such_run, refuse_fleet_run},
        run_setup::RenderedBy,
        run_setup_request::new_run_id,
    },
    settings::BaseLayers,
    worker_resources::evidence,
};
use juror_types::{evidence::EvidenceMode, id::RunId, shutdown::Shutdown, usage::Money};
use std::path::{Path, PathBuf};

pub async fn run(arguments: &RunArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = &arguments.run;
    let resumed = flags.resume.as_deref().map(|run| locate(run, base)).transpose()?;
    let (resumed, base) = match &resumed {
        Some((run, base)) => (Some(run), base),
        None => (None, base),
    };
    let layer = flags.layer().overlaid_with(arguments.calling.layer());
    let checking = DatasetProgress::new(ProgressDisplay::fitting());
    let on_item = |items| checking.show(items);
    let mut setup_request = flags.setup_request(layer, base, &on_item);
    setup_request.items.until_width = arguments.until_width;
    let settings = setup_request.settings()?;
    let named = match resumed {
        Some(run) => Some(run.clone()),
        None => setup_request.run_id(&settings)?,
    };
    let known = match &named {
        Some(run) => known_run(&settings.run.runs_dir, run)?,
        None => None,
    };
    refuse_fleet_run(known.as_ref())?;
    if flags.dataset.is_none() && known.is_none() {
        let run = flags.resume.as_deref().unwrap_or_default();
        let remedy = "to start it, name its dataset too";
        return Err(no_such_run(run, &settings.run.runs_dir, remedy));
    }
    if let (Some(run), None) = (resumed, &known) {
        warn_new_run(run, &settings.run.runs_dir)?;
    }
    let run = named.unwrap_or_else(|| new_run_id(""));
    let dataset = known.as_ref().map(|known| Path::new(&known.dataset.path));
    ProtectedFiles::from_settings(&settings, &base.settings_file)
        .and("the dataset", flags.dataset.as_deref().or(dataset))
        .in_run(settings.run.runs_dir.join(run.as_str()), "report")
        .check_reports(&flags.output)?;
    let setup = setup_request.setup(&run, known.as_ref())?;
    end_of_run::check_baseline_flags(&flags.baseline, &setup.settings)?;
    flags.warn_without_judge(&setup);
    let run = LocalRun::prepare(setup, &run, known.as_ref())?;
    if flags.dry_run {
        return dry_run(&run).await;
    }
    judge(run, flags.judging.evidence, &flags.output).await
}

/// Judges a prepared run and reports it; `requested` is the requested evidence mode.
pub async fn judge(
    run: LocalRun,
    requested: Option<EvidenceMode>,
    outputs: &[PathBuf],
) -> Result<Exit, AppError> {
    let setup = run.setup();
    let evidence = evidence(&setup.settings);
    setup.start_renderer(requested, &evidence).await?;
    print_warnings(setup, setup.settings.budget.run_usd, RenderedBy::ThisProcess);
    let begun = run.begin(evidence).await?;
    if begun.presumed() > Money::ZERO {
        terminal::print_hint(&format!(
            "{} of the cost so far is presumed spent by calls that ended with an earlier process",
            dollars(begun.presumed())
        ));
    }
    // The budget covers earlier rounds too.
    let tally = RunTally { spent: begun.spent(), budget: begun.budget(), ..RunTally::default() };
    let display = ProgressDisplay::fitting();
    let (ended, signals) = interactive::run(
        |events| progress::follow(events, display, tally),
        async |events, shutdown: &Shutdown| begun.run(events, shutdown).await,
    )
    .await;
    let ended = ended?;
    let remedy = format!("write it with: juror report {}", ended.journal.record().run_id);
    signals.exit_on_signal(&remedy, async { end_of_run::finish(&ended, outputs) }).await
}

async fn dry_run(run: &LocalRun) -> Result<Exit, AppError> {
    let setup = run.setup();
    inspect_files(setup).await?;
    print_warnings(setup, setup.settings.budget.run_usd, RenderedBy::ThisProcess);
    print_plan(setup, "Nothing was spent.")?;
    Ok(Exit::Done)
}

/// Warns that a run to resume does not exist and is started; an error if its name looks mistyped.
fn warn_new_run(run: &RunId, runs_dir: &Path) -> Result<(), AppError> {
    if let Some(other) = nearest(runs_dir, run) {
        return Err(AppError::invalid(format!(
            "there is no run {run} in {}; did you mean {other}? Resume that with --resume \
             {other}, or start a new run with --run-id {run}",
            runs_dir.display()
        )));
    }
    if !terminal::is_quiet() {
        terminal::warn(&format!(
            "there is no run {run} in {} yet: starting it",
            runs_dir.display()
        ));
    }
    Ok(())
}
