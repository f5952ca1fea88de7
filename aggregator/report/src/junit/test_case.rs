//! Status of a result's test case, with the thresholds that a failure missed.

use juror_analysis::{format::decimals, run_report::Report};
use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{ErrorKind, JobResult, Outcome},
    rubric::Success,
    run::StageTerms,
};

/// Status of a test case.
pub(super) enum TestCase {
    Passed,
    Failure { kind: &'static str, message: String },
    Error(ErrorKind),
    Skipped,
}

/// Test case of a result. A scored result fails if it is no pipeline success, as in all outputs.
pub(super) fn test_case(report: &Report, result: &JobResult) -> TestCase {
    match result.outcome {
        Outcome::Skipped => TestCase::Skipped,
        Outcome::NoOutput => {
            let message = result.error.as_ref().map(|error| error.message.clone());
            TestCase::Failure { kind: "no_output", message: message.unwrap_or_default() }
        }
        Outcome::Failed | Outcome::Unscorable => {
            TestCase::Error(result.error.as_ref().map_or(ErrorKind::Reply, |error| error.kind))
        }
        Outcome::Scored if result.pipeline_success == Some(false) => match &report.stages {
            Some(terms) => failure(result, terms, report.rubric.success),
            None => failure_without_thresholds(result),
        },
        Outcome::Scored => TestCase::Passed,
    }
}

/// Failure by the thresholds of the run. `bound` is the rubric's own.
fn failure(result: &JobResult, terms: &StageTerms, bound: Success) -> TestCase {
    let bound = terms.correctness.map_or(bound, Success::Above);
    let score = score(result).filter(|score| !bound.passes(*score));
    let score = score.map(|score| {
        let (word, least) = match bound {
            Success::Above(least) => ("above", least),
            Success::AtLeast(least) => ("at least", least),
        };
        format!("scored {}, must be {word} {}", percent(score), percent(least))
    });
    let least = terms.token_accuracy;
    let tokens = token_accuracy(result).filter(|accuracy| *accuracy <= least).map(|accuracy| {
        format!("token accuracy {}, must be above {}", percent(accuracy), percent(least))
    });
    let is_score = score.is_some();
    let facts = score.into_iter().chain(failed_checks(result)).chain(tokens);
    let facts = facts.collect::<Vec<_>>().join("; ");
    match is_score {
        true => TestCase::Failure { kind: "score", message: facts },
        false => TestCase::Failure { kind: "pipeline", message: format!("did not pass: {facts}") },
    }
}

/// Failure in a run whose record has no thresholds, as those of earlier versions. Unless a stage failed that has none, the figures are listed that a threshold failed.
fn failure_without_thresholds(result: &JobResult) -> TestCase {
    let checks: Vec<String> = failed_checks(result).collect();
    let score = score(result).map(|score| format!("scored {}", percent(score)));
    let tokens =
        token_accuracy(result).map(|accuracy| format!("token accuracy {}", percent(accuracy)));
    let facts = match checks.is_empty() {
        false => checks.join("; "),
        true => format!(
            "{} (the record of the run has no thresholds)",
            score.into_iter().chain(tokens).collect::<Vec<_>>().join("; ")
        ),
    };
    TestCase::Failure { kind: "pipeline", message: format!("did not pass: {facts}") }
}

/// Failed stages without a threshold.
fn failed_checks(result: &JobResult) -> impl Iterator<Item = String> {
    let retrieval = result.retrieval.as_ref().filter(|stage| !stage.correct);
    let retrieval = retrieval.map(|_| "retrieval is wrong".to_owned());
    let compiles = result.generation.as_ref().filter(|stage| stage.code_compiles == Some(false));
    let compiles = compiles.map(|stage| match &stage.error {
        Some(error) => format!("the code does not compile: {error}"),
        None => "the code does not compile".to_owned(),
    });
    let renders = result.generation.as_ref().filter(|stage| stage.renders == Some(false));
    let renders =
        renders.map(|_| match result.evidence.as_ref().and_then(EvidenceOutcome::error) {
            Some(error) => format!("the code does not render: {error}"),
            None => "the code does not render".to_owned(),
        });
    [compiles, renders, retrieval].into_iter().flatten()
}

fn score(result: &JobResult) -> Option<f64> {
    result.verdict().map(juror_types::verdict::Verdict::correctness)
}

fn token_accuracy(result: &JobResult) -> Option<f64> {
    result.token_extraction.as_ref().map(|stage| stage.accuracy)
}

fn percent(share: f64) -> String {
    format!("{}%", decimals(share * 100.0, 1))
}
