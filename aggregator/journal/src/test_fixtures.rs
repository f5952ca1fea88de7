//! Results, rubrics and run records for tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "for tests, which may break off"
)]

use indexmap::IndexMap;
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceSource},
    id::{Digest, RunId},
    item::Item,
    job::{Job, RubricReference},
    outcome::{ErrorKind, Estimate, JobError, JobResult, Outcome},
    rubric::Rubric,
    run::{JudgingTime, RunRecord},
    stage::{Generation, Retrieval, TokenExtraction},
    test_record::{self, judge, judge_record, recolored_button, semantic_score},
    usage::{Money, Usage},
    verdict::{Dimension, Score, SubScore, Verdict},
};

pub const SEMANTIC: &str = r#"
schema = 1
id = "semantic"
version = 1
title = "Does the code match the screenshot?"
images = [{ name = "screenshot", label = "Screenshot" }]
needs = ["generated_code"]
scale = { min = 0, max = 10 }
max_output_tokens = 1000
success = { above = 0.85 }
formula = "sum_over_max"
criteria = [
  { key = "visual_similarity", title = "Visual similarity", guidance = "-" },
  { key = "token_adherence", title = "Token adherence", guidance = "-" },
  { key = "variant_accuracy", title = "Variant accuracy", guidance = "-" },
  { key = "feature_completeness", title = "Feature completeness", guidance = "-" },
  { key = "layout_accuracy", title = "Layout accuracy", guidance = "-" },
]
metrics = [
  { name = "avg_visual_similarity", of = "visual_similarity", kind = "mean" },
  { name = "avg_token_adherence", of = "token_adherence", kind = "mean" },
  { name = "avg_layout_accuracy", of = "layout_accuracy", kind = "mean" },
  { name = "variant_accuracy_rate", of = "variant_accuracy", kind = "perfect_rate" },
  { name = "feature_completeness_rate", of = "feature_completeness", kind = "perfect_rate" },
]
prompt = { system = "-", task = "-" }
"#;

pub const ACRUE: &str = r#"
schema = 1
id = "acrue"
version = 1
title = "How good is the restyled image?"
images = [{ name = "original", label = "Original" }, { name = "restyled", label = "Restyled" }]
needs = ["style"]
scale = { min = 1, max = 5 }
max_output_tokens = 3000
success = { at_least = 0.7 }
formula = "weighted_groups"
groups = [
  { key = "accuracy", title = "Accuracy", weight = 1.0 },
  { key = "completeness", title = "Completeness", weight = 1.0 },
  { key = "relevance", title = "Relevance", weight = 0.5 },
  { key = "usefulness", title = "Usefulness", weight = 0.5 },
  { key = "exceptional_value", title = "Exceptional value", weight = 2.0 },
]
criteria = [
  { key = "faithfulness", title = "Faithfulness", guidance = "-", group = "accuracy" },
  { key = "subject_retention", title = "Subjects", guidance = "-", group = "completeness" },
  { key = "intent_alignment", title = "Intent", guidance = "-", group = "relevance" },
  { key = "clarity", title = "Clarity", guidance = "-", group = "usefulness" },
  { key = "tasteful_novelty", title = "Novelty", guidance = "-", group = "exceptional_value" },
]
grades = [
  { name = "A+", from = 90 }, { name = "A", from = 80 }, { name = "B", from = 70 },
  { name = "C", from = 60 }, { name = "F", from = 0 },
]
metrics = [
  { name = "avg_accuracy", of = "accuracy", kind = "group_mean" },
  { name = "avg_completeness", of = "completeness", kind = "group_mean" },
  { name = "avg_relevance", of = "relevance", kind = "group_mean" },
  { name = "avg_usefulness", of = "usefulness", kind = "group_mean" },
  { name = "avg_exceptional_value", of = "exceptional_value", kind = "group_mean" },
]
prompt = { system = "-", task = "-" }
"#;

pub fn rubric(text: &str) -> Rubric {
    toml::from_str(text).unwrap()
}

pub fn run_id() -> RunId {
    RunId::new("nightly-2026-11-21")
}

fn reference() -> RubricReference {
    RubricReference { id: "semantic".into(), version: 1, digest: Digest::from_content(b"rubric") }
}

pub fn record(rubric: &str, planned: u64) -> RunRecord {
    let id = if rubric == ACRUE { "acrue" } else { "semantic" };
    RunRecord {
        rubric: RubricReference { id: id.into(), ..reference() },
        rubric_text: rubric.into(),
        base_url: Some("https://api.openai.com/v1".into()),
        judging: Some(JudgingTime {
            sessions: 1,
            active_ms: 192_000,
            open_since: None,
            ended_at: Some("2026-11-21T02:03:15Z".into()),
        }),
        budget_usd: Some("5".parse().unwrap()),
        planned,
        ..test_record::record(run_id().as_str())
    }
}

pub fn bare(id: &str, outcome: Outcome) -> JobResult {
    let item = Item { id: id.into(), ..Item::default() };
    JobResult::empty(&Job::new(&run_id(), item, 0, reference(), Some(judge())), outcome)
}

/// Result of the deterministic stages of a valid item.
pub fn staged(id: &str) -> JobResult {
    let mut result = bare(id, Outcome::Scored);
    result.token_extraction = Some(TokenExtraction { accuracy: 0.92 });
    result.retrieval = Some(Retrieval { correct: true, retrieved: Some("button".into()) });
    result.generation = Some(Generation {
        code_compiles: Some(true),
        quality_score: Some(0.88),
        renders: None,
        error: None,
    });
    result.pipeline_success = Some(true);
    result.total_latency_ms = 40;
    result
}

fn asked(mut result: JobResult) -> JobResult {
    result.judge = Some(judge_record());
    result.total_latency_ms = 2_850;
    result.usage = Usage { input_tokens: 1_523, cached_input_tokens: 0, output_tokens: 212 };
    result.cost_usd = Money::from_pico(5_927_500_000);
    result.attempts = 1;
    result.estimate = Some(Estimate {
        expected_usd: Money::from_pico(6_000_000_000),
        worst_case_usd: Money::from_pico(15_000_000_000),
        worst_job_usd: Money::from_pico(15_000_000_000),
    });
    result
}

pub fn judged(id: &str, scores: [u32; 5], issues: &[&str], strengths: &[&str]) -> JobResult {
    let mut result = asked(staged(id));
    let verdict = Verdict::new("semantic@1", semantic_score(scores));
    result.pipeline_success = Some(verdict.correctness() > 0.85);
    result.semantic = Some(Verdict {
        issues: issues.iter().map(|&text| text.to_owned()).collect(),
        strengths: strengths.iter().map(|&text| text.to_owned()).collect(),
        ..verdict
    });
    result
}

pub fn restyled(id: &str, scores: [u32; 5], issues: &[&str]) -> JobResult {
    let rubric = rubric(ACRUE);
    let mut result = asked(bare(id, Outcome::Scored));
    let mut dimensions = IndexMap::new();
    let mut weighted_total = 0.0;
    for ((group, criterion), score) in rubric.groups.iter().zip(&rubric.criteria).zip(scores) {
        weighted_total += group.weight * f64::from(score);
        let sub_score = SubScore { score, rationale: "It shows.".into() };
        let sub_scores = IndexMap::from([(criterion.key.clone(), sub_score)]);
        dimensions.insert(group.key.clone(), Dimension { score: score.into(), sub_scores });
    }
    let percentage = weighted_total / 25.0 * 100.0;
    let grade = rubric.grades.iter().find(|grade| percentage >= grade.from).unwrap().name.clone();
    let score = Score::Groups {
        dimensions,
        weighted_total,
        percentage,
        grade,
        overall_assessment: "A faithful print.".into(),
    };
    result.semantic = Some(Verdict {
        issues: issues.iter().map(|&text| text.to_owned()).collect(),
        strengths: vec!["The palette is that of the style".into()],
        ..Verdict::new("acrue@1", score)
    });
    result
}

pub fn broken(id: &str, outcome: Outcome, kind: ErrorKind, message: &str) -> JobResult {
    let mut result = bare(id, outcome);
    result.error = Some(JobError { kind, message: message.into() });
    result.pipeline_success = Some(false).filter(|_| outcome != Outcome::Skipped);
    result
}

/// Evidence of a button in another color.
pub fn differing() -> EvidenceOutcome {
    let equal = Evidence::for_equal_pictures(EvidenceSource::Browser);
    EvidenceOutcome::Measured(Box::new(Evidence {
        pixels_equal: 0.97,
        ssim: 0.98,
        ssim_low: 0.81,
        delta_e: 12.1,
        explained: Some(0.97),
        regions: vec![recolored_button()],
        ..equal
    }))
}
