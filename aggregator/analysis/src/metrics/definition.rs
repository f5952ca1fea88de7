//! Metrics of a run: the fixed ones of the deterministic stages, and those of its rubric.

use super::AveragingPolicy;
use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{JobResult, Outcome},
    rubric::{Formula, MetricKind, Rubric},
    verdict::{Score, Verdict},
};

/// Definition of a metric, for computation and display.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDefinition {
    /// Path in `overall`, as in `semantic.avg_visual_similarity`: its name in intervals and gates.
    pub path: String,
    /// Title in reports.
    pub title: String,
    /// Unit of its figure.
    pub unit: Unit,
    /// True if it is a share of items (a rate) and not a mean.
    pub rate: bool,
    source: Source,
}

/// Unit of a metric's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A share from 0 to 1, shown in percent.
    Share,
    /// A score from 0 to 1, shown unchanged.
    Score,
    /// A percentage from 0 to 100.
    Percent,
    /// Points on a scale.
    Points {
        /// Worst score.
        least: f64,
        /// Best score.
        most: f64,
    },
    /// Milliseconds.
    Milliseconds,
}

/// Origin of a metric's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Computed by programs: the deterministic stages, the clock.
    Measured,
    /// Given by the vision model.
    Judged,
    /// Computed from both.
    Both,
}

/// Place of a metric's value in a result.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    PipelineSuccess,
    Latency,
    TokenAccuracy,
    RetrievalCorrect,
    CodeCompiles,
    CodeRenders,
    QualityScore,
    PixelsEqual,
    NothingDiffers,
    Similarity,
    LowestSimilarity,
    BlockMatch,
    BlockPosition,
    Correctness,
    Percentage,
    Criterion(String),
    Perfect { criterion: String, best: u32 },
    Group(String),
}

impl Unit {
    /// Minimum and maximum of a figure.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Self::Share | Self::Score => (0.0, 1.0),
            Self::Percent => (0.0, 100.0),
            Self::Points { least, most } => (least, most),
            Self::Milliseconds => (0.0, f64::MAX),
        }
    }

    /// Maximum difference of two figures.
    pub(crate) fn width(self) -> f64 {
        let (least, most) = self.bounds();
        most - least
    }
}

impl MetricDefinition {
    /// All metrics of runs by this rubric, in the order of `overall`.
    pub fn all(rubric: &Rubric) -> Vec<Self> {
        let fixed = [
            (
                "pipeline_success_rate",
                "Pipeline Success",
                Unit::Share,
                true,
                Source::PipelineSuccess,
            ),
            ("avg_latency_ms", "Latency", Unit::Milliseconds, false, Source::Latency),
            (
                "token_extraction.accuracy",
                "Token Accuracy",
                Unit::Share,
                false,
                Source::TokenAccuracy,
            ),
            ("retrieval.accuracy", "Retrieval", Unit::Share, true, Source::RetrievalCorrect),
            ("generation.compilation_rate", "Compilation", Unit::Share, true, Source::CodeCompiles),
            (
                "generation.avg_quality_score",
                "Quality Score",
                Unit::Score,
                false,
                Source::QualityScore,
            ),
            ("generation.render_rate", "Rendering", Unit::Share, true, Source::CodeRenders),
            ("evidence.pixels_equal", "Pixels Equal", Unit::Share, false, Source::PixelsEqual),
            ("evidence.equal_rate", "Nothing Differs", Unit::Share, true, Source::NothingDiffers),
            ("evidence.ssim", "Structural Similarity", Unit::Score, false, Source::Similarity),
            (
                "evidence.ssim_low",
                "Lowest Similarity",
                Unit::Score,
                false,
                Source::LowestSimilarity,
            ),
            ("evidence.block_match", "Block Match", Unit::Share, false, Source::BlockMatch),
            (
                "evidence.block_position",
                "Block Position",
                Unit::Share,
                false,
                Source::BlockPosition,
            ),
        ];
        let fixed = fixed.into_iter().map(|(path, title, unit, rate, source)| Self {
            path: path.to_owned(),
            title: title.to_owned(),
            unit,
            rate,
            source,
        });
        let (name, unit, source) = match rubric.formula {
            Formula::SumOverMax => ("semantic_correctness", Unit::Share, Source::Correctness),
            Formula::WeightedGroups => ("percentage", Unit::Percent, Source::Percentage),
        };
        let whole = Self {
            path: format!("semantic.avg_{name}"),
            title: title_of(name),
            unit,
            rate: false,
            source,
        };
        let scale = Unit::Points { least: rubric.scale.min.into(), most: rubric.scale.max.into() };
        let own = rubric.metrics.iter().map(|metric| {
            let of = metric.of.clone();
            let (unit, rate, source) = match metric.kind {
                MetricKind::Mean => (scale, false, Source::Criterion(of)),
                MetricKind::GroupMean => (scale, false, Source::Group(of)),
                MetricKind::PerfectRate => {
                    (Unit::Share, true, Source::Perfect { criterion: of, best: rubric.scale.max })
                }
            };
            let path = format!("semantic.{}", metric.name);
            Self { path, title: title_of(&metric.of), unit, rate, source }
        });
        fixed.chain([whole]).chain(own).collect()
    }

    /// The verdict as a share from 0 to 1, under the rubric's name of it: the metric that decides
    /// comparisons.
    pub fn decisive(rubric: &Rubric) -> Self {
        let name = match rubric.formula {
            Formula::SumOverMax => "semantic_correctness",
            Formula::WeightedGroups => "percentage",
        };
        Self {
            path: format!("semantic.avg_{name}"),
            title: title_of(name),
            unit: Unit::Share,
            rate: false,
            source: Source::Correctness,
        }
    }

    /// The score of each criterion.
    pub fn criteria(rubric: &Rubric) -> Vec<Self> {
        let scale = Unit::Points { least: rubric.scale.min.into(), most: rubric.scale.max.into() };
        let criterion = |key: &String| Self {
            path: format!("semantic.scores.{key}"),
            title: title_of(key),
            unit: scale,
            rate: false,
            source: Source::Criterion(key.clone()),
        };
        rubric.criteria.iter().map(|each| criterion(&each.key)).collect()
    }

    /// Origin of its figure in a run with the judge on (`judged`) or off.
    pub fn provenance(&self, judged: bool) -> Provenance {
        match self.source {
            Source::PipelineSuccess if judged => Provenance::Both,
            _ if self.is_semantic() => Provenance::Judged,
            _ => Provenance::Measured,
        }
    }

    /// True if it belongs to a stage of the pipeline that generates code.
    pub fn is_of_generated_code(&self) -> bool {
        matches!(
            self.source,
            Source::TokenAccuracy
                | Source::RetrievalCorrect
                | Source::CodeCompiles
                | Source::CodeRenders
                | Source::QualityScore
        ) || self.is_evidence()
    }

    /// True if it is measured between screenshots and rendered code.
    pub fn is_evidence(&self) -> bool {
        self.path.starts_with("evidence.")
    }

    /// True if it is absent in runs without measured evidence.
    pub(crate) fn needs_evidence(&self) -> bool {
        self.is_evidence() || self.source == Source::CodeRenders
    }

    /// True if it is computed from the judge's verdicts.
    pub fn is_semantic(&self) -> bool {
        self.path.starts_with("semantic.")
    }

    /// The criterion of a rate of perfect scores.
    pub fn perfect_criterion(&self) -> Option<&str> {
        match &self.source {
            Source::Perfect { criterion, .. } => Some(criterion),
            _ => None,
        }
    }

    /// True if it is a mean beside [`Self::decisive`] and [`Self::criteria`].
    pub fn is_further_mean(&self) -> bool {
        let told =
            matches!(self.source, Source::Correctness | Source::Percentage | Source::Criterion(_));
        !self.rate && !told
    }

    /// Its value in a result, if it counts. Deterministic stages count wherever they have data,
    /// whatever the judge's outcome. The judge's metrics and Pipeline Success are over scored jobs,
    /// and those that count as zero by the policy. Latency is over the same, except that a job
    /// without output takes no time.
    pub(crate) fn counted_value(
        &self,
        result: &JobResult,
        judged: bool,
        policy: AveragingPolicy,
    ) -> Option<f64> {
        let zero = policy.counts_as_zero(result.outcome);
        let counts = zero || result.outcome == Outcome::Scored;
        let value = match &self.source {
            Source::TokenAccuracy
            | Source::RetrievalCorrect
            | Source::CodeCompiles
            | Source::CodeRenders
            | Source::QualityScore
            | Source::PixelsEqual
            | Source::NothingDiffers
            | Source::Similarity
            | Source::LowestSimilarity
            | Source::BlockMatch
            | Source::BlockPosition => self.value(result),
            Source::Latency if result.outcome == Outcome::NoOutput => None,
            Source::PipelineSuccess | Source::Latency => self.value(result).filter(|_| counts),
            _ if zero => judged.then_some(0.0),
            _ => self.value(result).filter(|_| counts),
        };
        value.filter(|value| value.is_finite())
    }

    /// Its value in a result; none where the result has no data for it.
    fn value(&self, result: &JobResult) -> Option<f64> {
        let verdict = result.semantic.as_ref();
        let measured = result.evidence.as_ref().and_then(EvidenceOutcome::measured);
        match &self.source {
            Source::PipelineSuccess => result.pipeline_success.map(share),
            Source::Latency => Some(result.total_latency_ms as f64),
            Source::TokenAccuracy => result.token_extraction.as_ref().map(|stage| stage.accuracy),
            Source::RetrievalCorrect => result.retrieval.as_ref().map(|stage| share(stage.correct)),
            Source::CodeCompiles => result.generation.as_ref()?.code_compiles.map(share),
            Source::CodeRenders => result.generation.as_ref()?.renders.map(share),
            Source::QualityScore => result.generation.as_ref()?.quality_score,
            Source::PixelsEqual => measured.map(|it| it.pixels_equal),
            Source::NothingDiffers => measured.map(|it| share(it.regions.is_empty())),
            Source::Similarity => measured.map(|it| it.ssim.clamp(0.0, 1.0)),
            Source::LowestSimilarity => measured.map(|it| it.ssim_low.clamp(0.0, 1.0)),
            Source::BlockMatch => measured?.block_match,
            Source::BlockPosition => measured?.block_position,
            Source::Correctness => verdict.map(Verdict::correctness),
            Source::Percentage => verdict.map(|verdict| verdict.correctness() * 100.0),
            Source::Criterion(key) => score_of(verdict?, key).map(f64::from),
            Source::Perfect { criterion, best } => {
                score_of(verdict?, criterion).map(|score| share(score == *best))
            }
            Source::Group(key) => match &verdict?.score {
                Score::Groups { dimensions, .. } => dimensions.get(key).map(|group| group.score),
                Score::Sum { .. } => None,
            },
        }
    }
}

/// A criterion's score in a verdict.
pub fn score_of(verdict: &Verdict, criterion: &str) -> Option<u32> {
    match &verdict.score {
        Score::Sum { scores, .. } => scores.get(criterion).copied(),
        Score::Groups { dimensions, .. } => {
            let mut groups = dimensions.values();
            groups
                .find_map(|group| group.sub_scores.get(criterion))
                .map(|sub_score| sub_score.score)
        }
    }
}

/// Title of a key: `Variant Accuracy` for `variant_accuracy`.
pub fn title_of(key: &str) -> String {
    let words = key.split(['_', '-', '.']).filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn share(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}
