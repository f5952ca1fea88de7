//! Ends of a result: one for each outcome of a job.

use super::ResultBuilder;
use juror_ledger::job_store::FinishedJob;
use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{ErrorKind, JobError, Outcome},
    rubric::{contradictions_with_evidence, zero},
    verdict::Verdict,
};

impl ResultBuilder {
    /// Ends with every stage that has data; the judge was off.
    pub fn without_verdict(mut self) -> FinishedJob {
        self.result.pipeline_success = self.stages_passed;
        self.finish(Outcome::Scored, None)
    }

    /// Ends without a call, since the pipeline made nothing to judge: zero scores.
    pub fn without_output(self, error: JobError) -> FinishedJob {
        self.unjudged(Outcome::NoOutput, error)
    }

    /// Ends with a verdict.
    pub fn scored(mut self, mut verdict: Verdict) -> FinishedJob {
        let measured = self.result.evidence.as_ref().and_then(EvidenceOutcome::measured);
        let contradicted = measured
            .map(|evidence| contradictions_with_evidence(&self.context.rubric, &verdict, evidence));
        verdict.contradictions.extend(contradicted.unwrap_or_default());
        let regions = measured.map_or(0, |evidence| evidence.regions.len());
        for finding in &mut verdict.findings {
            finding.region = finding.region.filter(|number| *number as usize <= regions);
        }
        let passed = self.context.success.passes(verdict.correctness());
        self.result.pipeline_success = Some(passed && self.stages_passed.unwrap_or(true));
        self.result.semantic = Some(verdict);
        self.finish(Outcome::Scored, None)
    }

    /// Ends with a verdict from the cache.
    pub fn scored_from_cache(mut self, verdict: Verdict) -> FinishedJob {
        self.result.cached = true;
        self.scored(verdict)
    }

    /// Ends with unusable replies.
    pub fn unscorable(mut self, message: String) -> FinishedJob {
        self.result.pipeline_success = Some(false);
        self.finish(Outcome::Unscorable, Some(JobError { kind: ErrorKind::Reply, message }))
    }

    /// Ends without a reply: zero scores where the judge is on.
    pub fn failed(self, error: JobError) -> FinishedJob {
        self.unjudged(Outcome::Failed, error)
    }

    /// Ends without a try.
    pub fn skipped(self, reason: JobError) -> FinishedJob {
        self.finish(Outcome::Skipped, Some(reason))
    }

    fn unjudged(mut self, outcome: Outcome, error: JobError) -> FinishedJob {
        self.result.pipeline_success = Some(false);
        if self.context.judge.is_some() {
            self.result.semantic = Some(zero(&self.context.rubric, &error.message));
        }
        self.finish(outcome, Some(error))
    }

    fn finish(mut self, outcome: Outcome, error: Option<JobError>) -> FinishedJob {
        self.result.outcome = outcome;
        self.result.error = error;
        self.result.total_latency_ms =
            u64::try_from((self.before + self.began.elapsed()).as_millis()).unwrap_or(u64::MAX);
        FinishedJob { claim: self.claim, result: self.result, reply_to_cache: None }
    }
}
