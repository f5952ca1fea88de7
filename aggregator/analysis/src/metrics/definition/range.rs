//! Lowest and highest value that a metric of a run can have.

use super::{MetricDefinition, Source};
use crate::metrics::AveragingPolicy;
use juror_types::{
    outcome::CountAs,
    rubric::{PromptField, Rubric},
};

impl MetricDefinition {
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
