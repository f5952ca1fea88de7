//! Rules that decide in addition to the interval of the decisive metric.

mod clusters;
mod lost_items;

use super::*;
use crate::test_fixtures::comparisons::{RULES, compared, compared_as, run_of, shown};
use crate::test_fixtures::{SEMANTIC, broken, staged};
use juror_types::{
    id::Digest,
    outcome::{ErrorKind, InputRecord, JobResult, Outcome},
    run::RunRecord,
};

const GOOD: [u32; 5] = [9; 5];

fn good(count: usize) -> Vec<JobResult> {
    (0..count).map(|id| shown(id, GOOD, b"one")).collect()
}

/// The same items, with another outcome of the first ones.
fn with_broken(count: usize, broken_items: usize, outcome: Outcome) -> Vec<JobResult> {
    let mut results = good(count);
    for (id, result) in results.iter_mut().take(broken_items).enumerate() {
        let kind = match outcome {
            Outcome::Failed => ErrorKind::Image,
            Outcome::NoOutput => ErrorKind::Output,
            _ => ErrorKind::Reply,
        };
        *result = broken(&format!("shot_{id:03}"), outcome, kind, "no answer");
    }
    results
}

fn stages(count: usize) -> Vec<JobResult> {
    (0..count).map(|id| staged(&format!("shot_{id:03}"))).collect()
}

/// Runs without a judge.
fn measured(base: Vec<JobResult>, head: Vec<JobResult>) -> Comparison {
    compared_as(without_judge(base), without_judge(head), RULES).unwrap()
}

fn without_judge(results: Vec<JobResult>) -> (RunRecord, Vec<JobResult>) {
    (RunRecord { judge: None, ..run_of(SEMANTIC, 1, &results) }, results)
}

fn with_judge(results: Vec<JobResult>) -> (RunRecord, Vec<JobResult>) {
    (run_of(SEMANTIC, 1, &results), results)
}

#[test]
fn unknown_inputs_are_warned_of_only_where_a_judge_sees_them() {
    let found = measured(stages(20), stages(20));
    assert_eq!(found.warnings, Vec::<String>::new());
    let found = compared_as(with_judge(stages(20)), without_judge(stages(20)), RULES).unwrap();
    let warned = found.warnings.iter().any(|text| text.contains("matched by id only"));
    assert!(warned, "{:?}", found.warnings);
}

#[test]
fn run_without_a_judge_is_compared_by_stages_alone() {
    // Verdicts below the threshold of the pipeline's success, and replies that never came.
    let mut judged = stages(20);
    for (id, result) in judged.iter_mut().enumerate() {
        result.semantic = shown(id, [2; 5], b"one").semantic;
        result.pipeline_success = Some(false);
    }
    for (id, kind) in [(0, ErrorKind::Api), (1, ErrorKind::Budget)] {
        let outcome = if id == 0 { Outcome::Failed } else { Outcome::Skipped };
        let error = broken(&format!("shot_{id:03}"), outcome, kind, "no answer").error;
        judged[id] = JobResult { outcome, error, semantic: None, ..judged[id].clone() };
    }
    let mut unjudged = stages(20);
    for result in &mut unjudged {
        result.semantic = None;
        result.pipeline_success = Some(true);
    }
    let compared = |base: &[JobResult], head: &[JobResult], judged_base: bool| {
        let run = |results: &[JobResult], judged: bool| match judged {
            true => with_judge(results.to_vec()),
            false => without_judge(results.to_vec()),
        };
        compared_as(run(base, judged_base), run(head, !judged_base), RULES).unwrap()
    };
    for judged_base in [true, false] {
        let (base, head) = if judged_base { (&judged, &unjudged) } else { (&unjudged, &judged) };
        let found = compared(base, head, judged_base);
        assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
        assert_eq!((found.items.newly_failing.len(), &found.lost[..]), (0, &[][..]));
        let changed = [&found.changes.new, &found.changes.fixed, &found.changes.worse];
        assert!(changed.iter().all(|group| group.items.is_empty()), "{:?}", found.changes);
        assert!(found.passes.iter().all(|rate| rate.metric != "pipeline_success_rate"));
        assert!(found.judge_differences[0].contains("with the judge off"));
        assert!(found.reason.contains("with the judge off"), "{}", found.reason);
        assert!(!found.warnings.iter().any(|text| text.contains("scored only in")));

        // What fails without a judge too is named, in the run in which it fails.
        let mut broken_code = head.clone();
        broken_code[5].generation.as_mut().unwrap().code_compiles = Some(false);
        let found = compared(base, &broken_code, judged_base);
        let failing: Vec<_> =
            found.items.newly_failing.iter().map(|item| item.id.as_str()).collect();
        assert_eq!((failing, found.changes.new.items.len()), (vec!["shot_005"], 1));
        let fixed = compared(&broken_code, base, !judged_base);
        assert_eq!(fixed.items.newly_failing, []);
        assert_eq!((fixed.changes.fixed.items.len(), fixed.changes.new.items.len()), (1, 0));
    }
}

#[test]
fn fallen_rate_decides_with_the_judge_enabled() {
    let mut head = good(120);
    for result in head.iter_mut().take(9) {
        result.pipeline_success = Some(false);
    }
    let found = compared(good(120), head, RULES);
    assert_eq!(found.decisive.decision, Decision::Same);
    assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
    assert!(found.headline.contains("Pipeline Success 100% → 92.5%"), "{}", found.headline);
    assert_eq!(found.decided_by, ["pipeline_success_rate"]);
}

#[test]
fn deterministic_stages_decide_without_a_judge() {
    let mut head = stages(40);
    for result in head.iter_mut().take(12) {
        result.generation.as_mut().unwrap().code_compiles = Some(false);
    }
    let worse = measured(stages(40), head.clone());
    assert_eq!(worse.decision, Decision::Worse, "{}", worse.reason);
    assert!(worse.headline.contains("Compilation 100% → 70%"), "{}", worse.headline);
    assert_eq!(measured(head, stages(40)).decision, Decision::Better);
    let same = measured(stages(40), stages(40));
    assert_eq!(same.decision, Decision::Same, "{}", same.reason);
    assert!(same.reason.contains("deterministic stages decide"), "{}", same.reason);
}

#[test]
fn run_without_verdicts_is_not_equal_to_a_judged_run() {
    let outage = || with_broken(60, 60, Outcome::Failed);
    let pairs = [
        (with_judge(outage()), with_judge(good(60)), "no item has a score in both runs"),
        (with_judge(good(40)), without_judge(stages(40)), "the head was run with the judge off"),
        (without_judge(stages(40)), with_judge(good(40)), "the base was run with the judge off"),
    ];
    for (base, head, reason) in pairs {
        let found = compared_as(base, head, RULES).unwrap();
        assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
        assert!(found.reason.contains(reason), "{}", found.reason);
        assert_eq!((found.comparable(), found.changes.fixed.issues.len()), (0, 0));
    }
}

#[test]
fn token_accuracy_decides_by_its_interval() {
    let mut head = stages(40);
    for (id, result) in head.iter_mut().enumerate() {
        let accuracy = if id.is_multiple_of(2) { 0.7 } else { 0.8 };
        result.token_extraction.as_mut().unwrap().accuracy = accuracy;
    }
    let found = measured(stages(40), head);
    assert_eq!(found.decided_by, ["token_extraction.accuracy"]);
    assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
}

/// Two hundred items of which six fall from 0.8 to 0.
fn six_fallen(cluster: Option<&str>) -> Comparison {
    let base: Vec<JobResult> = (0..200).map(|id| shown(id, [8; 5], b"one")).collect();
    let mut head = base.clone();
    for (id, result) in head.iter_mut().take(6).enumerate() {
        *result = shown(id, [0; 5], b"one");
        result.pipeline_success = base[id].pipeline_success;
        result.item.cluster = cluster.map(str::to_owned);
    }
    compared(base, head, RULES)
}

#[test]
fn few_large_falls_are_a_regression() {
    let found = six_fallen(None);
    assert_eq!(found.decisive.decision, Decision::Inconclusive);
    assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
    assert_eq!(found.decided_by, ["fallen_items"]);
    let reported = "6 of 200 items fell by more than 30.0 percentage points and 0 rose as far";
    assert!(found.reason.contains(reported), "{}", found.reason);
    assert!(found.reason.contains("p = 0.016") && found.reason.contains("2.5 %"));
}

#[test]
fn few_files_that_stop_compiling_are_a_regression_without_a_judge() {
    let with_broken = |range: std::ops::Range<usize>| {
        let mut results = stages(100);
        for (id, result) in results.iter_mut().enumerate() {
            // A family that breaks as a whole is six facts and not one.
            result.item.cluster = Some(if id < 10 { "cards" } else { "rest" }.to_owned());
            let generation = result.generation.as_mut().unwrap();
            generation.code_compiles = Some(!range.contains(&id));
        }
        results
    };
    let six = measured(with_broken(0..0), with_broken(0..6));
    assert_eq!((six.decision, six.fallen.fell), (Decision::Worse, 6), "{}", six.reason);
    assert!(six.headline.contains("6 of 100 items fail a stage that they passed"), "{six:?}");
    let five = measured(with_broken(0..0), with_broken(0..5));
    assert_ne!(five.decision, Decision::Worse, "{}", five.reason);
    let moved = measured(with_broken(0..6), with_broken(50..56));
    assert_eq!((moved.fallen.fell, moved.fallen.rose), (6, 6));
    assert_ne!(moved.decision, Decision::Worse, "{}", moved.reason);
}

#[test]
fn items_with_other_expectations_are_not_compared() {
    let expecting = |tokens: &[u8], pattern: Option<&str>| {
        let mut results = good(20);
        for result in results.iter_mut().take(5) {
            let tokens = Some(Digest::from_content(tokens));
            let record = InputRecord::unread(InputRecord::EXPECTED_TOKENS, "inline".to_owned());
            result.item.inputs.push(InputRecord { digest: tokens, ..record });
            result.item.expected_pattern = pattern.map(str::to_owned);
        }
        results
    };
    let changed = |head: Vec<JobResult>| {
        let found = compared(expecting(b"two", None), head, RULES);
        assert_eq!(found.items.changed_input.len() as u64, found.changes.not_compared);
        (found.paired, found.changes.not_compared)
    };
    assert_eq!(changed(expecting(b"two", None)), (20, 0));
    assert_eq!(changed(expecting(b"one", None)), (15, 5));
    assert_eq!(changed(expecting(b"two", Some("card"))), (15, 5));
    assert_eq!(changed(good(20)), (15, 5));
    let mut restyled = expecting(b"two", None);
    restyled.iter_mut().take(3).for_each(|result| result.item.style = Some("Cubism".to_owned()));
    assert_eq!(changed(restyled), (17, 3));
    let mut unread = expecting(b"two", None);
    for result in unread.iter_mut().take(5) {
        *result = broken(&result.screenshot_id.clone(), Outcome::Failed, ErrorKind::Api, "gone");
        let tokens = InputRecord::unread(InputRecord::EXPECTED_TOKENS, "inline".to_owned());
        result.item.inputs.push(tokens);
    }
    assert_eq!(changed(unread), (20, 0));
}
