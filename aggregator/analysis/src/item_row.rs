//! One result as a report shows it, without its prompt and reply.

use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{JobError, JobResult, Outcome},
    stage::{Generation, Retrieval, TokenExtraction},
    usage::Money,
    verdict::Verdict,
};
use serde::Serialize;

/// One result of a run, with the field names of results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemRow {
    /// The item.
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
    /// Retrieval.
    pub retrieval: Option<Retrieval>,
    /// Generation.
    pub generation: Option<Generation>,
    /// Evidence of the rendered code; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceOutcome>,
    /// The verdict.
    pub semantic: Option<Verdict>,
    /// Cost of the job's calls in the latest round.
    pub cost_usd: Money,
    /// True if the verdict came from the cache.
    pub cached: bool,
    /// True if the verdict is the simulator's.
    pub simulated: bool,
    /// Its failure.
    pub error: Option<JobError>,
}

impl From<JobResult> for ItemRow {
    fn from(result: JobResult) -> Self {
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
            simulated: result.judge.is_some_and(|judge| judge.simulated),
            error: result.error,
        }
    }
}

impl ItemRow {
    /// The verdict as one number from 0 to 1, if the job is scored and has one.
    pub fn score(&self) -> Option<f64> {
        let verdict = self.semantic.as_ref().filter(|_| self.outcome == Outcome::Scored);
        verdict.map(Verdict::correctness)
    }
}

/// Sort key of results by urgency: missing output first, then unjudged jobs, then low scores, then
/// failed stages.
pub fn urgency(
    outcome: Outcome,
    score: Option<f64>,
    pipeline_success: Option<bool>,
) -> (u8, u64, u8) {
    let outcome = match outcome {
        Outcome::NoOutput => 0,
        Outcome::Failed => 1,
        Outcome::Unscorable => 2,
        Outcome::Scored => 3,
        Outcome::Skipped => 4,
    };
    // Scores are shares, so a millionth distinguishes any two.
    let score = score.map_or(u64::MAX, |score| (score.clamp(0.0, 1.0) * 1e6) as u64);
    let passed = match pipeline_success {
        Some(false) => 0,
        None | Some(true) => 1,
    };
    (outcome, score, passed)
}

/// Serialized name of a kind or an outcome.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
