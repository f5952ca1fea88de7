//! `juror estimate`: what a run would take.

mod table;

use crate::{
    args::{EstimateArguments, GlobalFlags},
    commands::rubric,
    estimate::{Estimation, Examine},
    exit::{Exit, Failure},
    progress::{DatasetProgress, Doing, Progress, ProgressDisplay},
    session::{Selection, Session},
    settings_sources as layers, terminal as screen,
};
use juror_app::settings::Layer;

/// Runs `juror estimate`.
pub async fn run(arguments: &EstimateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut flags = [arguments.judging.layers(), arguments.calling.layers()].concat();
    // An estimate is of the judge; asking nobody, it needs no leave.
    flags.push(Layer::of("run", "enable_llm_judge", true));
    let settings = layers::settle(global, flags)?;
    let selection = Selection {
        dataset: arguments.dataset.clone(),
        sample: arguments.judging.sample(),
        limit: arguments.judging.limit,
        filters: arguments.judging.filter.clone(),
        outputs: Vec::new(),
    };
    let rubric = rubric::load(&settings.run.rubric)?;
    let session = Session::open(
        settings,
        rubric,
        selection,
        DatasetProgress::new(global.quiet || global.json),
    )?;
    let examine = if arguments.all_items { Examine::All } else { Examine::Sample };
    let style = ProgressDisplay::of_an_estimate(global.quiet || global.json);
    let mut progress = Progress::new(style, Doing::Estimating);
    let estimation =
        Estimation::new(&session, arguments.all_models, examine, &mut progress).await?;
    progress.end();
    if global.json {
        screen::print_json(&estimation.json())?;
    } else {
        screen::print(&estimation.text())?;
    }
    Ok(Exit::Done)
}
