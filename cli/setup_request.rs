//! Requests for run setups from flags, with their warnings and plans.

use crate::{args::RunFlags, exit::AppError, terminal};
use juror_analysis::format::counted;
use juror_app::{
    run::{
        run_setup::{ItemSelection, RenderedBy, RunSetup},
        run_setup_request::RunSetupRequest,
    },
    settings::{BaseLayers, Layer},
};
use juror_types::usage::Money;

impl RunFlags {
    /// The request of these flags, with the settings `layer`.
    pub fn setup_request<'a>(
        &self,
        layer: Layer,
        base: &'a BaseLayers,
        on_item: &'a (dyn Fn(Option<u64>) + Send + Sync),
    ) -> RunSetupRequest<'a> {
        let judging = &self.judging;
        RunSetupRequest {
            dataset: self.dataset.clone(),
            items: ItemSelection { outputs: self.output.clone(), ..judging.selection() },
            rubric: judging.rubric.clone(),
            run_id: self.resume.clone().or_else(|| self.run_id.clone()),
            budget_usd: self.budget_usd,
            rendered_by: RenderedBy::ThisProcess,
            evidence: judging.evidence,
            flags: layer,
            base,
            on_item,
        }
    }

    /// Warns of flags that have no effect because the judge is off.
    pub fn warn_without_judge(&self, setup: &RunSetup) {
        if terminal::is_quiet() || setup.priced_judge.is_some() {
            return;
        }
        let Self { judging, budget_usd, deadline, .. } = self;
        let flags = [
            ("--model", judging.model.is_some()),
            ("--lane", judging.lane.is_some()),
            ("--budget-usd", budget_usd.is_some()),
            ("--deadline", deadline.is_some()),
        ];
        let given: Vec<&str> =
            flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
        if !given.is_empty() {
            terminal::warn(&format!(
                "{} without effect: no model judges; add --enable-llm-judge",
                given.join(", ")
            ));
        }
    }
}

/// Prints the warnings of a setup, and a notice if its run has no budget.
pub fn print_warnings(setup: &RunSetup, budget: Option<Money>, by: RenderedBy) {
    if terminal::is_quiet() {
        return;
    }
    for warning in &setup.plan.warnings {
        terminal::print_notice(&format!("warning: {warning}"));
    }
    if let Some(reason) = setup.lacks_evidence(by) {
        terminal::warn(&format!(
            "evidence = \"{}\" measures nothing: {reason}",
            setup.settings.evidence.mode.name()
        ));
    }
    if setup.settings.makes_no_batch() {
        terminal::warn(
            "the deadline is nearer than batch.realtime_reserve: no batches are made, and every call \
             costs the realtime price",
        );
    }
    if setup.unjudged() > 0 {
        terminal::warn(&format!(
            "{} of {} items have no generated code: they are not judged and end as no_output",
            setup.unjudged(),
            setup.plan.items
        ));
    }
    if setup.priced_judge.is_some() && budget.is_none() {
        terminal::print_notice("no budget: spending is unlimited; set one with --budget-usd");
    }
}

/// Prints the plan of a run as text, followed by `ending`, or as JSON.
pub fn print_plan(setup: &RunSetup, ending: &str) -> Result<(), AppError> {
    let plan = &setup.plan;
    if terminal::is_json() {
        return terminal::print_json(&serde_json::json!({
            "dataset_items": plan.dataset_items, "items": plan.items, "jobs": plan.jobs,
            "digest": plan.digest, "rubric": setup.rubric.name(), "judge": setup.judge(),
        }));
    }
    let judge = setup.judge().map_or("off", |judge| judge.model.as_str());
    terminal::print(&format!(
        "{} of {} items are valid and would be judged in {}, by {}, judge: {judge}.\n{}{ending}",
        plan.items,
        plan.dataset_items,
        counted(plan.jobs, "job"),
        setup.rubric.name(),
        match plan.not_allowed {
            0 => String::new(),
            count =>
                format!("Of these, {} cannot be read by this process.\n", counted(count, "item")),
        },
    ))
}
