//! Metrics of a run: the fixed ones of the deterministic stages, and those of its rubric.

mod range;
mod value;

pub use value::score_of;

use juror_types::rubric::{Formula, MetricKind, Rubric};

const RENDER_RATE: &str = "generation.render_rate";

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
            rate("pipeline_success_rate", "Pipeline Success", Source::PipelineSuccess),
            mean("avg_latency_ms", "Latency", Unit::Milliseconds, Source::Latency),
            mean("token_extraction.accuracy", "Token Accuracy", Unit::Share, Source::TokenAccuracy),
            rate("retrieval.accuracy", "Retrieval", Source::RetrievalCorrect),
            rate("generation.compilation_rate", "Compilation", Source::CodeCompiles),
            mean(
                "generation.avg_quality_score",
                "Quality Score",
                Unit::Score,
                Source::QualityScore,
            ),
            rate(RENDER_RATE, "Rendering", Source::CodeRenders),
            mean("evidence.pixels_equal", "Pixels Equal", Unit::Share, Source::PixelsEqual),
            rate("evidence.equal_rate", "Nothing Differs", Source::NothingDiffers),
            mean("evidence.ssim", "Structural Similarity", Unit::Score, Source::Similarity),
            mean("evidence.ssim_low", "Lowest Similarity", Unit::Score, Source::LowestSimilarity),
            mean("evidence.block_match", "Block Match", Unit::Share, Source::BlockMatch),
            mean("evidence.block_position", "Block Position", Unit::Share, Source::BlockPosition),
        ];
        let (name, unit, source) = match rubric.formula {
            Formula::SumOverMax => ("semantic_correctness", Unit::Share, Source::Correctness),
            Formula::WeightedGroups => ("percentage", Unit::Percent, Source::Percentage),
        };
        let whole = mean(format!("semantic.avg_{name}"), title_of(name), unit, source);
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
        fixed.into_iter().chain([whole]).chain(own).collect()
    }

    /// The verdict as a share from 0 to 1, under the rubric's name of it: the metric that decides
    /// comparisons.
    pub fn decisive(rubric: &Rubric) -> Self {
        let name = match rubric.formula {
            Formula::SumOverMax => "semantic_correctness",
            Formula::WeightedGroups => "percentage",
        };
        let path = format!("semantic.avg_{name}");
        mean(path, title_of(name), Unit::Share, Source::Correctness)
    }

    /// The score of each criterion.
    pub fn criteria(rubric: &Rubric) -> Vec<Self> {
        let scale = Unit::Points { least: rubric.scale.min.into(), most: rubric.scale.max.into() };
        let criterion = |key: &String| {
            let path = format!("semantic.scores.{key}");
            mean(path, title_of(key), scale, Source::Criterion(key.clone()))
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
        is_evidence(&self.path)
    }

    /// True if it is absent in runs without measured evidence.
    pub(crate) fn needs_evidence(&self) -> bool {
        needs_evidence(&self.path)
    }

    /// True if it is computed from the judge's verdicts.
    pub fn is_semantic(&self) -> bool {
        self.path.starts_with("semantic.")
    }

    /// True if verdicts take part in it.
    pub(crate) fn is_judged(&self) -> bool {
        self.is_semantic() || self.source == Source::PipelineSuccess
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
        let reported =
            matches!(self.source, Source::Correctness | Source::Percentage | Source::Criterion(_));
        !self.rate && !reported
    }
}

/// True if the metric at this path is absent in runs without measured evidence.
pub(crate) fn needs_evidence(path: &str) -> bool {
    is_evidence(path) || path == RENDER_RATE
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

fn is_evidence(path: &str) -> bool {
    path.starts_with("evidence.")
}

fn mean(
    path: impl Into<String>,
    title: impl Into<String>,
    unit: Unit,
    source: Source,
) -> MetricDefinition {
    MetricDefinition { path: path.into(), title: title.into(), unit, rate: false, source }
}

fn rate(path: &str, title: &str, source: Source) -> MetricDefinition {
    MetricDefinition { rate: true, ..mean(path, title, Unit::Share, source) }
}
