//! Turns what is asked for over HTTP into a session, by the settings of this process.

use super::roots::DatasetRoots;
use crate::{
    args::{JudgingFlags, RunFlags},
    exit::{Exit, Failure},
    judge::prices,
    run_request::RunInvocation,
    session::{Session, absolute},
    settings_sources::BaseLayers,
};
use juror_app::settings::{Layer, Settings};
use juror_server::launcher::{LaunchRefusal, RequestDefaults, RequestField, RunSpecification};
use juror_types::{
    id::RunId,
    rubric::{builtin, builtin_named},
    run::RunRecord,
    usage::Money,
};
use std::path::PathBuf;

/// More repeats of an item tell nothing more.
const MAX_REPEATS: u32 = 100;

/// What requests are measured by.
pub struct RunRequestValidator {
    ground: BaseLayers,
    /// The flags of the command.
    flags: Vec<Layer>,
    settings: Settings,
    roots: DatasetRoots,
}

impl RunRequestValidator {
    /// By the settings of the server.
    pub fn new(ground: BaseLayers, flags: Vec<Layer>, settings: Settings) -> Self {
        let roots = DatasetRoots::new(settings.files.data_roots.clone());
        Self { ground, flags, settings, roots }
    }

    /// The server's own settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Datasets that may be named.
    pub fn datasets(&self) -> Vec<String> {
        self.roots.list()
    }

    /// Values of the settings for what a request leaves out.
    pub fn defaults(&self) -> RequestDefaults {
        let Settings { run, judge, budget, .. } = &self.settings;
        RequestDefaults {
            rubric: run.rubric.clone(),
            model: judge.model.clone(),
            repeat: run.repeat,
            keep_inputs: run.keep_inputs,
            max_budget_usd: budget.run_usd,
        }
    }

    /// Refuses a judged run without a budget, and one beyond what a run may cost here.
    pub fn check_budget(&self, judged: bool, budget: Option<Money>) -> Result<(), LaunchRefusal> {
        match (budget, self.settings.budget.run_usd) {
            (None, _) if judged => Err(LaunchRefusal::of_field(
                RequestField::BudgetUsd,
                "a run that a vision model judges needs a budget, the most that it may cost",
            )),
            (Some(budget), Some(most)) if budget > most => Err(LaunchRefusal::of_field(
                RequestField::BudgetUsd,
                format!(
                    "a run may cost ${most} here at most (setting budget.run_usd), and this one \
                     asks for ${budget}"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The session that is asked for, checked as far as that costs nothing. Reads the whole
    /// manifest: call it where blocking is allowed.
    pub fn session(&self, asked: &RunSpecification, run: &RunId) -> Result<Session, LaunchRefusal> {
        let dataset = self.roots.resolve(&asked.dataset)?;
        check_names(asked)?;
        if let Some(model) = asked.model.as_deref().filter(|_| asked.enable_llm_judge) {
            let price = prices(&self.settings).require(model).map(drop);
            price
                .map_err(|error| LaunchRefusal::of_field(RequestField::Model, error.to_string()))?;
        }
        let flags = flags_of(asked, dataset);
        let mut layers = [self.flags.clone(), flags.layers(), self.limits(asked)].concat();
        // Said either way: the settings of the server may have it on.
        layers.push(Layer::of("run", "enable_llm_judge", asked.enable_llm_judge));
        layers.extend(asked.keep_inputs.map(|keep| Layer::of("run", "keep_inputs", keep)));
        let asked = RunInvocation { flags: &flags, layers, ground: &self.ground, quiet: true };
        asked.session(run, None).map_err(refusal)
    }

    /// The session of a run that goes on. Reads as [`RunRequestValidator::session`] does.
    pub fn resumed(
        &self,
        record: &RunRecord,
        budget: Option<Money>,
    ) -> Result<Session, LaunchRefusal> {
        let flags = resuming(record, budget);
        let mut asked = self.asked(&flags);
        // Its files lie where they lay; those of the server come after.
        let known = &record.data_roots;
        let own = self.settings.files.data_roots.iter().map(|root| absolute(root));
        let own = own.filter(|root| !known.contains(root));
        let roots: Vec<String> = known.iter().cloned().chain(own).collect();
        asked.layers.push(Layer::of("files", "data_roots", roots));
        let session = asked.session(&record.run_id, Some(record)).map_err(refusal)?;
        let judged = session.candidate.is_some();
        self.check_budget(judged && session.settings.budget.run_usd.is_none(), budget)?;
        Ok(session)
    }

    /// What these flags ask for, over those of the server.
    pub fn asked<'a>(&'a self, flags: &'a RunFlags) -> RunInvocation<'a> {
        let layers = [self.flags.clone(), flags.layers()].concat();
        RunInvocation { flags, layers, ground: &self.ground, quiet: true }
    }

    /// What is asked for within the server's own limits.
    fn limits(&self, asked: &RunSpecification) -> Vec<Layer> {
        let own = &self.settings.limits;
        let count = |asked: Option<usize>| asked.map(|count| count as u64);
        [
            ("rpm", asked.rpm, own.rpm),
            ("tpm", asked.tpm, own.tpm),
            ("max_concurrency", count(asked.max_concurrency), count(own.max_concurrency)),
        ]
        .into_iter()
        .filter_map(|(key, asked, own)| {
            let most = asked?.min(own.unwrap_or(u64::MAX));
            Some(Layer::of("limits", key, i64::try_from(most).unwrap_or(i64::MAX)))
        })
        .collect()
    }
}

/// The flags by which a run goes on.
pub fn resuming(record: &RunRecord, budget_usd: Option<Money>) -> RunFlags {
    RunFlags { resume: Some(record.run_id.to_string()), budget_usd, ..RunFlags::default() }
}

/// What whoever asked can mend, and what only the server's operator can.
pub fn refusal(failure: Failure) -> LaunchRefusal {
    match failure.exit {
        Exit::Usage => LaunchRefusal::Unusable(failure.to_string()),
        _ => LaunchRefusal::Broken(failure.to_string()),
    }
}

fn flags_of(asked: &RunSpecification, dataset: PathBuf) -> RunFlags {
    RunFlags {
        dataset: Some(dataset),
        judging: JudgingFlags {
            sample: asked.sample,
            seed: asked.seed,
            limit: asked.limit,
            filter: asked.filters.clone(),
            repeat: asked.repeat,
            rubric: asked.rubric.clone(),
            model: asked.model.clone(),
            ..JudgingFlags::default()
        },
        budget_usd: asked.budget_usd,
        ..RunFlags::default()
    }
}

/// Rubrics are named, and never a file of the server.
fn check_names(asked: &RunSpecification) -> Result<(), LaunchRefusal> {
    match &asked.rubric {
        Some(rubric) if builtin_named(rubric).is_none() => {
            let known: Vec<_> = builtin().iter().map(|rubric| rubric.id).collect();
            let message =
                format!("there is no rubric {rubric:?} here: take {}", known.join(" or "));
            return Err(LaunchRefusal::of_field(RequestField::Rubric, message));
        }
        _ => {}
    }
    match asked.repeat {
        Some(repeat) if repeat > MAX_REPEATS => Err(LaunchRefusal::of_field(
            RequestField::Repeat,
            format!("an item is judged {MAX_REPEATS} times at most, and {repeat} are asked for"),
        )),
        _ => Ok(()),
    }
}
