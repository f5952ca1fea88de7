//! Metrics of a run: the fixed ones of the deterministic stages, and those of its rubric.

mod value;

pub use value::score_of;

use juror_types::{
    evidence::Evidence,
    outcome::JobResult,
    rubric::{Formula, MetricKind, Rubric, Scale},
};

pub(super) const RENDER_RATE: &str = "generation.render_rate";

/// Definition of a metric, for computation and display.
#[derive(Clone, Debug)]
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
    /// A time in milliseconds.
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
    pub fn width(self) -> f64 {
        let (least, most) = self.bounds();
        most - least
    }
}

impl MetricDefinition {
    /// All metrics of runs by this rubric, in the order of `overall`.
    pub fn all(rubric: &Rubric) -> Vec<Self> {
        let key = score_key(rubric);
        let (unit, source) = match rubric.formula {
            Formula::SumOverMax => (Unit::Share, Source::Correctness),
            Formula::WeightedGroups => (Unit::Percent, Source::Percentage),
        };
        let whole = Self::new(format!("semantic.avg_{key}"), title_of(key), unit, source);
        let own = rubric.metrics.iter().map(|metric| {
            let (scale, of) = (points(rubric.scale), metric.of.clone());
            let (unit, rate, source) = match metric.kind {
                MetricKind::Mean => (scale, false, Source::Criterion(of)),
                MetricKind::GroupMean => (scale, false, Source::Group(of)),
                MetricKind::PerfectRate => {
                    (Unit::Share, true, Source::Perfect { criterion: of, best: rubric.scale.max })
                }
            };
            let path = format!("semantic.{}", metric.name);
            Self { rate, ..Self::new(path, title_of(&metric.of), unit, source) }
        });
        Self::of_stages().into_iter().chain([whole]).chain(own).collect()
    }

    /// Metrics that every run has, whatever its rubric.
    fn of_stages() -> [Self; 13] {
        use Unit::{Milliseconds, Score, Share};
        let success = Source::PipelineSuccess;
        [
            Self::new("pipeline_success_rate", "Pipeline Success", Share, success).into_rate(),
            Self::new("avg_latency_ms", "Latency", Milliseconds, Source::Latency),
            Self::stage("token_extraction.accuracy", "Token Accuracy", Share, |result| {
                Some(result.token_extraction.as_ref()?.accuracy)
            }),
            Self::stage("retrieval.accuracy", "Retrieval", Share, |result| {
                Some(f64::from(result.retrieval.as_ref()?.correct))
            })
            .into_rate(),
            Self::stage("generation.compilation_rate", "Compilation", Share, |result| {
                result.generation.as_ref()?.code_compiles.map(f64::from)
            })
            .into_rate(),
            Self::stage("generation.avg_quality_score", "Quality Score", Score, |result| {
                result.generation.as_ref()?.quality_score
            }),
            Self::stage(RENDER_RATE, "Rendering", Share, |result| {
                result.generation.as_ref()?.renders.map(f64::from)
            })
            .into_rate(),
            Self::evidence("pixels_equal", "Pixels Equal", Share, |found| Some(found.pixels_equal)),
            Self::evidence("equal_rate", "Nothing Differs", Share, |found| {
                Some(f64::from(found.is_equal()))
            })
            .into_rate(),
            Self::evidence("ssim", "Structural Similarity", Score, |found| {
                Some(found.ssim.clamp(0.0, 1.0))
            }),
            Self::evidence("ssim_low", "Lowest Similarity", Score, |found| {
                Some(found.ssim_low.clamp(0.0, 1.0))
            }),
            Self::evidence("block_match", "Block Match", Share, |found| found.block_match),
            Self::evidence("block_position", "Block Position", Share, |found| found.block_position),
        ]
    }

    /// The verdict as a share from 0 to 1, under the rubric's name of it: the metric that decides
    /// comparisons.
    pub fn decisive(rubric: &Rubric) -> Self {
        let key = score_key(rubric);
        let path = format!("semantic.avg_{key}");
        Self::new(path, title_of(key), Unit::Share, Source::Correctness)
    }

    /// The score of each criterion.
    pub fn criteria(rubric: &Rubric) -> Vec<Self> {
        let criterion = |key: &String| {
            let (path, source) = (format!("semantic.scores.{key}"), Source::Criterion(key.clone()));
            Self::new(path, title_of(key), points(rubric.scale), source)
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
        matches!(self.source, Source::Stage(_) | Source::Evidence(_))
    }

    /// True if it is measured between screenshots and rendered code.
    pub fn is_evidence(&self) -> bool {
        matches!(self.source, Source::Evidence(_))
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
        self.is_semantic() || matches!(self.source, Source::PipelineSuccess)
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

    fn new(path: impl Into<String>, title: impl Into<String>, unit: Unit, source: Source) -> Self {
        Self { path: path.into(), title: title.into(), unit, rate: false, source }
    }

    fn stage(path: &str, title: &str, unit: Unit, value: fn(&JobResult) -> Option<f64>) -> Self {
        Self::new(path, title, unit, Source::Stage(value))
    }

    fn evidence(name: &str, title: &str, unit: Unit, value: fn(&Evidence) -> Option<f64>) -> Self {
        Self::new(format!("evidence.{name}"), title, unit, Source::Evidence(value))
    }

    fn into_rate(self) -> Self {
        Self { rate: true, ..self }
    }
}

impl PartialEq for MetricDefinition {
    /// Paths identify the definitions of a rubric.
    fn eq(&self, other: &Self) -> bool {
        (&self.path, self.unit) == (&other.path, other.unit)
    }
}

/// True if the metric at this path is absent in runs without measured evidence.
pub(crate) fn needs_evidence(path: &str) -> bool {
    path.starts_with("evidence.") || path == RENDER_RATE
}

/// Name of the rubric's total score.
pub fn score_key(rubric: &Rubric) -> &'static str {
    match rubric.formula {
        Formula::SumOverMax => "semantic_correctness",
        Formula::WeightedGroups => "percentage",
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

/// Place of a metric's value in a result.
#[derive(Clone, Debug)]
enum Source {
    PipelineSuccess,
    Latency,
    /// Value of a deterministic stage, independent of the judge's outcome.
    Stage(fn(&JobResult) -> Option<f64>),
    /// Value of the evidence that was measured; 0 for code that does not render, which equals its
    /// screenshot in nothing.
    Evidence(fn(&Evidence) -> Option<f64>),
    Correctness,
    Percentage,
    Criterion(String),
    Perfect {
        criterion: String,
        best: u32,
    },
    Group(String),
}

fn points(scale: Scale) -> Unit {
    Unit::Points { least: scale.min.into(), most: scale.max.into() }
}
