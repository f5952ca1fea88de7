//! Values of metrics in results, and their range.

use super::{MetricDefinition, Source};
use crate::metrics::AveragingPolicy;
use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{CountAs, JobResult, Outcome},
    rubric::{PromptField, Rubric},
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
            Source::Stage(_) | Source::Evidence(_) => self.value(result),
            Source::Latency if result.cached || result.outcome == Outcome::NoOutput => None,
            Source::PipelineSuccess | Source::Latency => self.value(result).filter(|_| counts),
            _ if zero => judged.then_some(0.0),
            _ => self.value(result).filter(|_| counts),
        };
        value.filter(|value| value.is_finite())
    }

    /// Value in a result; `None` if the result has no data for it.
    fn value(&self, result: &JobResult) -> Option<f64> {
        let verdict = result.semantic.as_ref();
        match &self.source {
            Source::PipelineSuccess => result.pipeline_success.map(f64::from),
            Source::Latency => Some(result.total_latency_ms as f64),
            Source::Stage(value) => value(result),
            Source::Evidence(value) => match result.evidence.as_ref()? {
                EvidenceOutcome::Measured(evidence) => value(evidence),
                EvidenceOutcome::Failed { .. } => Some(0.0),
            },
            Source::Correctness => verdict.map(Verdict::correctness),
            Source::Percentage => verdict.map(|verdict| verdict.correctness() * 100.0),
            Source::Criterion(key) => score_of(verdict?, key).map(f64::from),
            Source::Perfect { criterion, best } => {
                score_of(verdict?, criterion).map(|score| f64::from(score == *best))
            }
            Source::Group(key) => match &verdict?.score {
                Score::Groups { dimensions, .. } => dimensions.get(key).map(|group| group.score),
                Score::Sum { .. } => None,
            },
        }
    }

    /// Lowest and highest value of one item. The judge's scores start at the rubric's worst score,
    /// min / max of the total, or at 0 if jobs without a verdict may count as zero.
    pub(crate) fn range(&self, rubric: &Rubric, policy: AveragingPolicy) -> (f64, f64) {
        let (least, most) = self.unit.bounds();
        let missing_code =
            policy.no_output == CountAs::Zero && rubric.needs(PromptField::GeneratedCode);
        let zeros = missing_code || policy.failed == CountAs::Zero;
        let worst = f64::from(rubric.scale.min) / f64::from(rubric.scale.max);
        let least = match self.source {
            Source::Correctness | Source::Percentage if !zeros => worst * most,
            Source::Criterion(_) | Source::Group(_) if zeros => 0.0,
            _ => least,
        };
        (least, most)
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
