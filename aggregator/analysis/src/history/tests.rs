use super::*;
use crate::test_fixtures::{SEMANTIC, record};
use juror_types::run::{DatasetRecord, DecisionTerms, StageCommands, StageTerms};

#[test]
fn runs_of_other_items_rubrics_or_judges_are_another_series() {
    let one = record(SEMANTIC, 3);
    let again = RunRecord { budget_usd: None, repeat: 5, planned: 15, ..one.clone() };
    assert!(are_comparable(&one, &again));
    let dataset = DatasetRecord { limit: Some(2), ..one.dataset.clone() };
    for other in [
        RunRecord { dataset, ..one.clone() },
        RunRecord { judge: None, ..one.clone() },
        RunRecord { max_side: Some(512), ..one.clone() },
    ] {
        assert!(!are_comparable(&one, &other), "{other:?}");
    }
}

#[test]
fn runs_of_other_stages_or_averages_are_of_another_kind() {
    let terms = |missing_output| DecisionTerms {
        gate: None,
        gate_digest: None,
        margin: 0.05,
        strict: false,
        max_lost: 0.0,
        failed_jobs: Some(CountAs::Excluded),
        missing_output: Some(missing_output),
    };
    let run =
        |missing_output| RunRecord { decision: Some(terms(missing_output)), ..record(SEMANTIC, 3) };
    let one = run(CountAs::Zero);
    let other_averages = run(CountAs::Excluded);
    assert!(is_of_one_kind(&one, &run(CountAs::Zero)) && !is_of_one_kind(&one, &other_averages));
    assert!(have_equal_stages(&one, &other_averages));
    let stages =
        StageTerms { token_accuracy: 0.5, correctness: None, commands: StageCommands::default() };
    let other_stages = RunRecord { stages: Some(stages), ..one.clone() };
    assert!(are_comparable(&one, &other_stages));
    assert!(!have_equal_stages(&one, &other_stages) && !is_of_one_kind(&one, &other_stages));
}

#[test]
fn model_fingerprint_change_is_reported_once() {
    let figures = |fingerprint: &str| RunFigures {
        metrics: BTreeMap::new(),
        planned: 1,
        scored: 1,
        cost_usd: Money::ZERO,
        from_cache: false,
        simulated: false,
        fingerprints: fingerprint.split_whitespace().map(str::to_owned).collect(),
        journal_bytes: None,
    };
    let runs = ["a", "a", "", "b", "b"].map(figures);
    let ids = ["r0", "r1", "r2", "r3", "r4"].map(RunId::new);
    let changes = fingerprint_changes(ids.iter().zip(&runs));
    let sentence = "the model's fingerprint changed from a (run r1) to b (run r3)";
    assert_eq!(changes, [(3, sentence.to_owned())]);
}
