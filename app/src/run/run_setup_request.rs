//! A request for the setup of a run: to judge a dataset, or to continue a run by its record.

use super::run_setup::{ItemSelection, RenderedBy, RunSetup};
use crate::{
    error::AppError,
    recorded_settings::{layer_of_every_round, layer_of_resumed_run, shared_layer},
    rubrics,
    settings::{BaseLayers, Layer, Settings},
};
use jiff::Timestamp;
use juror_analysis::sequential_sampling::INITIAL_SAMPLE;
use juror_ledger::admission::BudgetCalendar;
use juror_producer::plan::ItemSample;
use juror_types::{
    evidence::EvidenceMode,
    id::{OwnerId, RunId},
    rubric::Rubric,
    run::RunRecord,
    usage::Money,
};
use std::path::PathBuf;

/// A request for the setup of a run, with its settings. From here a run becomes a
/// [`RunSetup`], and then a local run or a run to publish.
pub struct RunSetupRequest<'a> {
    /// Path of the dataset; `None` for that of the record.
    pub dataset: Option<PathBuf>,
    /// Selection of its items.
    pub items: ItemSelection,
    /// The rubric's name or file, where it is named beside the settings.
    pub rubric: Option<String>,
    /// The run to begin or to continue, if it is named.
    pub run_id: Option<String>,
    /// The run's budget, if one is given.
    pub budget_usd: Option<Money>,
    /// Processes that render.
    pub rendered_by: RenderedBy,
    /// The mode of evidence, where it is named beside the settings.
    pub evidence: Option<EvidenceMode>,
    /// Settings of this request alone.
    pub flags: Layer,
    /// Settings below and above them.
    pub base: &'a BaseLayers,
    /// Called with the count of items that are checked so far, and with none at the end of the
    /// check.
    pub on_item: &'a (dyn Fn(Option<u64>) + Send + Sync),
}

impl RunSetupRequest<'_> {
    /// The settings, before those of a record are considered.
    pub fn settings(&self) -> Result<Settings, AppError> {
        self.resolve(Layer::default(), None)
    }

    /// The settings for a known run: its gate, its baseline and the terms of their comparison, unless
    /// the request names others.
    pub fn settings_for(&self, known: &RunRecord) -> Result<Settings, AppError> {
        self.resolve(shared_layer(known), Some(known))
    }

    /// Name of the run to start or to continue, if given. `{date}` in it is the current date, as in
    /// 2026-11-23, in the time zone of budgets.
    pub fn run_id(&self, settings: &Settings) -> Result<Option<RunId>, AppError> {
        let Some(name) = &self.run_id else { return Ok(None) };
        let calendar = settings.budget.zone.clone().unwrap_or(BudgetCalendar::UTC);
        let today = calendar.local_time(Timestamp::now()).date();
        let name = name.replace("{date}", &today.to_string());
        RunId::parse(&name).map(Some).map_err(AppError::invalid)
    }

    /// Requested setup, unless it requires evidence that no item can have. To continue a known run,
    /// it must be the same run.
    pub fn setup(&self, run: &RunId, known: Option<&RunRecord>) -> Result<RunSetup, AppError> {
        let setup = self.known_setup(run, known)?;
        setup.require_renderer(self.evidence, self.rendered_by)?;
        Ok(setup)
    }

    fn known_setup(&self, run: &RunId, known: Option<&RunRecord>) -> Result<RunSetup, AppError> {
        let setup = match known.filter(|_| self.dataset.is_none()) {
            Some(record) => self.setup_of_record(record)?,
            None => self.setup_of_flags(known)?,
        };
        match known.and_then(|known| known.difference(&setup.record_like(known))) {
            None => Ok(setup),
            Some(difference) if self.dataset.is_none() => Err(AppError::invalid(format!(
                "run {run} cannot be resumed: {difference}; start a new run instead"
            ))),
            Some(difference) => Err(AppError::invalid(format!(
                "run {run} exists with other settings: {difference}; use another --run-id"
            ))),
        }
    }

    /// The request's settings over those of a record, with its budget, or else the record's.
    fn resolve(&self, recorded: Layer, known: Option<&RunRecord>) -> Result<Settings, AppError> {
        // Flags win over the record, so that a difference in them is named.
        let flags = recorded.overlaid_with(self.flags.clone());
        let budget = self.budget_usd.or(known.and_then(|record| record.budget_usd));
        Ok(self.base.resolve(flags)?.with_run_budget(budget)?)
    }

    /// Setup from flags. A continued run keeps its budget, limits, cache, endpoint and stored
    /// inputs, unless flags change them.
    fn setup_of_flags(&self, known: Option<&RunRecord>) -> Result<RunSetup, AppError> {
        let recorded = known.map(layer_of_every_round).unwrap_or_default();
        let settings = self.resolve(recorded, known)?;
        let items = &self.items;
        let growing = items.until_width.map(|_| grown_sample(known).unwrap_or(first_sample()));
        let selection = ItemSelection { sample: growing.or(items.sample), ..items.clone() };
        let rubric = rubrics::from_settings(&settings)?;
        self.open(settings, rubric, self.dataset.clone().unwrap_or_default(), selection)
    }

    /// Setup from the flags, and from the record where they are absent.
    fn setup_of_record(&self, record: &RunRecord) -> Result<RunSetup, AppError> {
        let settings = self.resolve(layer_of_resumed_run(record), Some(record))?;
        let ItemSelection { sample, until_width, limit, filters, outputs } = self.items.clone();
        let recorded = record.dataset.sample;
        let recorded_sample =
            recorded.map(|sample| ItemSample { items: sample.items, seed: sample.seed });
        let selection = ItemSelection {
            // A fixed sample differs from a growing one; `difference` reports it.
            sample: sample.or(recorded_sample).or(until_width.map(|_| first_sample())),
            until_width: until_width.or(recorded.and_then(|sample| sample.until_width)),
            limit: limit.or(record.dataset.limit),
            filters: if filters.is_empty() { record.dataset.filters.clone() } else { filters },
            outputs,
        };
        let rubric = match &self.rubric {
            Some(_) => rubrics::from_settings(&settings)?,
            None => rubrics::recorded(record)?,
        };
        self.open(settings, rubric, record.dataset.path.clone().into(), selection)
    }

    fn open(
        &self,
        settings: Settings,
        rubric: (Rubric, String),
        dataset: PathBuf,
        selection: ItemSelection,
    ) -> Result<RunSetup, AppError> {
        let environment = self.base.environment.clone();
        let on_item = &mut |items| (self.on_item)(Some(items));
        let setup = RunSetup::open(settings, environment, rubric, dataset, selection, on_item);
        (self.on_item)(None);
        setup
    }
}

/// Date and time, and enough chance that two runs of one second have two names.
pub fn new_run_id(prefix: &str) -> RunId {
    let now = Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let owner = OwnerId::random();
    let chance: String = owner.as_str().chars().rev().take(4).collect();
    RunId::new(format!("{prefix}{now}-{chance}"))
}

/// The sample of the first look at a run that is judged until its score is certain.
fn first_sample() -> ItemSample {
    ItemSample { items: INITIAL_SAMPLE, seed: 0 }
}

/// The sample that a run has grown to.
fn grown_sample(known: Option<&RunRecord>) -> Option<ItemSample> {
    let sample = known?.dataset.sample.filter(|sample| sample.until_width.is_some())?;
    Some(ItemSample { items: sample.items, seed: sample.seed })
}
