//! Values of metrics in results.

use super::{MetricDefinition, Source};
use crate::metrics::AveragingPolicy;
use juror_types::{
    evidence::{Evidence, EvidenceOutcome},
    outcome::{JobResult, Outcome},
    verdict::{Score, Verdict},
};

impl MetricDefinition {
    /// Value in a result, if it counts. Deterministic stages count wherever they have data,
    /// regardless of the judge's outcome. The judge's metrics and Pipeline Success are over scored
    /// jobs, and those that count as zero by the policy. Latency is over the same, except for jobs
    /// without output and verdicts from the cache, which no call was made for.
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
            Source::Latency if result.cached || result.outcome == Outcome::NoOutput => None,
            Source::PipelineSuccess | Source::Latency => self.value(result).filter(|_| counts),
            _ if zero => judged.then_some(0.0),
            _ => self.value(result).filter(|_| counts),
        };
        value.filter(|value| value.is_finite())
    }

    /// Value in a result; none where the result has no data for it.
    fn value(&self, result: &JobResult) -> Option<f64> {
        let verdict = result.semantic.as_ref();
        // Code that does not render equals its screenshot in nothing.
        let evidence = |value: fn(&Evidence) -> Option<f64>| match result.evidence.as_ref()? {
            EvidenceOutcome::Measured(evidence) => value(evidence),
            EvidenceOutcome::Failed { .. } => Some(0.0),
        };
        match &self.source {
            Source::PipelineSuccess => result.pipeline_success.map(share),
            Source::Latency => Some(result.total_latency_ms as f64),
            Source::TokenAccuracy => result.token_extraction.as_ref().map(|stage| stage.accuracy),
            Source::RetrievalCorrect => result.retrieval.as_ref().map(|stage| share(stage.correct)),
            Source::CodeCompiles => result.generation.as_ref()?.code_compiles.map(share),
            Source::CodeRenders => result.generation.as_ref()?.renders.map(share),
            Source::QualityScore => result.generation.as_ref()?.quality_score,
            Source::PixelsEqual => evidence(|found| Some(found.pixels_equal)),
            Source::NothingDiffers => evidence(|found| Some(share(found.is_equal()))),
            Source::Similarity => evidence(|found| Some(found.ssim.clamp(0.0, 1.0))),
            Source::LowestSimilarity => evidence(|found| Some(found.ssim_low.clamp(0.0, 1.0))),
            Source::BlockMatch => evidence(|found| found.block_match),
            Source::BlockPosition => evidence(|found| found.block_position),
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

fn share(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}
