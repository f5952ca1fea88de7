//! Items that the head lacks or did not score.

use super::*;
use juror_types::run::SampleRecord;

#[test]
fn many_lost_items_are_a_regression_where_they_count_as_failed() {
    for strict in [false, true] {
        let rules = Rules { strict, ..RULES };
        let found = compared(good(60), with_broken(60, 45, Outcome::Failed), rules);
        assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
        assert!(found.headline.starts_with("Worse: 45 of 60 items lost"), "{}", found.headline);
        assert!(found.decided_by.contains(&"lost_items".to_owned()), "{:?}", found.decided_by);
        let lost = &found.lost[0];
        assert_eq!((lost.base, lost.failing, lost.absent, lost.share), (60, 45, 0, 0.75));
    }
}

#[test]
fn skipped_and_missing_items_are_at_best_inconclusive() {
    let missing: Vec<JobResult> = good(60).into_iter().skip(5).collect();
    // Its verdicts are lost to the judge, not to the pipeline.
    let outage = with_broken(60, 45, Outcome::Unscorable);
    for head in [with_broken(60, 45, Outcome::Skipped), missing, outage] {
        for strict in [false, true] {
            let found = compared(good(60), head.clone(), Rules { strict, ..RULES });
            assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
            assert_eq!(found.decided_by, ["lost_items"]);
            assert!(found.reason.contains("not judged or missing"), "{}", found.reason);
            assert!(found.deciding_sample_size.is_none());
        }
    }
}

#[test]
fn few_lost_items_are_allowed_and_the_limit_is_configurable() {
    let one = compared(good(60), with_broken(60, 1, Outcome::Skipped), RULES);
    assert_eq!((one.decision, one.lost[0].exceeds), (Decision::Same, false), "{}", one.reason);
    let many = with_broken(60, 45, Outcome::Skipped);
    let allowed = compared(good(60), many, Rules { max_lost: 0.8, ..RULES });
    assert_eq!(allowed.decision, Decision::Same, "{}", allowed.reason);
}

#[test]
fn items_lost_only_in_the_baseline_are_a_warning() {
    let found = compared(with_broken(60, 9, Outcome::Failed), good(60), RULES);
    assert_eq!(found.decision, Decision::Same, "{}", found.reason);
    let reported = "9 items are scored only in the head, and are not compared";
    assert!(found.warnings.iter().any(|warning| warning == reported), "{:?}", found.warnings);
}

#[test]
fn missing_value_counts_as_lost_without_a_judge() {
    let mut head = stages(120);
    for result in head.iter_mut().take(114) {
        result.generation = None;
    }
    let worse = measured(stages(120), head);
    assert_eq!(worse.decision, Decision::Worse, "{}", worse.reason);
    assert!(worse.headline.contains("Compilation lost in 114 of 120 items"), "{}", worse.headline);
    assert!(worse.reason.contains("with Compilation in the base"), "{}", worse.reason);
}

#[test]
fn items_outside_of_a_sample_are_not_lost() {
    let (mut record, results) = with_judge(good(60));
    record.dataset.sample = Some(SampleRecord { items: 60, seed: 0, of: 300, until_width: None });
    let found = compared_as(with_judge(good(300)), (record, results), RULES).unwrap();
    assert_eq!((found.decision, found.paired), (Decision::Same, 60), "{}", found.reason);
    assert!(found.lost.is_empty() && found.warnings.is_empty(), "{:?}", found.warnings);
    let (mut record, results) = with_judge(good(60));
    record.dataset.sample = Some(SampleRecord { items: 60, seed: 0, of: 290, until_width: None });
    let fewer = compared_as(with_judge(good(300)), (record.clone(), results), RULES).unwrap();
    assert_eq!((fewer.decision, fewer.lost[0].absent), (Decision::Inconclusive, 10));
    let warned = "at least 10 items of the base are not in the 290 items of which the head judged";
    assert!(fewer.warnings[0].starts_with(warned), "{:?}", fewer.warnings);
    record.dataset.sample = Some(SampleRecord { items: 300, seed: 0, of: 60, until_width: None });
    let whole = compared_as(with_judge(good(300)), (record, good(60)), RULES).unwrap();
    assert_eq!((whole.decision, whole.lost[0].absent), (Decision::Inconclusive, 240));
    let all = compared_as(with_judge(good(300)), with_judge(good(60)), RULES).unwrap();
    assert_eq!(all.decision, Decision::Inconclusive, "{}", all.reason);
}

#[test]
fn items_that_a_sample_cannot_have_left_out_are_lost() {
    // Four of 27 ids are replaced, and 25 items sampled: at most two are left out.
    let replaced: Vec<_> = (5..30).map(|id| shown(id, GOOD, b"one")).collect();
    let head = |filters: &[&str]| {
        let mut record = run_of(SEMANTIC, 1, &replaced);
        let filters = filters.iter().map(|&filter| filter.to_owned());
        record.dataset.filters = filters.collect();
        let sample = SampleRecord { items: 25, seed: 0, of: 27, until_width: None };
        record.dataset.sample = Some(sample);
        compared_as(with_judge(good(27)), (record, replaced.clone()), RULES).unwrap()
    };
    let found = head(&[]);
    assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
    let lost = &found.lost[0];
    assert_eq!((found.paired, lost.base, lost.absent), (22, 25, 3));
    assert_eq!((&found.items.gone[..], found.changes.not_compared), (&[][..], 3 + 3));
    assert!(found.warnings[0].starts_with("at least 3 items of the base"), "{:?}", found.warnings);
    let filtered = head(&["team=checkout"]);
    assert_eq!((filtered.decision, &filtered.lost[..]), (Decision::Same, &[][..]));
}
