//! A run's setup: dataset, rubric and judge, resolved and checked before anything is spent.

use crate::{
    environment::Environment,
    error::AppError,
    judge, protected_files,
    rendering::{check_render_files, has_browser},
    settings::Settings,
};
use futures_util::future::BoxFuture;
use juror_producer::{
    dataset::{Dataset, DatasetShape},
    filter::Filter,
    plan::{self, ItemSample, JobTemplate, PlanOptions, PlanSummary},
};
use juror_types::{
    budget_label::BudgetLabel,
    evidence::EvidenceMode,
    id::{Digest, RunId},
    job::Judge,
    rubric::{Need, Rubric},
    run::{CallTerms, DatasetRecord, Preparation, RunRecord, SampleRecord, StageTerms},
};
use juror_worker::{
    estimate::Candidate, evidence_resources::EvidenceResources, image::PREPARATION_VERSION,
};
use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
};

/// Reason why no item has evidence, with the remedy.
const NOTHING_TO_MEASURE: &str = "no item has code that could be drawn, or names a picture of it as \
                                  `rendered`";
const NO_RENDERER: &str = "no item names a picture of its code as `rendered`, and there is nothing to \
                           draw with: install a browser, as in `apt-get install chromium`, or set \
                           render.browser or stages.render_command";

/// Processes that render the code of a run's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawingPlace {
    /// This one.
    Here,
    /// Workers of a fleet.
    Elsewhere,
}

/// Selected items of a dataset.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The dataset, as it was named.
    pub dataset: PathBuf,
    /// Only a random part of the items.
    pub sample: Option<ItemSample>,
    /// Width of the score's interval, as a share, until which that part grows.
    pub until_width: Option<f64>,
    /// Only the first so many items.
    pub limit: Option<u64>,
    /// Only items for which all of these hold, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Files that the command is asked to write, which no item may name.
    pub outputs: Vec<PathBuf>,
}

/// A run that could begin.
#[derive(Clone)]
pub struct Session {
    /// The settings.
    pub settings: Settings,
    /// The environment that they may name variables of.
    pub environment: Environment,
    /// The rubric.
    pub rubric: Rubric,
    /// Its file's text.
    pub rubric_text: String,
    /// The dataset.
    pub dataset: Dataset,
    /// Selection of items, and the number of repeats.
    pub options: PlanOptions,
    /// Result of the first pass.
    pub plan: PlanSummary,
    /// The judge; none with the judge off.
    pub candidate: Option<Candidate>,
    selection: Selection,
}

impl Session {
    /// Opens a session and checks everything that can be checked without spending.
    pub fn open(
        settings: Settings,
        environment: Environment,
        rubric: (Rubric, String),
        selection: Selection,
        on_item: &mut dyn FnMut(u64),
    ) -> Result<Self, AppError> {
        let (rubric, rubric_text) = rubric;
        check_until_width(selection.until_width, &settings)?;
        let candidate = match settings.run.enable_llm_judge {
            true => Some(judge::candidate(&settings, &rubric)?),
            false => None,
        };
        let shape = DatasetShape {
            images: rubric.images_of_items().map(|image| image.name.clone()).collect(),
            style_required: rubric.needs(Need::Style),
            data_roots: settings.files.data_roots.clone(),
            allowed: settings.files.allowed().map_err(AppError::invalid)?,
            outputs: protected_files::identities(&selection.outputs),
        };
        let dataset = Dataset::open(&selection.dataset, &shape).map_err(AppError::invalid)?;
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
        let has_pipeline = !settings.stages.pipeline_command.is_empty();
        if candidate.is_none() && !plan.has_stages() && !has_pipeline {
            return Err(AppError::invalid(format!(
                "nothing in {} can be evaluated without the judge: no item has code, tokens, \
                 patterns or a quality score; add --enable-llm-judge to let a vision model judge",
                selection.dataset.display()
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
            candidate,
            selection,
        })
    }

    /// The session over another random part of the same items.
    pub(super) fn with_sample(&self, sample: ItemSample) -> Result<Self, AppError> {
        let options = PlanOptions { sample: Some(sample), ..self.options.clone() };
        let plan = plan::check(&self.dataset, &options, &mut |_| ()).map_err(AppError::invalid)?;
        let selection = Selection { sample: Some(sample), ..self.selection.clone() };
        Ok(Self { options, plan, selection, ..self.clone() })
    }

    /// The judge of the run's jobs.
    pub fn judge(&self) -> Option<&Judge> {
        self.candidate.as_ref().map(|candidate| &candidate.judge)
    }

    /// Number of items that the judge will not be asked about, since they have no code that it
    /// could judge.
    pub fn unjudged(&self) -> u64 {
        let made_on_the_way = !self.settings.stages.pipeline_command.is_empty();
        let is_needed = self.candidate.is_some() && self.rubric.needs(Need::GeneratedCode);
        if is_needed && !made_on_the_way { self.plan.without_code } else { 0 }
    }

    /// True if its code is rendered and measured.
    pub fn renders(&self) -> bool {
        !self.settings.evidence.mode.is_none()
    }

    /// Refuses a request for evidence that no item can have, or that needs a file which cannot be
    /// read.
    ///
    /// # Errors
    /// [`AppError::Invalid`], with the remedy.
    pub fn require_renderer(
        &self,
        asked: Option<EvidenceMode>,
        place: DrawingPlace,
    ) -> Result<(), AppError> {
        let Some(mode) = asked.filter(|_| self.renders()).map(EvidenceMode::name) else {
            return Ok(());
        };
        if let Some(reason) = self.lacks_evidence(place) {
            let refusal = format!("--evidence {mode} has nothing to measure: {reason}");
            return Err(AppError::invalid(refusal));
        }
        if place == DrawingPlace::Elsewhere || !self.draws() || self.has_render_command() {
            return Ok(());
        }
        let files = check_render_files(&self.settings);
        files.map_err(|error| AppError::invalid(format!("--evidence {mode}: {error}")))
    }

    /// Starts the browser where the request asks for evidence that it has to draw.
    ///
    /// # Errors
    /// [`AppError::Invalid`] where it cannot be started.
    pub fn start_renderer<'a>(
        &'a self,
        asked: Option<EvidenceMode>,
        evidence: &'a EvidenceResources,
    ) -> BoxFuture<'a, Result<(), AppError>> {
        Box::pin(async move {
            let Some(mode) = asked.filter(|_| self.draws() && !self.has_render_command()) else {
                return Ok(());
            };
            let refusal = |error| AppError::invalid(format!("--evidence {}: {error}", mode.name()));
            evidence.start_renderer().await.map_err(refusal)
        })
    }

    /// Reason why no item has evidence, with the remedy; none where any may have some.
    pub fn lacks_evidence(&self, place: DrawingPlace) -> Option<&'static str> {
        if !self.renders() || self.plan.has_rendered {
            return None;
        }
        if !self.draws() {
            return Some(NOTHING_TO_MEASURE);
        }
        let draws = place == DrawingPlace::Elsewhere
            || self.has_render_command()
            || has_browser(&self.settings, &self.environment);
        (!draws).then_some(NO_RENDERER)
    }

    /// True if the code of any item is drawn.
    pub fn draws(&self) -> bool {
        let makes_code = !self.settings.stages.pipeline_command.is_empty();
        self.renders() && (self.plan.has_code_to_draw || makes_code)
    }

    fn has_render_command(&self) -> bool {
        !self.settings.stages.render_command.is_empty()
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

    /// The record of a new run of this session.
    pub fn record(&self, run_id: RunId) -> RunRecord {
        RunRecord {
            schema: juror_types::SCHEMA,
            run_id,
            created_at: jiff::Timestamp::now().to_string(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: DatasetRecord {
                path: absolute(&self.selection.dataset),
                digest: self.plan.digest,
                limit: self.selection.limit,
                filters: self.selection.filters.clone(),
                sample: self.sample_record(),
            },
            data_roots: self.settings.files.data_roots.iter().map(|root| absolute(root)).collect(),
            rubric: self.rubric.reference(),
            rubric_text: self.rubric_text.clone(),
            judge: self.judge().cloned(),
            evidence: self.settings.evidence.mode,
            max_side: self.judge().and(self.settings.image.max_side),
            preparation: self.candidate.as_ref().map(|candidate| Preparation {
                version: PREPARATION_VERSION,
                max_bytes: candidate.rules.max_bytes,
                max_side: candidate.rules.max_side,
            }),
            stages: Some(self.stage_terms()),
            base_url: self.judge().map(|_| self.settings.judge.base_url.clone()),
            calls: Some(self.call_terms()),
            judging: None,
            lane: self.settings.run.lane,
            budget_usd: self.settings.budget.run_usd,
            budget_labels: self.budget_labels(),
            baseline: None,
            repeat: self.options.repeat.get(),
            planned: self.plan.jobs,
            fleet: None,
            upload: None,
            keep_inputs: self.settings.run.keep_inputs,
            deadline: self.settings.deadline(),
            published: None,
        }
    }

    /// Labels under which its calls count.
    fn budget_labels(&self) -> Vec<BudgetLabel> {
        let dataset = absolute(&self.selection.dataset);
        self.settings.budget.labels(Some(Path::new(&dataset)))
    }

    fn call_terms(&self) -> CallTerms {
        let limits = &self.settings.limits;
        CallTerms {
            rpm: limits.rpm,
            tpm: limits.tpm,
            max_concurrency: limits.max_concurrency.map(|count| count as u64),
            cache: self.settings.cache.enabled,
        }
    }

    /// Random part of the items that it judges.
    pub(super) fn sample_record(&self) -> Option<SampleRecord> {
        let (sample, of) = self.selection.sample.zip(self.plan.sampled_from)?;
        let until_width = self.selection.until_width;
        Some(SampleRecord { items: sample.items, seed: sample.seed, of, until_width })
    }

    fn stage_terms(&self) -> StageTerms {
        let stages = &self.settings.stages;
        StageTerms {
            token_accuracy: stages.token_accuracy,
            correctness: self.judge().and(stages.min_correctness),
            compile_command: command_digest(&stages.compile_command),
            pipeline_command: command_digest(&stages.pipeline_command),
            render_command: self
                .renders()
                .then(|| command_digest(&stages.render_command))
                .flatten(),
        }
    }
}

/// Refuses a width that cannot be reached.
fn check_until_width(width: Option<f64>, settings: &Settings) -> Result<(), AppError> {
    let Some(width) = width else { return Ok(()) };
    let wrong = if !(width > 0.0 && width < 1.0) {
        format!("is {width}: give a share above 0 and below 1, as in 0.02")
    } else if !settings.run.enable_llm_judge {
        "is about the judge's score: add --enable-llm-judge".to_owned()
    } else if settings.run.lane.is_batched() {
        "looks at the score again and again, and each batch may take a day: take --lane realtime \
         or flex"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(AppError::invalid(format!("--until-width {wrong}")))
}

/// Digest of a command's words, separated so that different splits differ; none without words.
fn command_digest(words: &[String]) -> Option<Digest> {
    (!words.is_empty()).then(|| Digest::from_content(words.join("\0").as_bytes()))
}

/// A path as a record has it: resuming must find the dataset and its files from any folder.
pub fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.to_string_lossy().into_owned()
}
