//! New, fixed, worse and flaky items and issues of complete comparisons.

use super::*;
use crate::{
    comparison::{BaselineChanges, ChangedItem, FallBound},
    gate::{Gate, GateDecision, GateReport},
    stability::{FlakyItem, NightOutcome},
    test_fixtures::{SEMANTIC, broken, comparisons::*, staged},
};
use juror_types::{
    outcome::{ErrorKind, JobResult, Outcome},
    run::{RunRecord, SampleRecord},
};
use std::ops::Range;

const SCORED: [u32; 5] = [9; 5];

/// Item that passes or fails with this score on each criterion.
fn item(id: usize, score: u32, passes: bool, issue: &str) -> JobResult {
    let mut result = shown(id, [score; 5], b"one");
    result.pipeline_success = Some(passes);
    let issues = Some(issue.to_owned()).filter(|issue| !issue.is_empty());
    result.semantic.as_mut().unwrap().issues = issues.into_iter().collect();
    result
}

fn both() -> (Vec<JobResult>, Vec<JobResult>) {
    let steady = (10..30).map(|id| item(id, 9, true, ""));
    let base = vec![
        item(0, 9, true, ""),
        item(1, 4, false, "Border is 1px, should be 2px"),
        item(2, 9, true, ""),
        item(3, 9, true, ""),
        item(4, 9, true, ""),
    ];
    let head = vec![
        item(0, 4, false, "Missing icon in the button"),
        item(1, 9, true, ""),
        item(2, 7, true, ""),
        broken("shot_003", Outcome::Failed, ErrorKind::Api, "gone"),
        item(4, 3, false, ""),
    ];
    (base.into_iter().chain(steady.clone()).collect(), head.into_iter().chain(steady).collect())
}

fn flaky(id: &str) -> ItemStability {
    let outcomes = vec![NightOutcome::Passed, NightOutcome::Failed, NightOutcome::Passed];
    let item = FlakyItem { id: id.to_owned(), outcomes, changes: 2 };
    ItemStability { flaky: [(id.to_owned(), item)].into(), ..ItemStability::default() }
}

fn ids(items: &[ChangedItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

fn after(stability: &ItemStability, rules: Rules) -> Comparison {
    let (base, head) = both();
    let records = [&base, &head].map(|results| run_of(SEMANTIC, 1, results));
    let [before, now] = records;
    compared_after(stability, (before, base), (now, head), rules).unwrap()
}

#[test]
fn item_is_in_one_group_and_its_issues_are_listed_beside_it() {
    let changes = after(&ItemStability::default(), RULES).changes;
    assert_eq!(ids(&changes.new.items), ["shot_000", "shot_003", "shot_004"]);
    assert_eq!(ids(&changes.fixed.items), ["shot_001"]);
    assert_eq!(ids(&changes.worse.items), ["shot_002"]);
    assert_eq!(changes.new.items[0].head, Some(0.4));
    assert_eq!(changes.new.items[1].error, Some(ErrorKind::Api));
    let label = |issues: &[crate::comparison::IssueChange]| issues[0].label.clone();
    assert_eq!(label(&changes.new.issues), "Missing icon in the button");
    assert_eq!(label(&changes.fixed.issues), "Border is 1px, should be 2px");
    assert!(changes.flaky.is_empty() && !changes.flaky_left_out);
    assert_eq!((changes.worse_by, changes.worse_by_origin), (0.1, FallBound::Assumed));
    let text = serde_json::to_string(&changes).unwrap();
    assert_eq!(serde_json::from_str::<BaselineChanges>(&text).unwrap(), changes);
}

#[test]
fn fall_within_the_noise_is_no_regression() {
    let noisy = ItemStability { noise_variance: Some(0.01), ..ItemStability::default() };
    let changes = after(&noisy, RULES).changes;
    assert_eq!(changes.worse_by_origin, FallBound::Runs);
    assert_eq!(ids(&changes.worse.items), Vec::<&str>::new(), "{}", changes.worse_by);
    let calm = ItemStability { noise_variance: Some(0.0), ..ItemStability::default() };
    assert_eq!(ids(&after(&calm, RULES).changes.worse.items), ["shot_002"]);
}

#[test]
fn flaky_item_is_listed_once_and_excluded_from_the_decision_only_if_configured() {
    let counted = after(&flaky("shot_004"), RULES);
    assert_eq!(ids(&counted.changes.new.items), ["shot_000", "shot_003"]);
    assert_eq!(counted.changes.flaky.len(), 1);
    let left_out = after(&flaky("shot_004"), Rules { leave_out_flaky: true, ..RULES });
    assert_eq!((counted.paired, left_out.paired), (25, 24));
    assert!(left_out.changes.flaky_left_out);
    assert!(left_out.warnings.iter().any(|text| text.contains("decision: 1 flaky item")));
    let (before, after) = (counted.decisive.difference, left_out.decisive.difference);
    assert!(after.difference > before.difference, "{before:?} {after:?}");
}

#[test]
fn equal_runs_have_no_changed_items() {
    let results = || vec![shown(0, SCORED, b"one"), shown(1, SCORED, b"one")];
    let changes = compared(results(), results(), RULES).changes;
    let nothing = BaselineChanges { worse_by: 0.1, ..BaselineChanges::default() };
    assert_eq!(changes, nothing);
}

#[test]
fn more_than_a_fifth_of_changed_inputs_are_inconclusive_at_best() {
    let decided = |changed: usize, score: u32| {
        let image = |id: usize| if id < changed { b"two" } else { b"one" };
        let base = (0..27).map(|id| shown(id, SCORED, b"one")).collect();
        let head = (0..27).map(|id| shown(id, [score; 5], image(id))).collect();
        compared(base, head, RULES)
    };
    let found = decided(25, 9);
    assert_eq!((found.decision, found.paired), (Decision::Inconclusive, 2));
    assert_eq!(found.decided_by, ["unpaired_items"]);
    assert_eq!(found.headline, "Inconclusive: 25 of 27 items changed or gone");
    let reason = "only 2 of the base's 27 items have a pair: 25 have another input and 0 are gone";
    assert!(found.reason.starts_with(reason), "{}", found.reason);
    assert!(found.deciding_sample_size.is_none());
    assert_eq!(decided(6, 9).decision, Decision::Inconclusive);
    assert_eq!(decided(5, 9).decision, Decision::Same);
    assert_eq!(decided(6, 10).decision, Decision::Inconclusive, "rather than better");
    assert_eq!(decided(6, 5).decision, Decision::Worse);
}

#[test]
fn pairs_of_less_than_half_of_the_head_are_inconclusive_at_best() {
    let items = |ids: Range<usize>| ids.map(|id| shown(id, SCORED, b"one")).collect::<Vec<_>>();
    let sampled = |ids: Range<usize>, seed| {
        let results = items(ids);
        let mut record = run_of(SEMANTIC, 1, &results);
        record.dataset.sample = Some(SampleRecord { items: 20, seed, of: 100, until_width: None });
        (record, results)
    };
    let whole = || (run_of(SEMANTIC, 1, &items(0..100)), items(0..100));
    let other_sample = compared_as(sampled(0..20, 0), sampled(16..36, 4), RULES).unwrap();
    assert_eq!((other_sample.decision, other_sample.paired), (Decision::Inconclusive, 4));
    assert_eq!(other_sample.headline, "Inconclusive: 16 of 20 items not compared");
    let reason = "only 4 of the head's 20 items are compared: 16 are not in the base";
    assert!(other_sample.reason.starts_with(reason), "{}", other_sample.reason);
    assert_eq!(other_sample.changes.not_compared, 16);
    assert!(other_sample.has_too_few_pairs);
    let grown = compared_as(sampled(0..20, 0), whole(), RULES).unwrap();
    assert_eq!((grown.decision, grown.changes.not_compared), (Decision::Inconclusive, 80));
    let part = compared_as(whole(), sampled(0..20, 0), RULES).unwrap();
    assert_eq!((part.decision, part.has_too_few_pairs), (Decision::Same, false));

    let failed = (0..20).map(|id| match id {
        0..12 => broken(&format!("shot_{id:03}"), Outcome::Skipped, ErrorKind::Budget, "no budget"),
        _ => shown(id, SCORED, b"one"),
    });
    let unscored = compared(failed.collect(), items(0..20), RULES);
    assert_eq!(unscored.decision, Decision::Inconclusive, "{}", unscored.reason);
}

#[test]
fn item_whose_new_image_is_broken_is_lost() {
    let base: Vec<_> = (0..20).map(|id| shown(id, SCORED, b"one")).collect();
    let head = base.iter().enumerate().map(|(id, scored)| match id {
        0..9 => JobResult {
            item: shown(id, SCORED, b"broken").item,
            ..broken(&scored.screenshot_id, Outcome::Failed, ErrorKind::Image, "not an image")
        },
        _ => scored.clone(),
    });
    let found = compared(base.clone(), head.collect(), RULES);
    assert_eq!((found.decision, found.lost[0].failing), (Decision::Worse, 9), "{}", found.reason);
    assert!(found.items.changed_input.is_empty());
}

#[test]
fn item_without_code_fails_without_a_judge() {
    let run = |codeless: usize| {
        let results = (0..20).map(|id| {
            let result = staged(&format!("i{id:03}"));
            let generation = result.generation.clone().filter(|_| id >= codeless);
            JobResult { generation, ..result }
        });
        let results: Vec<_> = results.collect();
        let record = RunRecord { judge: None, ..run_of(SEMANTIC, 1, &results) };
        (record, results)
    };
    let found = compared_as(run(0), run(3), RULES).unwrap();
    assert_eq!(found.changes.new.items.len(), 3, "{:?}", found.changes);
    assert_eq!(found.items.newly_failing.len(), 3);
    let back = compared_as(run(3), run(0), RULES).unwrap();
    assert_eq!((back.changes.new.items.len(), back.changes.fixed.items.len()), (0, 3));
}

#[test]
fn items_outside_of_a_smaller_selection_are_not_unpaired() {
    let rules = Rules { max_lost: 1.0, ..RULES };
    let decided = |limits: [Option<u64>; 2], filters: &[&str]| {
        let items = |count| (0..count).map(|id| shown(id, SCORED, b"one")).collect::<Vec<_>>();
        let [mut base, mut head] = [20, 5].map(|count| run_of(SEMANTIC, 1, &items(count)));
        [base.dataset.limit, head.dataset.limit] = limits;
        head.dataset.filters = filters.iter().map(|&filter| filter.to_owned()).collect();
        compared_as((base, items(20)), (head, items(5)), rules).unwrap().decision
    };
    assert_eq!(decided([None, Some(5)], &[]), Decision::Same);
    assert_eq!(decided([None, None], &["team=checkout"]), Decision::Same);
    assert_eq!(decided([None, None], &[]), Decision::Inconclusive);
    assert_eq!(decided([Some(20), Some(20)], &[]), Decision::Inconclusive);
}

#[test]
fn more_than_a_tenth_of_changed_items_is_a_warning() {
    let warns = |changed: usize| {
        let image = |id: usize| if id < changed { b"two" } else { b"one" };
        let base = (0..20).map(|id| shown(id, SCORED, b"one")).collect();
        let head = (0..20).map(|id| shown(id, SCORED, image(id))).collect();
        let warnings = compared(base, head, RULES).warnings;
        warnings.iter().any(|text| text.contains("3 of the base's 20 items have another input (3)"))
    };
    assert!(warns(3) && !warns(2));
}

#[test]
fn rule_on_changes_is_undecided_while_jobs_are_pending() {
    let decided = |at_most: u32, pending: u64| {
        let rule = format!("[[rule]]\nmetric = \"changes.new.items\"\nat_most = {at_most}");
        let gate = Gate::parse("g", &format!("schema = 1\n{rule}")).unwrap();
        let mut found = after(&ItemStability::default(), RULES);
        found.head.coverage.pending = pending;
        let (gate_name, decision, rules) = ("g".to_owned(), GateDecision::Met, Vec::new());
        let mut report = GateReport { gate: gate_name, decision, rules };
        gate.decide_changes(&mut report, &found);
        report.decision
    };
    assert_eq!([decided(3, 0), decided(3, 1)], [GateDecision::Met, GateDecision::Undecided]);
    assert_eq!([decided(2, 0), decided(2, 1)], [GateDecision::Missed; 2]);
}
