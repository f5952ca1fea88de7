//! Whole comparisons of runs whose results are written here.

use super::*;
use crate::test_results::{ACRUE, SEMANTIC, broken, judged, record, report_of, restyled, run_id};
use juror_common::{
    id::{Digest, RunId},
    job::RubricReference,
    outcome::{CountAs, ErrorKind, InputRecord, Outcome},
    run::RunRecord,
};

pub(super) const RULES: Rules = Rules {
    margin: 0.01,
    strict: false,
    max_lost: 0.02,
    fallen_by: 0.3,
    fallen_share: 0.01,
    use_likely_clusters: true,
    averaging: AveragingPolicy { failed: CountAs::Excluded, no_output: CountAs::Zero },
};

fn run_of(rubric: &str, repeat: u32, results: &[JobResult]) -> RunRecord {
    RunRecord { repeat, ..record(rubric, results.len() as u64) }
}

fn compared_as(
    (base_record, base): (RunRecord, Vec<JobResult>),
    (head_record, head): (RunRecord, Vec<JobResult>),
    rules: Rules,
) -> Result<Comparison, CompareError> {
    let (before, base_directory, _base) = report_of(&base_record, &base, None, None);
    let (after, head_directory, _head) = report_of(&head_record, &head, None, None);
    compare(
        Side { report: &before, results: before.items.read(base_directory.files()).unwrap() },
        Side { report: &after, results: after.items.read(head_directory.files()).unwrap() },
        rules,
    )
}

pub(super) fn compared(base: Vec<JobResult>, head: Vec<JobResult>, rules: Rules) -> Comparison {
    let records = [&base, &head].map(|results| run_of(SEMANTIC, 1, results));
    let [before, after] = records;
    compared_as((before, base), (after, head), rules).unwrap()
}

pub(super) fn shown(id: usize, scores: [u32; 5], image: &[u8]) -> JobResult {
    let mut result = judged(&format!("shot_{id:03}"), scores, &[], &[]);
    result.item.inputs = vec![InputRecord {
        name: "screenshot".into(),
        reference: format!("{id}.png"),
        digest: Some(Digest::of(image)),
        note: None,
        signature: None,
    }];
    result
}

/// Twenty items whose layout is this much worse, give or take a point.
fn twenty(fall: u32) -> Vec<JobResult> {
    let scores = |id: usize| {
        let layout = 9 - fall.min(9) + u32::from(fall > 0 && id.is_multiple_of(2));
        [9, 8 + (id % 3) as u32, 9, 10, layout]
    };
    (0..20).map(|id| shown(id, scores(id), b"one")).collect()
}

#[test]
fn the_same_results_are_the_same_and_a_planted_fall_is_worse() {
    let same = compared(twenty(0), twenty(0), RULES);
    assert_eq!((same.decision, same.paired), (Decision::Same, 20));
    assert!(same.items == ItemLists::default() && same.settling.is_none());
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
fn a_criterion_decides_only_strictly() {
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
            digest: Some(Digest::of(bytes)),
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
fn repeats_are_averaged_and_tell_what_more_of_them_would_do() {
    let run = |shift: u32| -> Vec<JobResult> {
        let one = |(id, repeat): (usize, u32)| {
            let noise = (id as u32 * 7 + repeat * 3 + shift) % 3;
            JobResult { repeat, ..shown(id, [7 + noise; 5], b"one") }
        };
        (0..8)
            .flat_map(|id| (0..2).map(move |repeat| one((id, repeat))))
            .enumerate()
            .map(|(number, mut result)| {
                result.job_id = juror_common::id::JobId::new(format!("job{number}"));
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
    let settling = found.settling.unwrap();
    assert!(settling.noise_is_known && settling.more_items.is_some(), "{settling:?}");
}

#[test]
fn another_rubric_is_refused_and_another_judge_is_told() {
    let mut other = run_of(SEMANTIC, 1, &twenty(0));
    other.rubric = RubricReference { version: 2, digest: Digest::of(b"other"), ..other.rubric };
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
    let told = "fingerprint of the model: fp_one in the base, fp_two in the head";
    assert_eq!(found.judge_differences, [told]);
    assert!(compared(backend("fp_one"), backend("fp_one"), RULES).judge_differences.is_empty());
}

#[test]
fn nothing_in_common_decides_nothing() {
    for (base, head) in [(vec![], vec![]), (twenty(0), vec![]), (vec![], twenty(0))] {
        let found = compared(base, head, RULES);
        assert_eq!((found.decision, found.paired), (Decision::Inconclusive, 0));
        assert!(found.reason.contains("no item"), "{}", found.reason);
        assert!(found.settling.is_none());
    }
}

/// A comparison with something in every section.
fn rich() -> Comparison {
    const ICON: &str = "Missing icon in the button";
    let issues = |issues: &[&str]| issues.iter().map(|&text| text.to_owned()).collect();
    let mut base = twenty(0);
    let mut head = twenty(2);
    for (id, result) in base.iter_mut().enumerate() {
        let stated: &[&str] = if id < 3 { &["Border is 1px, should be 2px"] } else { &[] };
        result.semantic.as_mut().unwrap().issues = issues(stated);
    }
    for (id, result) in head.iter_mut().enumerate() {
        let stated: &[&str] = if id < 9 { &[ICON, "Card | shadow <b>missing</b>"] } else { &[] };
        result.semantic.as_mut().unwrap().issues = issues(stated);
        result.total_latency_ms += 100 * id as u64;
    }
    base[4].semantic.as_mut().unwrap().issues = issues(&[ICON]);
    base.push(shown(30, [9; 5], b"one"));
    head.push(shown(31, [9; 5], b"one"));
    base.push(shown(32, [9; 5], b"one"));
    head.push(shown(32, [9; 5], b"two"));
    base.push(shown(33, [9; 5], b"one"));
    head.push(broken("shot_033", Outcome::Failed, ErrorKind::Api, "gone"));
    head[2] = shown(2, [1, 2, 9, 9, 9], b"one");
    head[3] = shown(3, [10; 5], b"one");
    let mut record = run_of(SEMANTIC, 1, &head);
    record.run_id = RunId::new("nightly-2026-11-22");
    record.judge.as_mut().unwrap().model = "gpt-4.1".into();
    let base = (run_of(SEMANTIC, 1, &base), base);
    compared_as(base, (record, head), Rules { max_lost: 0.2, ..RULES }).unwrap()
}

fn rendered() -> [(&'static str, String); 2] {
    let options = crate::report::TerminalOptions { width: 80, color: false };
    let comparison = rich();
    [
        ("comparison.txt", crate::report::render_comparison(&comparison, options)),
        ("comparison.md", render_markdown(&comparison)),
    ]
}

fn path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-data").join(name)
}

#[test]
fn comparisons_are_those_that_were_looked_at() {
    for (name, text) in rendered() {
        assert_eq!(text, std::fs::read_to_string(path(name)).unwrap(), "{name}");
    }
}

#[test]
#[ignore = "writes the files that the other test compares with"]
fn write_the_comparisons_anew() {
    for (name, text) in rendered() {
        std::fs::write(path(name), text).unwrap();
    }
}

#[test]
fn no_line_of_a_comparison_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr as _;
    let comparison = Comparison { simulated: true, ..rich() };
    for width in [74, 80, 120] {
        let options = crate::report::TerminalOptions { width, color: false };
        let text = crate::report::render_comparison(&comparison, options);
        for line in text.lines() {
            assert!(line.width() <= width, "at {width}: {line:?}");
        }
        for section in ["COMPARISON", "MEANS", "PASSES", "ITEMS", "ISSUES"] {
            let heading = text.lines().find(|line| line.starts_with(section)).unwrap();
            assert!(heading.contains("SIMULATED"), "at {width}: {heading:?}");
        }
    }
}
