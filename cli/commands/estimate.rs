//! `juror estimate`: tokens, cost and time of a run.

mod table;

use crate::{
    args::{EstimateArguments, GlobalFlags},
    exit::{Exit, Failure},
    progress::{DatasetProgress, Progress, ProgressDisplay, ProgressTask, RunTally},
    settings_sources, terminal,
};
use juror_app::{
    estimate::{EstimateProgress, Estimation, Examine},
    rubrics,
    run::session::{DrawingPlace, Selection, Session},
    settings::Layer,
};

pub async fn run(arguments: &EstimateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut flags = [arguments.judging.layers(), arguments.calling.layers()].concat();
    // An estimate is of the judge, and makes no call.
    flags.push(Layer::from_value("run", "enable_llm_judge", true));
    let base = settings_sources::read(global)?;
    let settings = base.settle(flags)?;
    let selection = Selection {
        dataset: arguments.dataset.clone(),
        sample: arguments.judging.sample(),
        until_width: None,
        limit: arguments.judging.limit,
        filters: arguments.judging.filter.clone(),
        outputs: Vec::new(),
    };
    let rubric = rubrics::of_settings(&settings)?;
    let checking = DatasetProgress::new(global.quiet || global.json);
    let on_item = &mut |items| checking.advance_to(items);
    let session = Session::open(settings, base.environment().clone(), rubric, selection, on_item);
    checking.end();
    let session = session?;
    session.require_renderer(arguments.judging.evidence, DrawingPlace::Here)?;
    let examine = if arguments.all_items { Examine::All } else { Examine::Sample };
    let style = ProgressDisplay::for_estimate(global.quiet || global.json);
    let mut progress = Progress::new(style, ProgressTask::Estimating);
    let mut on_progress = |EstimateProgress { examined, to_examine }| {
        if examined == 0 {
            progress.set(RunTally { planned: to_examine, ..RunTally::default() });
        } else {
            progress.advance_to(examined);
        }
    };
    let estimation =
        Estimation::new(&session, arguments.all_models, examine, &mut on_progress).await?;
    progress.end();
    let table = table::EstimateTable(&estimation);
    if global.json {
        terminal::print_json(&table.json())?;
    } else {
        terminal::print(&table.text())?;
    }
    Ok(Exit::Done)
}
