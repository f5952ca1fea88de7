//! Complete comparisons of runs with constructed results.

use super::*;
use crate::comparison::ItemLists;
use crate::test_fixtures::comparisons::*;
use crate::test_fixtures::{ACRUE, SEMANTIC, broken, judged, restyled, run_id};
use juror_types::{
    id::{Digest, RunId},
    job::RubricReference,
    outcome::{ErrorKind, InputRecord, JobResult, Outcome},
};

#[test]
fn equal_results_are_equivalent_and_a_planted_fall_is_a_regression() {
    let same = compared(twenty(0), twenty(0), RULES);
    assert_eq!((same.decision, same.paired), (Decision::Same, 20));
    assert!(same.items == ItemLists::default() && same.deciding_sample_size.is_none());
    assert!(same.judge_differences.is_empty() && same.warnings.is_empty(), "{same:?}");

    let worse = compared(twenty(0), twenty(4), RULES);
    assert_eq!(worse.decision, Decision::Worse, "{}", worse.reason);
    assert_eq!(worse.decisive.difference.difference, Some(-0.07));
    assert_eq!((worse.items.regressed.len(), worse.items.improved.len()), (20, 0));
    assert_eq!(worse.items.regressed[0].difference, -0.08, "the largest fall first");
    let decisions: Vec<_> = worse.criteria.iter().map(|each| each.decision).collect();
    let mut expected = [Decision::Same; 5];
    expected[4] = Decision::Worse;
    assert_eq!(decisions, expected);
    assert_eq!(compared(twenty(4), twenty(0), RULES).decision, Decision::Better);
}

#[test]
fn criterion_decides_only_in_strict_mode() {
    // Layout falls by as much as visual similarity rises.
    let head = |mut results: Vec<JobResult>| {
        for (id, result) in results.iter_mut().enumerate() {
            let token = 8 + (id % 3) as u32;
            *result = shown(id, [10, token, 9, 10, 8], b"one");
        }
        results
    };
    let plain = compared(twenty(0), head(twenty(0)), RULES);
    assert_eq!(plain.decision, Decision::Same);
    let strict = compared(twenty(0), head(twenty(0)), Rules { strict: true, ..RULES });
    assert_eq!(strict.decision, Decision::Worse);
    assert!(strict.reason.contains("Layout Accuracy"), "{}", strict.reason);
}

#[test]
fn items_that_an_unfinished_head_lacks_may_be_pending() {
    let all = run_of(SEMANTIC, 1, &twenty(0));
    let part: Vec<JobResult> = twenty(0).into_iter().take(8).collect();
    let found = compared_as((all.clone(), twenty(0)), (all, part), RULES).unwrap();
    assert_eq!((found.items.gone.len(), found.head.coverage.pending), (12, 12));
    let [unscored, pending] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert!(unscored.contains("12 of the 20 jobs"), "{unscored}");
    assert!(
        pending.contains("12 jobs pending") && pending.contains("12 items of the base"),
        "{pending}"
    );
}

#[test]
fn other_inputs_of_an_unfinished_head_are_reported_and_pending_items_are_no_change() {
    let all = run_of(SEMANTIC, 1, &twenty(0));
    let part = |image: &[u8]| (0..8).map(|id| shown(id, [9; 5], image)).collect::<Vec<_>>();
    let hardly = |head: Vec<JobResult>| {
        let base: Vec<JobResult> = (0..20).map(|id| shown(id, [9; 5], b"one")).collect();
        let found = compared_as((all.clone(), base), (all.clone(), head), RULES).unwrap();
        found.warnings.into_iter().find(|warning| warning.contains("hardly comparable"))
    };
    assert_eq!(hardly(part(b"one")), None);
    assert!(hardly(part(b"other")).unwrap().contains("8 of the base's 8 items"));
}

#[test]
fn items_are_paired_by_id_and_input() {
    let base = vec![
        shown(0, [9; 5], b"a"),
        shown(1, [9; 5], b"a"),
        shown(2, [9; 5], b"a"),
        shown(4, [9; 5], b"a"),
        judged("unknown", [9; 5], &[], &[]),
    ];
    let mut failed = broken("shot_004", Outcome::Failed, ErrorKind::Api, "gone");
    failed.item.inputs = base[3].item.inputs.clone();
    let head = vec![
        shown(0, [8; 5], b"a"),
        shown(1, [2; 5], b"another"),
        shown(3, [9; 5], b"a"),
        failed,
        judged("unknown", [9; 5], &[], &[]),
    ];
    let found = compared(base, head, RULES);
    assert_eq!((found.paired, found.decisive.difference.n), (3, 2));
    let lists = &found.items;
    assert_eq!(lists.changed_input, ["shot_001"]);
    assert_eq!(
        (&lists.gone[..], &lists.new[..]),
        (&["shot_002".into()][..], &["shot_003".into()][..])
    );
    let ids: Vec<_> =
        lists.newly_failing.iter().map(|each| (each.id.as_str(), each.outcome)).collect();
    assert_eq!(ids, [("shot_000", Outcome::Scored), ("shot_004", Outcome::Failed)]);
    assert_eq!(lists.regressed.len(), 1);
    assert!(found.warnings.iter().any(|warning| warning.contains("1 of the 3 pairs")));
    let success = &found.passes[0];
    assert_eq!((success.table.both, success.table.only_base), (1, 1), "what failed is in no table");
}

#[test]
fn only_the_first_image_of_a_rubric_is_an_input() {
    let restyled = |bytes: &[u8]| {
        let mut result = restyled("fox", [4; 5], &[]);
        let image = |name: &str, bytes: &[u8]| InputRecord {
            name: name.into(),
            reference: "-".into(),
            digest: Some(Digest::from_content(bytes)),
            note: None,
            signature: None,
        };
        result.item.inputs = vec![image("original", b"o"), image("restyled", bytes)];
        vec![result]
    };
    let (base, head) = (restyled(b"a"), restyled(b"b"));
    let found =
        compared_as((run_of(ACRUE, 1, &base), base), (run_of(ACRUE, 1, &head), head), RULES)
            .unwrap();
    assert_eq!(found.paired, 1);
    assert_eq!(found.decisive.metric, "semantic.avg_percentage");
    assert_eq!(found.decisive.difference.base, Some(0.8));
}

#[test]
fn repeats_are_averaged_and_give_the_effect_of_more_repeats() {
    let run = |shift: u32| -> Vec<JobResult> {
        let one = |(id, repeat): (usize, u32)| {
            let noise = (id as u32 * 7 + repeat * 3 + shift) % 3;
            JobResult { repeat, ..shown(id, [7 + noise; 5], b"one") }
        };
        (0..8)
            .flat_map(|id| (0..2).map(move |repeat| one((id, repeat))))
            .enumerate()
            .map(|(number, mut result)| {
                result.job_id = juror_types::id::JobId::new(format!("job{number}"));
                result
            })
            .collect()
    };
    let (base, head) = (run(0), run(1));
    let found =
        compared_as((run_of(SEMANTIC, 2, &base), base), (run_of(SEMANTIC, 2, &head), head), RULES)
            .unwrap();
    assert_eq!(found.decisive.difference.n, 8);
    assert_eq!(found.decision, Decision::Inconclusive);
    let sample = found.deciding_sample_size.unwrap();
    assert!(sample.noise_is_known && sample.more_items.is_some(), "{sample:?}");
}

#[test]
fn different_rubric_is_refused_and_different_judge_is_warned_of() {
    let mut other = run_of(SEMANTIC, 1, &twenty(0));
    other.rubric =
        RubricReference { version: 2, digest: Digest::from_content(b"other"), ..other.rubric };
    other.run_id = RunId::new("other");
    let mine = run_of(SEMANTIC, 1, &twenty(0));
    let refused = compared_as((mine.clone(), twenty(0)), (other, vec![]), RULES).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("semantic@1") && text.contains("semantic@2"), "{text}");
    assert!(text.contains(run_id().as_str()) && text.contains("run other"), "{text}");

    let mut judge = mine.clone();
    judge.judge.as_mut().unwrap().model = "gpt-4.1".into();
    let mut simulated = twenty(0);
    simulated[3].judge.as_mut().unwrap().simulated = true;
    let found = compared_as((mine, twenty(0)), (judge, simulated), RULES).unwrap();
    assert!(found.simulated && found.judge_differences.len() == 2, "{:?}", found.judge_differences);
    assert!(found.judge_differences[0].contains("gpt-4.1"));

    let backend = |name: &str| {
        let mut results = twenty(0);
        results[0].judge.as_mut().unwrap().fingerprint = Some(name.into());
        results
    };
    let found = compared(backend("fp_one"), backend("fp_two"), RULES);
    let reported = "fingerprint of the model: fp_one in the base, fp_two in the head";
    assert_eq!(found.judge_differences, [reported]);
    assert!(compared(backend("fp_one"), backend("fp_one"), RULES).judge_differences.is_empty());

    let judged_at = |url: Option<&str>| {
        let mut results = twenty(0);
        results[0].judge.as_mut().unwrap().base_url = url.map(str::to_owned);
        results
    };
    let [one, other] = ["http://gpu-1/v1", "http://gpu-2/v1"].map(Some);
    let found = compared(judged_at(one), judged_at(other), RULES);
    let reported =
        "endpoint of the judge: http://gpu-1/v1 in the base, http://gpu-2/v1 in the head";
    assert_eq!(found.judge_differences, [reported]);
    assert!(compared(judged_at(one), judged_at(None), RULES).judge_differences.is_empty());
}

#[test]
fn runs_without_common_items_give_no_decision() {
    for (base, head) in [(vec![], vec![]), (twenty(0), vec![]), (vec![], twenty(0))] {
        let found = compared(base, head, RULES);
        assert_eq!((found.decision, found.paired), (Decision::Inconclusive, 0));
        assert!(found.reason.contains("no item"), "{}", found.reason);
        assert!(found.deciding_sample_size.is_none());
    }
}
