//! A request for the setup of a run: to judge a dataset, or to continue a run by its record.

use super::run_setup::{ItemSelection, RenderedBy, RunSetup};
use crate::{
    error::AppError,
    local_ledger::recorded_folder,
    rubrics,
    settings::{BaseLayers, Layer, Settings},
};
use jiff::Timestamp;
use juror_analysis::sequential_sampling::INITIAL_SAMPLE;
use juror_ledger::admission::BudgetCalendar;
use juror_producer::plan::ItemSample;
use juror_types::{
    budget_label::BudgetLabel,
    evidence::EvidenceMode,
    id::{OwnerId, RunId},
    rubric::Rubric,
    run::{DecisionTerms, RunRecord},
    usage::Money,
};
use std::path::PathBuf;

/// A request for the setup of a run, with its layers of settings. From here a run becomes a
/// [`RunSetup`], and then a local run or a run to publish.
pub struct RunSetupRequest<'a> {
    /// Path of the dataset; none for that of the record.
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
    pub layers: Vec<Layer>,
    /// Settings below and above them.
    pub base: &'a BaseLayers,
    /// Called with the count of items that are checked so far, and with none at the end of the
    /// check.
    pub on_item: &'a (dyn Fn(Option<u64>) + Send + Sync),
}

impl RunSetupRequest<'_> {
    /// The settings, before those of a record are considered.
    pub fn settings(&self) -> Result<Settings, AppError> {
        self.resolve(Vec::new(), None)
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
        let Some(record) = known.filter(|_| self.dataset.is_none()) else {
            let setup = self.setup_of_flags(known)?;
            return match known.and_then(|known| known.difference(&setup.record(run.clone()))) {
                None => Ok(setup),
                Some(difference) => Err(AppError::invalid(format!(
                    "run {run} exists with other settings: {difference}; use another --run-id"
                ))),
            };
        };
        let setup = self.setup_of_record(record)?;
        match record.difference(&setup.record(run.clone())) {
            None => Ok(setup),
            Some(difference) => Err(AppError::invalid(format!(
                "run {run} cannot be resumed: {difference}; start a new run instead"
            ))),
        }
    }

    /// The request's settings over those of a record, with its budget, or else the record's.
    fn resolve(&self, below: Vec<Layer>, known: Option<&RunRecord>) -> Result<Settings, AppError> {
        // Flags win over the record, so that a difference in them is named.
        let layers = below.into_iter().chain(self.layers.iter().cloned()).collect();
        let budget = self.budget_usd.or(known.and_then(|record| record.budget_usd));
        Ok(self.base.resolve(layers)?.with_run_budget(budget)?)
    }

    /// Setup from flags. A continued run keeps its budget, limits, cache, endpoint and stored
    /// inputs, unless flags change them.
    fn setup_of_flags(&self, known: Option<&RunRecord>) -> Result<RunSetup, AppError> {
        let below = known.map(layers_of_continued).unwrap_or_default();
        let settings = self.resolve(below, known)?;
        let items = &self.items;
        let growing = items.until_width.map(|_| grown_sample(known).unwrap_or(first_sample()));
        let selection = ItemSelection { sample: growing.or(items.sample), ..items.clone() };
        let rubric = rubrics::from_settings(&settings)?;
        self.open(settings, rubric, self.dataset.clone().unwrap_or_default(), selection)
    }

    /// Setup from the flags, and from the record where they are absent.
    fn setup_of_record(&self, record: &RunRecord) -> Result<RunSetup, AppError> {
        let settings = self.resolve(layers_of(record), Some(record))?;
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
        let environment = self.base.environment().clone();
        let on_item = &mut |items| (self.on_item)(Some(items));
        let setup = RunSetup::open(settings, environment, rubric, dataset, selection, on_item);
        (self.on_item)(None);
        setup
    }
}

/// Settings that every command on a run of one machine shares, as its record has them: its ledger,
/// if that is still in its folder, and what decides its exit code.
pub fn shared_layers(record: &RunRecord) -> Vec<Layer> {
    let ledger = recorded_folder(record);
    let ledger = ledger.map(|folder| Layer::from_value("run", "state_dir", folder));
    ledger.into_iter().chain(decision_layers(record)).collect()
}

/// Date and time, and enough chance that two runs of one second have two names.
pub fn new_run_id(prefix: &str) -> RunId {
    let now = Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let owner = OwnerId::random();
    let chance: String = owner.as_str().chars().rev().take(4).collect();
    RunId::new(format!("{prefix}{now}-{chance}"))
}

fn decision_layers(record: &RunRecord) -> Vec<Layer> {
    let Some(DecisionTerms { gate, margin, strict, max_lost, .. }) = &record.decision else {
        return Vec::new();
    };
    let mut layers = vec![
        Layer::from_value("compare", "margin", *margin),
        Layer::from_value("compare", "strict", *strict),
        Layer::from_value("compare", "max_lost", *max_lost),
    ];
    layers.extend(gate.clone().map(|gate| Layer::from_value("run", "gate", gate)));
    let baseline = record.baseline.clone();
    layers.extend(baseline.map(|baseline| Layer::from_value("run", "baseline", baseline)));
    layers
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

/// Settings in a record.
fn layers_of(record: &RunRecord) -> Vec<Layer> {
    let mut layers = vec![
        Layer::from_value("run", "repeat", i64::from(record.repeat)),
        Layer::from_value("run", "enable_llm_judge", record.judge.is_some()),
        Layer::from_value("evidence", "mode", record.evidence.name()),
    ];
    if let Some(judge) = &record.judge {
        let output = i64::from(judge.max_output_tokens);
        layers.push(Layer::from_value("judge", "model", judge.model.clone()));
        layers.push(Layer::from_value("judge", "detail", judge.detail.name()));
        layers.push(Layer::from_value("judge", "max_output_tokens", output));
        layers.push(Layer::from_value("judge", "strip_comments", judge.strip_comments));
        layers.extend(
            judge.temperature.map(|value| Layer::from_value("judge", "temperature", value)),
        );
    }
    layers.extend(
        record.max_side.map(|side| Layer::from_value("image", "max_side", i64::from(side))),
    );
    layers.extend(layers_of_continued(record));
    if !record.data_roots.is_empty() {
        layers.push(Layer::from_value("files", "data_roots", record.data_roots.clone()));
    }
    layers
}

/// Settings in a record that hold for every round of its run: limits, cache, endpoint, budget tags,
/// ledger, gate and comparison, and whether inputs are kept.
fn layers_of_continued(record: &RunRecord) -> Vec<Layer> {
    let base_url = record.base_url.clone().map(|url| Layer::from_value("judge", "base_url", url));
    let mut layers = vec![
        Layer::from_value("run", "keep_inputs", record.keep_inputs),
        Layer::from_value("run", "lane", record.lane.name()),
        layer_of_tags(record),
    ];
    layers.extend(base_url);
    layers.extend(shared_layers(record));
    let Some(calls) = record.calls else { return layers };
    let limits =
        [("rpm", calls.rpm), ("tpm", calls.tpm), ("max_concurrency", calls.max_concurrency)];
    let limit = |(key, limit): (&str, Option<u64>)| {
        Some(Layer::from_value("limits", key, i64::try_from(limit?).unwrap_or(i64::MAX)))
    };
    let limits = limits.into_iter().filter_map(limit);
    let cache = Layer::from_value("cache", "enabled", calls.cache);
    layers.extend(limits.chain([cache]));
    layers
}

/// Tags of a record.
fn layer_of_tags(record: &RunRecord) -> Layer {
    let tags = record.budget_labels.iter().filter_map(|label| match label {
        BudgetLabel::Tag(name) => Some(String::from(name.clone())),
        BudgetLabel::Dataset(_) => None,
    });
    let tags: Vec<String> = tags.collect();
    Layer::from_value("budget", "tags", tags)
}
