//! Validation of run requests against the settings of this process.

use super::dataset_roots::DatasetRoots;
use crate::{
    error::AppError,
    judge::prices,
    reporting::run_lookup::find_run,
    run::{
        run_setup::{ItemSelection, RenderedBy, RunSetup, absolute},
        run_setup_request::RunSetupRequest,
    },
    run_request::{RequestDefaults, RequestField, RunRequest},
    settings::{BaseLayers, Layer, MAX_REPEATS, Settings, integer},
};
use juror_producer::plan::ItemSample;
use juror_types::{
    evidence::EvidenceMode,
    id::RunId,
    lane::Lane,
    rubric::{builtin, builtin_named},
    run::RunRecord,
    usage::Money,
};

/// Validator of run requests.
pub struct RunRequestValidator {
    base: BaseLayers,
    /// The flags of the command.
    flags: Layer,
    settings: Settings,
    roots: DatasetRoots,
}

impl RunRequestValidator {
    /// A validator with the settings of the server.
    pub fn new(base: BaseLayers, flags: Layer, settings: Settings) -> Self {
        let roots = DatasetRoots::new(settings.files.data_roots.clone());
        Self { base, flags, settings, roots }
    }

    /// True if runs are judged by a fleet.
    pub fn has_fleet(&self) -> bool {
        self.settings.fleet.broker.is_some() && self.settings.fleet.redis.is_some()
    }

    fn rendered_by(&self) -> RenderedBy {
        if self.has_fleet() { RenderedBy::Workers } else { RenderedBy::ThisProcess }
    }

    /// The server's own settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Names of the datasets in the data roots.
    pub fn datasets(&self) -> Vec<String> {
        self.roots.list()
    }

    /// Values of the settings for omitted fields of a request.
    pub fn defaults(&self) -> RequestDefaults {
        let Settings { run, judge, budget, evidence, .. } = &self.settings;
        RequestDefaults {
            rubric: run.rubric.clone(),
            model: judge.model.clone(),
            lane: run.lane,
            repeat: run.repeat,
            keep_inputs: run.keep_inputs,
            evidence: evidence.mode,
            baseline: run.baseline().map(str::to_owned),
            max_budget_usd: budget.run_usd,
        }
    }

    /// Refuses a judged run without a budget, and a budget above `budget.run_usd`.
    pub fn check_budget(&self, judged: bool, budget: Option<Money>) -> Result<(), AppError> {
        match (budget, self.settings.budget.run_usd) {
            (None, _) if judged => Err(AppError::for_field(
                RequestField::BudgetUsd,
                "a run that a vision model judges needs a budget",
            )),
            (Some(budget), Some(most)) if budget > most => Err(AppError::for_field(
                RequestField::BudgetUsd,
                format!(
                    "${budget} exceeds the maximum budget of a run here, ${most} (setting \
                     budget.run_usd)"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Setup of a request, after all checks without cost. Reads the whole manifest and so blocks.
    pub fn setup(&self, requested: &RunRequest, run: &RunId) -> Result<RunSetup, AppError> {
        let dataset = self.roots.resolve(&requested.dataset)?;
        check_names(requested)?;
        self.check_baseline(requested.baseline.as_deref())?;
        if let Some(model) = requested.model.as_deref().filter(|_| requested.enable_llm_judge) {
            let price = prices(&self.settings).require(model).map(drop);
            price.map_err(|error| AppError::for_field(RequestField::Model, error.to_string()))?;
        }
        let items = ItemSelection {
            sample: requested
                .sample
                .map(|items| ItemSample { items, seed: requested.seed.unwrap_or_default() }),
            until_width: None,
            limit: requested.limit,
            filters: requested.filters.clone(),
            outputs: Vec::new(),
        };
        let setup_request = RunSetupRequest {
            dataset: Some(dataset),
            items,
            rubric: requested.rubric.clone(),
            run_id: None,
            budget_usd: requested.budget_usd,
            rendered_by: self.rendered_by(),
            evidence: requested.evidence,
            flags: self.layer(requested),
            base: &self.base,
            on_item: &|_| (),
        };
        setup_request.setup(run, None)
    }

    /// The setup of a resumed run. Blocks as [`RunRequestValidator::setup`] does.
    pub fn resumed(&self, record: &RunRecord, budget: Option<Money>) -> Result<RunSetup, AppError> {
        let mut setup_request = self.resuming(record, budget);
        // The run's data roots come before the server's.
        let known = &record.data_roots;
        let own = self.settings.files.data_roots.iter().map(|root| absolute(root));
        let own = own.filter(|root| !known.contains(root));
        let roots: Vec<String> = known.iter().cloned().chain(own).collect();
        setup_request.flags = setup_request.flags.with("files.data_roots", Some(roots));
        let setup = setup_request.setup(&record.run_id, Some(record))?;
        let judged = setup.priced_judge.is_some();
        self.check_budget(judged && setup.settings.budget.run_usd.is_none(), budget)?;
        Ok(setup)
    }

    /// The request that resumes a run.
    pub fn resuming(&self, record: &RunRecord, budget_usd: Option<Money>) -> RunSetupRequest<'_> {
        RunSetupRequest {
            dataset: None,
            items: ItemSelection::default(),
            rubric: None,
            run_id: Some(record.run_id.to_string()),
            budget_usd,
            rendered_by: self.rendered_by(),
            evidence: None,
            flags: self.flags.clone(),
            base: &self.base,
            on_item: &|_| (),
        }
    }

    /// Refuses a baseline that is not in the runs directory: a request cannot name a path.
    fn check_baseline(&self, named: Option<&str>) -> Result<(), AppError> {
        let Some(named) = named.filter(|named| !named.is_empty()) else { return Ok(()) };
        let found = RunId::parse(named)
            .map_err(AppError::invalid)
            .and_then(|_| find_run(named, &self.settings.run.runs_dir));
        found.map(drop).map_err(|error| {
            AppError::for_field(
                RequestField::Baseline,
                format!("give the name of a blessed run, or the id of a run ({error})"),
            )
        })
    }

    /// The server's flags and the settings of a request, with limits within the server's own.
    fn layer(&self, requested: &RunRequest) -> Layer {
        let count = |count: Option<usize>| count.map(|count| count as u64);
        let limit = |requested: Option<u64>, own: Option<u64>| {
            requested.map(|requested| integer(requested.min(own.unwrap_or(u64::MAX))))
        };
        let limits = &self.settings.limits;
        let max_concurrency =
            limit(count(requested.max_concurrency), count(limits.max_concurrency));
        let flags = self.flags.clone();
        flags
            .with("run.rubric", requested.rubric.clone())
            .with("run.repeat", requested.repeat)
            .with("run.lane", requested.lane.map(Lane::name))
            .with("run.keep_inputs", requested.keep_inputs)
            .with("run.baseline", requested.baseline.clone())
            // Set in either case, since the settings of the server may enable it.
            .with("run.enable_llm_judge", Some(requested.enable_llm_judge))
            .with("judge.model", requested.model.clone())
            .with("evidence.mode", requested.evidence.map(EvidenceMode::name))
            .with("limits.rpm", limit(requested.rpm, limits.rpm))
            .with("limits.tpm", limit(requested.tpm, limits.tpm))
            .with("limits.max_concurrency", max_concurrency)
    }
}

/// Refuses a rubric that is not built in, such as a file of the server, and too many repeats.
fn check_names(requested: &RunRequest) -> Result<(), AppError> {
    match &requested.rubric {
        Some(rubric) if builtin_named(rubric).is_none() => {
            let known: Vec<_> = builtin().iter().map(|rubric| rubric.id).collect();
            let message =
                format!("there is no built-in rubric {rubric:?}: use {}", known.join(" or "));
            return Err(AppError::for_field(RequestField::Rubric, message));
        }
        _ => {}
    }
    match requested.repeat {
        Some(repeat) if repeat > MAX_REPEATS => Err(AppError::for_field(
            RequestField::Repeat,
            format!("{repeat} exceeds the maximum of {MAX_REPEATS} judgments of an item"),
        )),
        _ => Ok(()),
    }
}
