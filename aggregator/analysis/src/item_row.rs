//! Result as shown in a report, without its prompt and reply.

use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{JobError, JobResult, Outcome},
    stage::{Generation, Retrieval, TokenExtraction},
    usage::Money,
    verdict::Verdict,
};
use serde::Serialize;

/// Result of a run, with the field names of results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemRow {
    /// Id of the item.
    pub screenshot_id: String,
    /// Number of the item's repeat.
    pub repeat: u32,
    /// Outcome of its job.
    pub outcome: Outcome,
    /// True if it passed every stage with data.
    pub pipeline_success: Option<bool>,
    /// Time from the job's start to its end, in milliseconds.
    pub total_latency_ms: u64,
    /// Token extraction.
    pub token_extraction: Option<TokenExtraction>,
    /// Result of the retrieval stage.
    pub retrieval: Option<Retrieval>,
    /// Result of the generation stage.
    pub generation: Option<Generation>,
    /// Evidence of the rendered code; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceOutcome>,
    /// Verdict of the judge.
    pub semantic: Option<Verdict>,
    /// Cost of the job's calls in the latest round.
    pub cost_usd: Money,
    /// True if the verdict came from the cache.
    pub cached: bool,
    /// True if the verdict is the simulator's.
    pub simulated: bool,
    /// Error of a job that failed or was skipped.
    pub error: Option<JobError>,
}

impl From<JobResult> for ItemRow {
    fn from(result: JobResult) -> Self {
        let simulated = result.is_simulated();
        Self {
            screenshot_id: result.screenshot_id,
            repeat: result.repeat,
            outcome: result.outcome,
            pipeline_success: result.pipeline_success,
            total_latency_ms: result.total_latency_ms,
            token_extraction: result.token_extraction,
            retrieval: result.retrieval,
            generation: result.generation,
            evidence: result.evidence,
            semantic: result.semantic,
            cost_usd: result.cost_usd,
            cached: result.cached,
            simulated,
            error: result.error,
        }
    }
}

/// Urgency of a result; lower values come first: verdicts that contradict the measured evidence,
/// missing pipeline output, jobs that could not be judged, then low scores, failed stages, and
/// images that differ most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    group: u8,
    score: u32,
    passes: bool,
    pixels_equal: u32,
}

impl Urgency {
    /// Urgency of a result.
    pub fn from_result(result: &JobResult) -> Self {
        let verdict = result.verdict();
        let group = match result.outcome {
            Outcome::Scored if verdict.is_some_and(Verdict::contradicts_evidence) => 0,
            Outcome::NoOutput => 1,
            Outcome::Failed => 2,
            Outcome::Unscorable => 3,
            Outcome::Scored => 4,
            Outcome::Skipped => 5,
        };
        // Scores are shares, so a millionth distinguishes any two.
        let millionths = |share: f64| (share.clamp(0.0, 1.0) * 1e6) as u32;
        let pixels_equal = match &result.evidence {
            None => 1.0,
            Some(EvidenceOutcome::Failed { .. }) => 0.0,
            Some(EvidenceOutcome::Measured(evidence)) => evidence.pixels_equal,
        };
        Self {
            group,
            score: verdict.map_or(u32::MAX, |verdict| millionths(verdict.correctness())),
            passes: result.pipeline_success != Some(false),
            pixels_equal: millionths(pixels_equal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{broken, differing, judged};
    use juror_types::{contradiction::Contradiction, outcome::ErrorKind};

    #[test]
    fn rows_sort_by_contradiction_unscored_low_score_and_difference() {
        let mut contradicts = judged("contradicts", [10; 5], &[], &[]);
        let rules = vec![Contradiction::SimilarityAgainstEvidence];
        contradicts.semantic.as_mut().unwrap().contradictions = rules;
        let no_output = broken("no_output", Outcome::NoOutput, ErrorKind::Output, "no code");
        let failed = broken("failed", Outcome::Failed, ErrorKind::Api, "503");
        let low = judged("low", [5; 5], &[], &[]);
        let mut itself = judged("itself", [9; 5], &[], &[]);
        let rules = vec![Contradiction::RepeatedFinding];
        itself.semantic.as_mut().unwrap().contradictions = rules;
        let mut not_rendered = judged("not_rendered", [10; 5], &[], &[]);
        not_rendered.evidence = Some(EvidenceOutcome::Failed { error: "throws: x".into() });
        let mut differs = judged("differs", [10; 5], &[], &[]);
        differs.evidence = Some(differing());
        let equal = judged("equal", [10; 5], &[], &[]);
        let ordered = [contradicts, no_output, failed, low, itself, not_rendered, differs, equal];
        let mut sorted: Vec<_> = ordered.iter().rev().collect();
        sorted.sort_by_key(|result| Urgency::from_result(result));
        let ids = |results: &[&JobResult]| -> Vec<String> {
            results.iter().map(|result| result.screenshot_id.clone()).collect()
        };
        assert_eq!(ids(&sorted), ids(&ordered.iter().collect::<Vec<_>>()));
    }
}
