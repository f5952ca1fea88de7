//! `overall`: a run's metrics as plain numbers, in the shape of the API's response.

use super::Metric;
use indexmap::IndexMap;
use serde::Serialize;

/// A run's metrics; null wherever there is no data.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overall {
    /// Share of items that passed every stage with data.
    pub pipeline_success_rate: Option<f64>,
    /// Mean time from a job's start to its end, in milliseconds.
    pub avg_latency_ms: Option<f64>,
    /// Token extraction.
    pub token_extraction: Option<TokenMetrics>,
    /// Retrieval.
    pub retrieval: Option<RetrievalMetrics>,
    /// Generation.
    pub generation: Option<GenerationMetrics>,
    /// Measurements between screenshots and rendered code; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceMetrics>,
    /// The judge's verdicts.
    pub semantic: Option<SemanticMetrics>,
}

/// Token extraction over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TokenMetrics {
    /// Mean share of expected tokens that were found.
    pub accuracy: Option<f64>,
}

/// Retrieval over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RetrievalMetrics {
    /// Share of items whose pattern was found.
    pub accuracy: Option<f64>,
}

/// Generation over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GenerationMetrics {
    /// Share of items whose code compiles.
    pub compilation_rate: Option<f64>,
    /// Mean of the pipeline's own quality scores.
    pub avg_quality_score: Option<f64>,
    /// Share of items whose code renders; absent where none was rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_rate: Option<f64>,
}

/// Measurements of a run between screenshots and rendered code: means over measured items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EvidenceMetrics {
    /// Share of equal pixels.
    pub pixels_equal: Option<f64>,
    /// Share of items in which nothing differs.
    pub equal_rate: Option<f64>,
    /// Structural similarity.
    pub ssim: Option<f64>,
    /// Structural similarity of the lowest tenth.
    pub ssim_low: Option<f64>,
    /// Share of blocks that are in both images.
    pub block_match: Option<f64>,
    /// Proximity of matched blocks.
    pub block_position: Option<f64>,
}

/// The judge's verdicts over a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SemanticMetrics {
    /// `avg_semantic_correctness` or `avg_percentage`, then the rubric's metrics.
    #[serde(flatten)]
    pub metrics: IndexMap<String, Option<f64>>,
    /// Verdicts per grade, best grade first, for rubrics that grade; each repeat is a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<IndexMap<String, u64>>,
}

impl Overall {
    /// The metrics, each in its place.
    pub fn from_metrics(metrics: &[Metric], grades: Option<IndexMap<String, u64>>) -> Self {
        let value =
            |path: &str| metrics.iter().find(|metric| metric.definition.path == path)?.value;
        let semantic: IndexMap<String, Option<f64>> = metrics
            .iter()
            .filter_map(|metric| {
                let name = metric.definition.path.strip_prefix("semantic.")?;
                Some((name.to_owned(), metric.value))
            })
            .collect();
        let (compilation_rate, avg_quality_score) =
            (value("generation.compilation_rate"), value("generation.avg_quality_score"));
        let render_rate = value("generation.render_rate");
        let pixels_equal = value("evidence.pixels_equal");
        let token_accuracy = value("token_extraction.accuracy");
        let retrieval_accuracy = value("retrieval.accuracy");
        Self {
            pipeline_success_rate: value("pipeline_success_rate"),
            avg_latency_ms: value("avg_latency_ms"),
            token_extraction: token_accuracy.map(|_| TokenMetrics { accuracy: token_accuracy }),
            retrieval: retrieval_accuracy
                .map(|_| RetrievalMetrics { accuracy: retrieval_accuracy }),
            generation: compilation_rate
                .or(avg_quality_score)
                .or(render_rate)
                .map(|_| GenerationMetrics { compilation_rate, avg_quality_score, render_rate }),
            evidence: pixels_equal.map(|_| EvidenceMetrics {
                pixels_equal,
                equal_rate: value("evidence.equal_rate"),
                ssim: value("evidence.ssim"),
                ssim_low: value("evidence.ssim_low"),
                block_match: value("evidence.block_match"),
                block_position: value("evidence.block_position"),
            }),
            semantic: semantic
                .values()
                .any(Option::is_some)
                .then_some(SemanticMetrics { metrics: semantic, grades }),
        }
    }
}
