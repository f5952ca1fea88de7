//! A run's setup: dataset, rubric and judge, resolved and checked before anything is spent.

mod evidence_rendering;
mod record;

pub use evidence_rendering::RenderedBy;
use record::check_path;
pub use record::{absolute, decision_terms, named_or_absolute};

use crate::{
    environment::Environment, error::AppError, judge, protected_files, settings::Settings,
};
use juror_producer::{
    dataset::{Dataset, DatasetShape},
    filter::Filter,
    plan::{self, ItemSample, JobTemplate, PlanOptions, PlanSummary},
};
use juror_types::{
    id::RunId,
    job::Judge,
    rubric::{PromptField, Rubric},
};
use juror_worker::estimate::PricedJudge;
use std::{num::NonZeroU32, path::PathBuf};

/// Selected items of a dataset.
#[derive(Clone, Debug, Default)]
pub struct ItemSelection {
    /// Random sample of the items.
    pub sample: Option<ItemSample>,
    /// Width of the score's interval, as a share, until which the sample grows.
    pub until_width: Option<f64>,
    /// Number of first items, after the filters and the sample.
    pub limit: Option<u64>,
    /// Conditions that items must all meet, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Output files of the command, which no item may name.
    pub outputs: Vec<PathBuf>,
}

/// A checked run: settings, dataset, rubric and judge. Nothing is written or spent yet.
#[derive(Clone)]
pub struct RunSetup {
    /// Settings with every layer applied.
    pub settings: Settings,
    /// The environment that they may name variables of.
    pub environment: Environment,
    /// Rubric of the run.
    pub rubric: Rubric,
    /// File's text.
    pub rubric_text: String,
    /// Dataset of the run.
    pub dataset: Dataset,
    /// Selection of items, and the number of repeats.
    pub options: PlanOptions,
    /// Result of the first pass.
    pub plan: PlanSummary,
    /// The judge; `None` with the judge off.
    pub priced_judge: Option<PricedJudge>,
    /// Path of the dataset, as it was named.
    dataset_path: PathBuf,
    selection: ItemSelection,
}

impl RunSetup {
    /// Opens a setup and checks everything that can be checked without spending.
    pub fn open(
        settings: Settings,
        environment: Environment,
        rubric: (Rubric, String),
        dataset_path: PathBuf,
        selection: ItemSelection,
        on_item: &mut dyn FnMut(u64),
    ) -> Result<Self, AppError> {
        let (rubric, rubric_text) = rubric;
        check_until_width(selection.until_width, &settings)?;
        check_path(&dataset_path)?;
        let priced_judge = match settings.run.enable_llm_judge {
            true => Some(judge::priced(&settings, &rubric)?),
            false => None,
        };
        let shape = DatasetShape {
            data_roots: settings.files.data_roots.clone(),
            allowed: settings.files.allowed().map_err(AppError::invalid)?,
            outputs: protected_files::identities(&selection.outputs),
            ..DatasetShape::for_rubric(&rubric)
        };
        let dataset = Dataset::open(&dataset_path, &shape).map_err(AppError::invalid)?;
        let options = PlanOptions {
            filters: selection
                .filters
                .iter()
                .map(|filter| filter.parse::<Filter>().map_err(AppError::invalid))
                .collect::<Result<_, _>>()?,
            sample: selection.sample,
            limit: selection.limit,
            repeat: NonZeroU32::new(settings.run.repeat).unwrap_or(NonZeroU32::MIN),
        };
        let checked = plan::check(&dataset, &options, on_item);
        let plan = checked.map_err(AppError::invalid)?;
        let measures_pictures = plan.has_rendered && !settings.evidence.mode.is_none();
        let has_stages = plan.has_stages() || settings.stages.has_pipeline() || measures_pictures;
        if priced_judge.is_none() && !has_stages {
            return Err(AppError::invalid(format!(
                "nothing in {} can be evaluated without the judge: no item has code, tokens, \
                 patterns or a quality score; add --enable-llm-judge to let a vision model judge, \
                 or --evidence facts to compare pictures of rendered code",
                dataset_path.display()
            )));
        }
        Ok(Self {
            settings,
            environment,
            rubric,
            rubric_text,
            dataset,
            options,
            plan,
            priced_judge,
            dataset_path,
            selection,
        })
    }

    /// The setup over another random part of the same items.
    pub(super) fn with_sample(&self, sample: ItemSample) -> Result<Self, AppError> {
        let options = PlanOptions { sample: Some(sample), ..self.options.clone() };
        let plan = plan::check(&self.dataset, &options, &mut |_| ()).map_err(AppError::invalid)?;
        let selection = ItemSelection { sample: Some(sample), ..self.selection.clone() };
        Ok(Self { options, plan, selection, ..self.clone() })
    }

    /// The judge of the run's jobs.
    pub fn judge(&self) -> Option<&Judge> {
        self.priced_judge.as_ref().map(|priced_judge| &priced_judge.judge)
    }

    /// Folders in which files of the dataset are read.
    pub fn data_roots(&self) -> Vec<PathBuf> {
        let folder = self.dataset.folder().to_owned();
        [folder].into_iter().chain(self.settings.files.data_roots.iter().cloned()).collect()
    }

    /// Number of items without a call to the judge, since they have no code to judge.
    pub fn unjudged(&self) -> u64 {
        let is_needed =
            self.priced_judge.is_some() && self.rubric.needs(PromptField::GeneratedCode);
        let has_pipeline = self.settings.stages.has_pipeline();
        if is_needed && !has_pipeline { self.plan.without_code } else { 0 }
    }

    /// The common part of all jobs of the run.
    pub fn template(&self, run: &RunId) -> JobTemplate {
        JobTemplate {
            run_id: run.clone(),
            rubric: self.rubric.reference(),
            judge: self.judge().cloned(),
            evidence: self.settings.evidence.mode,
        }
    }
}

/// Refuses a width that cannot be reached.
fn check_until_width(width: Option<f64>, settings: &Settings) -> Result<(), AppError> {
    let Some(width) = width else { return Ok(()) };
    let wrong = if !(width > 0.0 && width < 1.0) {
        format!("is {width}: give a share above 0 and below 1, as in 0.02")
    } else if !settings.run.enable_llm_judge {
        "needs the judge's score: add --enable-llm-judge".to_owned()
    } else if settings.run.lane.is_batched() {
        "judges in several rounds, and each batch may take a day: use --lane realtime or flex"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::invalid(format!("--until-width {wrong}")))
}
