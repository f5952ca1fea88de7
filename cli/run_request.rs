//! What the command line asks to be judged: its flags, and beside them what the record of a run
//! says that is to be continued.

use crate::{
    args::RunFlags,
    commands::rubric,
    exit::Failure,
    progress::DatasetProgress,
    session::{Selection, Session, difference},
    settings_sources as layers,
    settings_sources::BaseLayers,
    terminal as screen,
};
use juror_app::settings::{Layer, Settings};
use juror_producer::plan::ItemSample;
use juror_types::{
    id::{OwnerId, RunId},
    run::RunRecord,
};

/// What is asked for.
pub struct RunInvocation<'a> {
    /// The flags of the run.
    pub flags: &'a RunFlags,
    /// Every flag that was given, as settings.
    pub layers: Vec<Layer>,
    /// What stands below and above them.
    pub ground: &'a BaseLayers,
    /// Whether nothing but results and errors is shown.
    pub quiet: bool,
}

impl RunInvocation<'_> {
    /// The settings, as far as no record has a say in them.
    pub fn settings(&self) -> Result<Settings, Failure> {
        self.ground.settle(self.layers.clone())
    }

    /// The run that is named, to begin or to go on with.
    pub fn run_id(&self) -> Result<Option<RunId>, Failure> {
        let named = self.flags.resume.as_ref().or(self.flags.run_id.as_ref());
        named.map(|id| RunId::parse(id)).transpose().map_err(Failure::usage)
    }

    /// The session that is asked for. If it is to continue a known run, that must be the same run.
    pub fn session(&self, run: &RunId, known: Option<&RunRecord>) -> Result<Session, Failure> {
        let Some(record) = known.filter(|_| self.flags.dataset.is_none()) else {
            let session = self.session_of_flags(known)?;
            return match known.and_then(|known| difference(known, &session.record(run.clone()))) {
                None => Ok(session),
                Some(difference) => Err(Failure::usage(format!(
                    "run {run} exists and is another one: {difference}; take another --run-id"
                ))),
            };
        };
        let session = self.session_of_record(record)?;
        match difference(record, &session.record(run.clone())) {
            None => Ok(session),
            Some(difference) => Err(Failure::usage(format!(
                "run {run} cannot be resumed: {difference}; start a new run instead"
            ))),
        }
    }

    /// A run that is continued keeps its budget, limits, cache and endpoint, and goes on to keep
    /// inputs or not, unless flags say otherwise.
    fn session_of_flags(&self, known: Option<&RunRecord>) -> Result<Session, Failure> {
        let mut layers = known.map(layers_of_continued).unwrap_or_default();
        layers.extend(self.layers.iter().cloned());
        let mut settings = self.ground.settle(layers)?;
        let budget = known.and_then(|record| record.budget_usd);
        settings.budget.run_usd = settings.budget.run_usd.or(budget);
        let selection = Selection {
            dataset: self.flags.dataset.clone().unwrap_or_default(),
            sample: self.flags.judging.sample(),
            limit: self.flags.judging.limit,
            filters: self.flags.judging.filter.clone(),
            outputs: self.flags.output.clone(),
        };
        let rubric = rubric::load(&settings.run.rubric)?;
        Session::open(settings, rubric, selection, DatasetProgress::new(self.quiet))
    }

    /// What the flags do not say, the record does.
    fn session_of_record(&self, record: &RunRecord) -> Result<Session, Failure> {
        let mut layers = layers_of(record);
        // Flags win over the record, so that a difference in them is named.
        layers.extend(self.layers.iter().cloned());
        let settings = self.ground.settle(layers)?;
        let judging = &self.flags.judging;
        let filters = match judging.filter.as_slice() {
            [] => record.dataset.filters.clone(),
            given => given.to_vec(),
        };
        let recorded_sample = record
            .dataset
            .sample
            .map(|sample| ItemSample { items: sample.items, seed: sample.seed });
        let selection = Selection {
            dataset: record.dataset.path.clone().into(),
            sample: judging.sample().or(recorded_sample),
            limit: judging.limit.or(record.dataset.limit),
            filters,
            outputs: self.flags.output.clone(),
        };
        let rubric = match &judging.rubric {
            Some(rubric) => rubric::load(rubric)?,
            None => rubric::recorded(record)?,
        };
        Session::open(settings, rubric, selection, DatasetProgress::new(self.quiet))
    }
}

/// What a record says of settings.
fn layers_of(record: &RunRecord) -> Vec<Layer> {
    let mut layers = vec![
        Layer::of("run", "repeat", i64::from(record.repeat)),
        Layer::of("run", "enable_llm_judge", record.judge.is_some()),
    ];
    layers.extend(record.budget_usd.map(layers::budget));
    if let Some(judge) = &record.judge {
        let output = i64::from(judge.max_output_tokens);
        layers.push(Layer::of("judge", "model", judge.model.clone()));
        layers.push(Layer::of("judge", "detail", judge.detail.name()));
        layers.push(Layer::of("judge", "max_output_tokens", output));
        layers.push(Layer::of("judge", "strip_comments", judge.strip_comments));
        layers.extend(judge.temperature.map(|value| Layer::of("judge", "temperature", value)));
    }
    layers.extend(record.max_side.map(|side| Layer::of("image", "max_side", i64::from(side))));
    layers.extend(layers_of_continued(record));
    if !record.data_roots.is_empty() {
        layers.push(Layer::of("files", "data_roots", record.data_roots.clone()));
    }
    layers
}

/// Settings in a record that hold for every round of its run: limits, cache, endpoint, and whether
/// inputs are kept.
fn layers_of_continued(record: &RunRecord) -> Vec<Layer> {
    let base_url = record.base_url.clone().map(|url| Layer::of("judge", "base_url", url));
    let mut layers = vec![
        Layer::of("run", "keep_inputs", record.keep_inputs),
        Layer::of("run", "lane", record.lane.name()),
    ];
    layers.extend(base_url);
    let Some(calls) = record.calls else { return layers };
    let limits =
        [("rpm", calls.rpm), ("tpm", calls.tpm), ("max_concurrency", calls.max_concurrency)];
    let limit = |(key, limit): (&str, Option<u64>)| {
        Some(Layer::of("limits", key, i64::try_from(limit?).unwrap_or(i64::MAX)))
    };
    let limits = limits.into_iter().filter_map(limit);
    let cache = Layer::of("cache", "enabled", calls.cache);
    layers.extend(limits.chain([cache]));
    layers
}

/// Date and time, and enough chance that two runs of one second have two names.
pub fn new_run_id(prefix: &str) -> RunId {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let owner = OwnerId::random();
    let chance: String = owner.as_str().chars().rev().take(4).collect();
    RunId::new(format!("{prefix}{now}-{chance}"))
}

/// Says what the first pass warns of, and that a run without a budget has none.
pub fn tell_warnings(session: &Session, quiet: bool) {
    if quiet {
        return;
    }
    for warning in &session.plan.warnings {
        screen::tell(&format!("warning: {warning}"));
    }
    if session.unjudged() > 0 {
        screen::warn(&format!(
            "{} of {} items have no generated code: nothing is judged there, and they end as \
             no_output",
            session.unjudged(),
            session.plan.items
        ));
    }
    if session.candidate.is_some() && session.settings.budget.run_usd.is_none() {
        screen::tell("no budget: spending is unlimited; set one with --budget-usd");
    }
}

/// What would be judged, for people or as JSON; `ending` says to people what was not done.
pub fn print_plan(session: &Session, ending: &str, json: bool) -> Result<(), Failure> {
    let plan = &session.plan;
    if json {
        return screen::print_json(&serde_json::json!({
            "dataset_items": plan.dataset_items, "items": plan.items, "jobs": plan.jobs,
            "digest": plan.digest, "rubric": session.rubric.name(), "judge": session.judge(),
        }));
    }
    let judge = session.judge().map_or("off", |judge| judge.model.as_str());
    screen::print(&format!(
        "{} of {} items are sound and would be judged in {} jobs, by {}, judge: {judge}.\n{ending}",
        plan.items,
        plan.dataset_items,
        plan.jobs,
        session.rubric.name(),
    ))
}
