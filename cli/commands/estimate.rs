//! `juror estimate`: tokens, cost and time of a run.

mod table;

use crate::{
    args::{EstimateArguments, RunFlags},
    exit::{AppError, Exit},
    progress::{DatasetProgress, Progress, ProgressDisplay, ProgressTask, RunTally},
    terminal,
};
use juror_app::{
    estimate::{EstimateProgress, Estimation, Examine},
    settings::BaseLayers,
};
use juror_types::id::RunId;

pub async fn run(arguments: &EstimateArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = arguments.judging.layer().overlaid_with(arguments.calling.layer());
    // An estimate is of the judge, and makes no call.
    let flags = flags.with("run.enable_llm_judge", Some(true));
    let checking = DatasetProgress::new(ProgressDisplay::for_estimate());
    let on_item = |items| checking.show(items);
    let run = RunFlags {
        dataset: Some(arguments.dataset.clone()),
        judging: arguments.judging.clone(),
        ..RunFlags::default()
    };
    let setup = run.setup_request(flags, base, &on_item).setup(&RunId::new("estimate"), None)?;
    let examine = if arguments.all_items { Examine::All } else { Examine::Sample };
    let style = ProgressDisplay::for_estimate();
    let mut progress = Progress::new(style, ProgressTask::Estimating);
    let mut on_progress = |EstimateProgress { examined, to_examine }| {
        if examined == 0 {
            progress.set(RunTally { planned: to_examine, ..RunTally::default() });
        } else {
            progress.advance_to(examined);
        }
    };
    let estimation =
        Estimation::new(&setup, arguments.all_models, examine, &mut on_progress).await?;
    progress.end();
    let table = table::EstimateTable(&estimation);
    terminal::print_result(&table.json(), || table.text())?;
    Ok(Exit::Done)
}
