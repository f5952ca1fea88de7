//! `juror runs trend`: changes of metrics over runs of the same items, rubric and judge.

use crate::{
    args::TrendArguments,
    exit::{AppError, Exit},
    run_argument, terminal,
};
use juror_analysis::{
    history::{DeclineReport, DeclineWatch, PastRun, earlier_runs, runs_of_one_kind},
    metrics::MetricDefinition,
};
use juror_app::{
    rubrics,
    settings::{BaseLayers, Layer},
};
use juror_journal::journal::RunFiles;
use juror_report::render_trend;
use serde_json::json;
use std::{collections::BTreeMap, path::Path};

pub fn run(arguments: &TrendArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let newest = match &arguments.run {
        Some(run) => run_argument::open(run, base, Layer::default())?.files,
        None => newest(&base.resolve(Layer::default())?.run.runs_dir)?,
    };
    let (rubric, _) = rubrics::recorded(newest.record())?;
    let metrics = chosen(MetricDefinition::all(&rubric), &arguments.metrics)?;
    let mut runs = series(&newest, arguments.last)?;
    let declines = declines(&newest, &metrics, runs.last());
    for run in &mut runs {
        let path = &mut run.record.dataset.path;
        *path = terminal::relative_path(path);
    }
    if terminal::is_json() {
        let mut runs: Vec<_> = runs
            .iter()
            .map(|run| {
                json!({
                    "run_id": run.record.run_id, "created_at": run.record.created_at,
                    "figures": run.figures,
                })
            })
            .collect();
        if let Some(newest) = runs.last_mut().and_then(serde_json::Value::as_object_mut) {
            newest.insert("declines".to_owned(), json!(declines));
        }
        terminal::print_json(&runs)?;
    } else {
        terminal::print(&render_trend(&runs, &metrics, &declines, terminal::options()))?;
    }
    Ok(Exit::Done)
}

/// Decline reports by metric path, over all runs of the newest one's series.
fn declines(
    files: &RunFiles,
    metrics: &[MetricDefinition],
    newest: Option<&PastRun>,
) -> BTreeMap<String, DeclineReport> {
    let mut runs = runs_of_one_kind(files);
    runs.reverse();
    let runs_dir = files.directory().parent().unwrap_or(files.directory());
    let watch = DeclineWatch::default().anchored_at_blessed(runs_dir);
    let judge = |definition: &MetricDefinition| {
        let path = &definition.path;
        let newest = newest?.figures.point(&newest?.record.run_id, path)?;
        let earlier = runs.iter().filter_map(|run| run.figures.point(&run.record.run_id, path));
        let points: Vec<_> = earlier.chain([newest]).collect();
        Some((path.clone(), watch.watch(definition, &points, 1)))
    };
    metrics.iter().filter(|metric| metric.can_decline()).filter_map(judge).collect()
}

fn newest(runs_dir: &Path) -> Result<RunFiles, AppError> {
    let mut runs = super::files_in(runs_dir)?.into_iter().flatten();
    runs.find(|run| run.path_of("report.json").is_file()).ok_or_else(|| {
        AppError::invalid(format!(
            "no run in {} has a report; `juror demo` makes one",
            runs_dir.display()
        ))
    })
}

/// This run and those before it, oldest first.
fn series(newest: &RunFiles, last: u32) -> Result<Vec<PastRun>, AppError> {
    let own = PastRun::read_current(newest).map_err(AppError::internal)?.ok_or_else(|| {
        let run = &newest.record().run_id;
        AppError::invalid(format!(
            "run {run} has no report yet; write one with: juror report {run}"
        ))
    })?;
    let mut runs = vec![own];
    runs.extend(earlier_runs(newest, usize::try_from(last).unwrap_or(usize::MAX) - 1));
    runs.reverse();
    Ok(runs)
}

fn chosen(all: Vec<MetricDefinition>, paths: &[String]) -> Result<Vec<MetricDefinition>, AppError> {
    if let Some(unknown) = paths.iter().find(|path| all.iter().all(|each| each.path != **path)) {
        let known: Vec<_> = all.into_iter().map(|metric| metric.path).collect();
        return Err(AppError::invalid(format!(
            "these runs have no metric {unknown:?}; they have {}",
            known.join(", ")
        )));
    }
    let is_chosen = |metric: &MetricDefinition| paths.is_empty() || paths.contains(&metric.path);
    Ok(all.into_iter().filter(is_chosen).collect())
}
